"""The compiled judge: waits, instances and flags, one after the other.

It does what `headway.check.judge` does, on the arrays that `headway.check.fast.kernel` names.
"""

from __future__ import annotations

from headway.check.fast.records import (
    AWAITED,
    BARRIER,
    BASE,
    BEFORE,
    BLIND,
    BY,
    CONTROL,
    COUNT,
    COUNTER_WIDTH,
    COUNTERS,
    DISORDER,
    EARLY,
    END,
    F_NAME,
    FINAL,
    FLAGS,
    FOUND,
    FOUND_ROOM,
    FROM,
    FULL,
    HOLDS,
    HOST,
    JUDGED,
    KNOWN,
    LATE,
    LATE_BARRIER,
    LATE_TAKE,
    LEAST,
    LOAD,
    LOOKED,
    MOST,
    N_COUNTERS,
    N_PLACES,
    NAME,
    NEED_COUNT,
    NEED_FROM,
    NEEDS,
    OUT_OF_ORDER,
    OVERFULL,
    OWN_COUNTER,
    PASSED,
    PC,
    PENDING,
    PLACE,
    REQUIRED,
    REST,
    SERIAL,
    SPEC,
    STANDS,
    STARVES,
    TAKEN,
    TOLD,
    WAIT_COUNTER,
    WAIT_POSITION,
    WAIT_ROOM,
    WAIT_ROW,
    WAIT_WIDTH,
    WAITED,
    WAITS,
    WIDTH_TOLD,
    WITH,
)
from headway.check.fast.vectors import (
    allowed,
    copy,
    find,
    has_room,
    join,
    of_instance,
    signal,
)
from headway.code.arrays import Ints, Longs
from headway.code.rows import MOVED, STILL, TOO_LARGE, TOO_LONG
from headway.code.steps import at, called, compiled, count_down


@called
def pass_wait(m: Longs, waits: Longs, engine: int, pc: int) -> int:
    """Pass a wait and keep it for the next instance, or stand still."""
    counter = m[at(pc + 1)]
    threshold = m[at(m[at(pc + 2)])] + m[at(pc + 3)]
    if not m[BLIND]:
        if threshold < m[at(counter + LEAST)] or threshold > m[at(counter + MOST)]:
            return TOO_LARGE  # the plain judge knows how semaphores wrap
        position = m[at(counter + BASE)] + threshold if threshold > 0 else 0
        if position > m[at(counter + COUNT)]:
            m[at(engine + STANDS)] = counter
            m[at(engine + AWAITED)] = position
            return STILL
        if m[at(engine + PENDING)] == m[at(engine + WAIT_ROOM)]:
            return FULL
        here = m[at(engine + WAITS)] + m[at(engine + PENDING)] * WAIT_WIDTH
        waits[at(here + WAIT_COUNTER)] = counter
        waits[at(here + WAIT_POSITION)] = position
        waits[at(here + WAIT_ROW)] = pc
        m[at(engine + PENDING)] += 1
    m[at(engine + LOOKED)] += 1
    return MOVED


@called
def count_takes(m: Longs, waits: Longs, engine: int) -> None:
    """Let an engine know the takes that it has just passed, where they are counted."""
    for k in range(m[at(engine + PASSED)], m[at(engine + PENDING)]):
        counter = waits[at(m[at(engine + WAITS)] + k * WAIT_WIDTH + WAIT_COUNTER)]
        if counter >= m[FLAGS] and m[at(counter + HOLDS)] > 0:
            m[at(m[at(engine + KNOWN)] + m[at(counter + TAKEN)])] += 1


@called
def _in_order(m: Longs, told: Ints, vector: int, engine: int, counter: int) -> None:
    """Add what the next instance of a serial engine follows anyway: those before it."""
    if counter == m[at(engine + OWN_COUNTER)] and m[at(engine + SERIAL)]:
        join(m, told, vector, counter, m[at(counter + COUNT)])


@called
def _is_free(m: Longs, told: Ints, flag: int, position: int) -> bool:
    """Tell whether a token is there as soon as the vector at WITH holds (conservative)."""
    number = position - 1 - m[at(flag + FROM)]
    here = m[at(flag + TOLD)] + number * m[at(flag + WIDTH_TOLD)]
    for k in range(m[N_COUNTERS]):
        if told[at(here + k)] > m[at(m[WITH] + k)]:
            return False
    own = m[at(m[at(m[at(flag + HOST)] + OWN_COUNTER)] + PLACE)]
    issued = here + m[N_PLACES]
    is_over = told[at(issued + own)] <= m[at(m[WITH] + own)]
    if m[at(m[at(flag + HOST)] + SERIAL)] or is_over:
        return True
    for k in range(m[N_COUNTERS]):
        if told[at(issued + k)] >= 0 and m[at(m[WITH] + k)] > told[at(issued + k)]:
            return True
    return False


@called
def _look_ahead(m: Longs, needs: Ints, told: Ints, waits: Longs, engine: int, need: int) -> None:
    """Put into WITH what is known when an instance has all that it may wait for, and does."""
    known = m[at(engine + KNOWN)]
    copy(m, m[FINAL], known)
    for k in range(m[at(engine + PENDING)]):
        here = m[at(engine + WAITS)] + k * WAIT_WIDTH
        join(m, told, m[FINAL], waits[at(here)], waits[at(here + WAIT_POSITION)])
    copy(m, m[WITH], known)
    for k in range(m[N_COUNTERS]):
        position = min(allowed(m, needs, need, k), m[at(m[FINAL] + k)])
        join(m, told, m[WITH], m[COUNTERS] + k * COUNTER_WIDTH, position)


@compiled
def _has_flags(m: Longs, waits: Longs, engine: int) -> bool:
    for k in range(m[at(engine + PENDING)]):
        if waits[at(m[at(engine + WAITS)] + k * WAIT_WIDTH)] >= m[FLAGS]:
            return True
    return False


@called
def _is_exact(m: Longs, needs: Ints, told: Ints, need: int, counter: int, position: int) -> bool:
    if counter >= m[FLAGS]:
        return _is_free(m, told, counter, position)
    return position <= allowed(m, needs, need, m[at(counter + PLACE)])


@called
def _late(
    m: Longs, needs: Ints, told: Ints, found: Longs, engine: int, need: int, counter: int, wait: int
) -> int:
    """Add the finding that a wait for the signal `wait` is late; return where it lies."""
    position = wait
    if counter < m[FLAGS]:
        wanted = needs[at(need + REQUIRED + m[at(counter + PLACE)])] // 2
        return find(m, found, LATE, engine, 0, counter, position, wanted)
    number = position - 1 - m[at(counter + FROM)]
    here = m[at(counter + TOLD)] + number * m[at(counter + WIDTH_TOLD)]
    place = m[at(m[at(m[at(counter + HOST)] + OWN_COUNTER)] + PLACE)]
    got = told[at(here + m[N_PLACES] + place)]
    for k in range(m[N_COUNTERS] - 1, -1, -1):
        if told[at(here + k)] > m[at(m[WITH] + k)]:
            place, got = k, told[at(here + k)]
    about = m[COUNTERS] + place * COUNTER_WIDTH
    wanted = needs[at(need + REQUIRED + place)] // 2
    return find(m, found, LATE_TAKE, engine, position, about, got, wanted)


@called
def _judge_waits(
    m: Longs,
    needs: Ints,
    told: Ints,
    waits: Longs,
    found: Longs,
    engine: int,
    counter: int,
    need: int,
) -> None:
    """Let an engine know what its waits tell, first the exact ones; find those that are late."""
    known, first = m[at(engine + KNOWN)], m[at(engine + WAITS)]
    last = first + m[at(engine + PENDING)] * WAIT_WIDTH
    if _has_flags(m, waits, engine):
        _look_ahead(m, needs, told, waits, engine, need)
    for here in range(first, last, WAIT_WIDTH):
        source, position = waits[at(here)], waits[at(here + WAIT_POSITION)]
        if _is_exact(m, needs, told, need, source, position):
            join(m, told, known, source, position)
            waits[at(here + WAIT_POSITION)] = -position  # done
    for here in range(first, last, WAIT_WIDTH):
        source, position = waits[at(here)], waits[at(here + WAIT_POSITION)]
        if position > m[at(known + m[at(source + PLACE)])]:
            about = _late(m, needs, told, found, engine, need, source, position)
            found[at(about + BY)] = waits[at(here + WAIT_ROW)]
            of_instance(m, found, needs, about, counter, need)
    for here in range(first, last, WAIT_WIDTH):
        source, position = waits[at(here)], waits[at(here + WAIT_POSITION)]
        if position > 0:
            join(m, told, known, source, position)
        waits[at(here + WAIT_POSITION)] = abs(position)
        if source >= m[FLAGS]:
            m[at(source + JUDGED)] = abs(position)


@called
def _waited(m: Longs, told: Ints, waits: Longs, engine: int, place: int, here: int) -> int:
    """Return for which signal of a counter a wait waits; a flag stands for its own counter.

    Return -1 if it waits for another counter.
    """
    source, position = waits[at(here)], waits[at(here + WAIT_POSITION)]
    if source < m[FLAGS]:
        return position if m[at(source + PLACE)] == place else -1
    if m[at(source + CONTROL)] != place:
        return -1
    number = position - 1 - m[at(source + FROM)]
    return told[at(m[at(source + TOLD)] + number * m[at(source + WIDTH_TOLD)] + place)]


@called
def _find_early(
    m: Longs,
    needs: Ints,
    told: Ints,
    waits: Longs,
    found: Longs,
    engine: int,
    pc: int,
    need: int,
    place: int,
) -> None:
    first, got, by = m[at(engine + WAITS)], -1, 0
    last = first + m[at(engine + PENDING)] * WAIT_WIDTH
    for flags in range(2):  # plain waits first
        for here in range(first, last, WAIT_WIDTH):
            if (waits[at(here)] >= m[FLAGS]) == (flags == 1):
                position = _waited(m, told, waits, engine, place, here)
                if position > got:
                    got, by = position, waits[at(here + WAIT_ROW)]
    about = m[COUNTERS] + place * COUNTER_WIDTH
    wanted = needs[at(need + REQUIRED + place)] // 2
    here = find(m, found, EARLY, engine, pc, about, max(got, 0), wanted)
    found[at(here + BY)] = by
    of_instance(m, found, needs, here, m[at(pc + 1)], need)


@called
def _judge_barrier(
    m: Longs, needs: Ints, told: Ints, found: Longs, engine: int, counter: int, need: int
) -> None:
    """A barrier is late for an engine whose next instance requires less than everything."""
    barrier, known = m[at(engine + BARRIER)], m[at(engine + BEFORE)]
    m[at(engine + BARRIER)] = 0
    for k in range(m[N_COUNTERS]):
        base = m[at(m[COUNTERS] + k * COUNTER_WIDTH + BASE)]
        if allowed(m, needs, need, k) > base:
            return
    _in_order(m, told, known, engine, counter)
    for k in range(m[N_COUNTERS]):
        join(m, told, known, m[COUNTERS] + k * COUNTER_WIDTH, allowed(m, needs, need, k))
    for k in range(m[N_COUNTERS]):
        about = m[COUNTERS] + k * COUNTER_WIDTH
        if m[at(known + k)] < m[at(about + BASE)]:
            wanted = needs[at(need + REQUIRED + k)] // 2
            got = m[at(about + BASE)]
            here = find(m, found, LATE_BARRIER, engine, barrier, about, got, wanted)
            of_instance(m, found, needs, here, counter, need)
            return


@called
def _judge(
    m: Longs,
    needs: Ints,
    told: Ints,
    waits: Longs,
    found: Longs,
    engine: int,
    pc: int,
    need: int,
) -> None:
    """Judge an instance and issue it."""
    counter, known = m[at(pc + 1)], m[at(engine + KNOWN)]
    if m[at(engine + BARRIER)]:
        _judge_barrier(m, needs, told, found, engine, counter, need)
    _in_order(m, told, known, engine, counter)
    _judge_waits(m, needs, told, waits, found, engine, counter, need)
    for k in range(m[N_COUNTERS]):
        if m[at(known + k)] < needs[at(need + REQUIRED + k)] // 2:
            _find_early(m, needs, told, waits, found, engine, pc, need, k)
    here = signal(m, told, counter, known)
    if m[at(pc)] == LOAD:  # it holds the sequencer until it is done
        for k in range(m[N_PLACES]):
            m[at(known + k)] = told[at(here + k)]
    m[at(engine + PENDING)] = m[at(engine + PASSED)] = 0


@called
def _look(m: Longs, waits: Longs, engine: int) -> None:
    """Count the waits of an event that takes place."""
    count_takes(m, waits, engine)
    m[WAITED] += m[at(engine + LOOKED)]
    m[at(engine + LOOKED)] = 0


@called
def issue(
    m: Longs, needs: Ints, told: Ints, waits: Longs, found: Longs, engine: int, pc: int
) -> int:
    """Issue an instance, if it has its turn."""
    counter = m[at(pc + 1)]
    number = m[at(counter + COUNT)]
    if number == m[at(counter + NEED_COUNT)] and m[at(m[at(m[SPEC] + PC)])] != END:
        m[at(engine + STARVES)] = 1
        m[at(engine + STANDS)] = REST
        return STILL
    most = m[at(engine + PENDING)] + m[N_COUNTERS] + 2
    if not has_room(m, counter) or m[FOUND] + most > m[FOUND_ROOM]:
        return FULL
    width = REQUIRED + m[N_COUNTERS]
    need = m[at(counter + NEEDS)] + (number - m[at(counter + NEED_FROM)]) * width
    has_turn = number < m[at(counter + NEED_COUNT)]
    if not has_turn or needs[at(need + NAME)] // 2 != m[at(pc + 2)]:
        name = needs[at(need + NAME)] if has_turn else -1
        here = find(m, found, OUT_OF_ORDER, engine, pc, counter, number + 1, 0)
        found[at(here + F_NAME)] = name
        m[DISORDER] = 1
        m[at(engine + STANDS)] = REST
        return STILL
    if number - m[at(counter + BASE)] >= m[at(counter + MOST)]:
        return TOO_LARGE
    if count_down(m) == TOO_LONG:
        return TOO_LONG
    _look(m, waits, engine)
    _judge(m, needs, told, waits, found, engine, pc, need)
    return MOVED


@called
def set_flag(m: Longs, told: Ints, waits: Longs, found: Longs, engine: int, pc: int) -> int:
    """Add a token to a flag; there has to be room for it for sure."""
    flag, source = m[at(pc + 1)], m[at(pc + 2)]
    if not has_room(m, flag) or m[FOUND] == m[FOUND_ROOM]:
        return FULL
    if count_down(m) == TOO_LONG:
        return TOO_LONG
    _look(m, waits, engine)
    copy(m, m[FINAL], m[at(engine + KNOWN)])
    for k in range(m[at(engine + PENDING)]):
        here = m[at(engine + WAITS)] + k * WAIT_WIDTH
        join(m, told, m[FINAL], waits[at(here)], waits[at(here + WAIT_POSITION)])
    m[at(engine + PASSED)] = m[at(engine + PENDING)]
    join(m, told, m[FINAL], source, m[at(source + COUNT)])
    here = signal(m, told, flag, m[FINAL])
    for k in range(m[N_COUNTERS]):
        counter = m[COUNTERS] + k * COUNTER_WIDTH
        is_hosted = m[at(counter + HOST)] == engine and m[at(counter + CONTROL)] != k
        told[at(here + m[N_PLACES] + k)] = m[at(counter + COUNT)] if is_hosted else -1
    token, holds = m[at(flag + COUNT)], m[at(flag + HOLDS)]
    taken = told[at(here + m[at(flag + TAKEN)])] if holds else 0
    if holds and token - taken > holds:
        find(m, found, OVERFULL, engine, pc, flag, taken, token)
    return MOVED
