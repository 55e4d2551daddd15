"""The hot loop of the compiled judge: engines, barriers, the sequential program.

Nobody imports this module, because it needs numba: `headway.code.loops` compiles and keeps the
functions that `headway.check.fast.loops` names.

    m       header, records, vectors, values and code (see `headway.check.fast.records`)
    cells   for each cell two vectors of positions as in a need: its last writes, its last accesses
    needs   what instances require, those that are not issued yet; each counter has a stretch of it
    told    what signals tell, those that somebody may not know yet; likewise
    waits   the waits that an engine has passed and that are not judged yet
    found   the findings

The sequential program runs ahead of the engine programs as long as there is room for needs. All
state lies in these arrays, so `run` can be left (for more room) and entered again.
"""

from __future__ import annotations

from headway.check.fast.judging import (
    count_takes,
    issue,
    pass_wait,
    set_flag,
)
from headway.check.fast.records import (
    AWAIT,
    AWAITED,
    BARRIER,
    BASE,
    BEFORE,
    BLIND,
    CONTROL,
    COUNT,
    COUNTER_WIDTH,
    COUNTERS,
    END,
    ENGINE_WIDTH,
    ENGINES,
    EVERYTHING,
    FLAGS,
    FLAGS_END,
    HOLDS,
    IS_SERIAL,
    JUDGED,
    KNOWN,
    LEFT,
    LOOKED,
    MEET,
    N_COUNTERS,
    NAME,
    NEED_COUNT,
    NEED_FROM,
    NEED_ROOM,
    NEEDED,
    NEEDS,
    NUMBER,
    PASSED,
    PAUSED,
    PC,
    PENDING,
    PLACE,
    REMAINS,
    REQUIRED,
    REST,
    SET,
    SPEC,
    STANDS,
    STARVES,
    STOP_AT,
    STOPPED,
    TAKEN,
    WAIT_POSITION,
    WAIT_WIDTH,
    WAITS,
    WATCHED,
)
from headway.check.fast.vectors import copy
from headway.code.arrays import Ints, Longs
from headway.code.rows import MOVED, NEXT, STILL, TOO_LONG, TURN, WIDTH
from headway.code.steps import at, called, compiled, compute, count_down


@called
def _event(
    m: Longs, needs: Ints, told: Ints, waits: Longs, found: Longs, engine: int, pc: int
) -> int:
    operation = m[at(pc)]
    if operation == AWAIT:
        return pass_wait(m, waits, engine, pc)
    if operation == SET and not m[BLIND]:
        return set_flag(m, told, waits, found, engine, pc)
    if operation == END or (operation == MEET and not m[BLIND]):
        m[at(engine + STANDS)] = REST
        return STILL
    if m[BLIND]:
        if operation == SET:
            flag = m[at(pc + 1)]
            m[at(flag + COUNT)] += 1
            if m[at(flag + COUNT)] == m[at(flag + STOP_AT)]:
                return WATCHED
        return count_down(m)
    return issue(m, needs, told, waits, found, engine, pc)


@compiled
def _next(m: Longs, pc: int) -> int:
    """Return the first row of the next iteration or that after the loop; or why to stop, < 0."""
    iteration = m[at(pc + 1)]
    m[at(iteration)] += 1
    if m[at(iteration)] >= m[at(m[at(pc + 2)])]:
        return pc + WIDTH
    return m[at(pc + 3)] if count_down(m) == MOVED else -TOO_LONG


@called
def _silent(m: Longs, pc: int) -> int:
    """Do one row that is no event; return the next row, or minus the reason to stop."""
    operation = m[at(pc)]
    if operation < TURN:
        return compute(m, pc)
    if operation == NEXT:
        return _next(m, pc)
    return pc + WIDTH if count_down(m) == MOVED else -TOO_LONG


@called
def _advance(m: Longs, needs: Ints, told: Ints, waits: Longs, found: Longs, engine: int) -> int:
    """Let an engine run as far as it can. Return STILL, MOVED, or why it stopped."""
    pc, moved = m[at(engine + PC)], STILL
    m[at(engine + STANDS)] = 0
    m[LEFT] = m[at(engine + REMAINS)]
    while True:
        if m[at(pc)] <= NEXT:
            target = _silent(m, pc)
            reason = MOVED if target >= 0 else -target
        else:
            target = pc + WIDTH
            reason = _event(m, needs, told, waits, found, engine, pc)
        if reason != MOVED:
            break
        pc = target
        moved = MOVED
    m[at(engine + PC)] = pc
    m[at(engine + REMAINS)] = m[LEFT]
    return max(reason, moved)


@called
def _meet(m: Longs, waits: Longs) -> int:
    """Let all engines go through a barrier, if there are any and all have come to one."""
    if m[ENGINES] == m[SPEC]:
        return STILL
    for engine in range(m[ENGINES], m[SPEC], ENGINE_WIDTH):
        if m[at(m[at(engine + PC)])] != MEET:
            return STILL
    for engine in range(m[ENGINES], m[SPEC], ENGINE_WIDTH):
        count_takes(m, waits, engine)
    _gather(m)
    for engine in range(m[ENGINES], m[SPEC], ENGINE_WIDTH):
        known = m[at(engine + KNOWN)]
        if not m[at(engine + BARRIER)]:
            copy(m, m[at(engine + BEFORE)], known)
        copy(m, known, m[EVERYTHING])
        m[at(engine + BARRIER)] = m[at(engine + PC)]
        m[at(engine + PC)] += WIDTH
        _forget_waits(m, waits, engine)
        m[at(engine + STANDS)] = 0
    for counter in range(m[COUNTERS], m[FLAGS], COUNTER_WIDTH):
        m[at(counter + BASE)] = m[at(counter + COUNT)]
    return MOVED


@called
def _forget_waits(m: Longs, waits: Longs, engine: int) -> None:
    for k in range(m[at(engine + PENDING)]):
        here = m[at(engine + WAITS)] + k * WAIT_WIDTH
        if waits[at(here)] >= m[FLAGS]:
            m[at(waits[at(here)] + JUDGED)] = waits[at(here + WAIT_POSITION)]
    m[at(engine + PENDING)] = m[at(engine + PASSED)] = m[at(engine + LOOKED)] = 0


@called
def _gather(m: Longs) -> None:
    """Put into EVERYTHING what is known when all has completed."""
    everything = m[EVERYTHING]
    for counter in range(m[COUNTERS], m[FLAGS_END], COUNTER_WIDTH):
        m[at(everything + m[at(counter + PLACE)])] = m[at(counter + COUNT)]
        if counter >= m[FLAGS] and m[at(counter + HOLDS)]:
            taken = m[at(counter + TAKEN)]
            m[at(everything + taken)] = 0
            for engine in range(m[ENGINES], m[SPEC], ENGINE_WIDTH):
                known = m[at(m[at(engine + KNOWN)] + taken)]
                m[at(everything + taken)] = max(m[at(everything + taken)], known)


@called
def _require(m: Longs, cells: Ints, needs: Ints, need: int, counter: int, accesses: int) -> None:
    """Put into a need the last accesses to its cells that it must not overtake."""
    width = m[N_COUNTERS]
    for k in range(width):
        needs[at(need + REQUIRED + k)] = 0
    for n in range(m[at(accesses)]):
        access = accesses + 1 + 6 * n
        first = m[at(access + 1)] + m[at(m[at(access)])] * m[at(access + 2)]
        for k in range(m[at(access + 4)]):
            cell = first + m[at(m[at(access + 3)] + k)]
            here = (2 * cell + m[at(access + 5)]) * width
            for q in range(width):
                before = cells[at(here + q)]
                if before > needs[at(need + REQUIRED + q)]:
                    needs[at(need + REQUIRED + q)] = before
    # An engine need not wait for its own loads, nor for its counter if that is serial.
    if m[at(counter + CONTROL)] >= 0:
        needs[at(need + REQUIRED + m[at(counter + CONTROL)])] = 0
    if m[at(counter + IS_SERIAL)]:
        needs[at(need + REQUIRED + m[at(counter + PLACE)])] = 0


@called
def _touch(m: Longs, cells: Ints, counter: int, accesses: int, position: int) -> None:
    """Remember an instance in the cells that it accesses."""
    width, place = m[N_COUNTERS], m[at(counter + PLACE)]
    for n in range(m[at(accesses)]):
        access = accesses + 1 + 6 * n
        first = m[at(access + 1)] + m[at(m[at(access)])] * m[at(access + 2)]
        for k in range(m[at(access + 4)]):
            here = 2 * (first + m[at(m[at(access + 3)] + k)]) * width + place
            cells[at(here + width)] = position
            if m[at(access + 5)]:
                cells[at(here)] = position


@called
def _need(m: Longs, cells: Ints, needs: Ints, pc: int) -> int:
    """Write down what the next instance requires, or return that there is no room."""
    counter, accesses = m[at(pc + 1)], m[at(pc + 5)]
    number = m[at(counter + NEED_COUNT)]
    if m[BLIND]:
        m[at(counter + NEED_COUNT)] += 1
        return WATCHED if number + 1 == m[at(counter + STOP_AT)] else MOVED
    if number - m[at(counter + NEED_FROM)] == m[at(counter + NEED_ROOM)]:
        return PAUSED
    width = REQUIRED + m[N_COUNTERS]
    need = m[at(counter + NEEDS)] + (number - m[at(counter + NEED_FROM)]) * width
    needs[at(need + NAME)] = m[at(pc + 2)]
    needs[at(need + NUMBER)] = m[NEEDED]
    m[NEEDED] += 1
    _require(m, cells, needs, need, counter, accesses)
    m[at(counter + NEED_COUNT)] = number + 1
    is_plain = 1 - m[at(pc + 2)] % 2
    _touch(m, cells, counter, accesses, 2 * (number + 1) + is_plain)
    return MOVED


@called
def _specify(m: Longs, cells: Ints, needs: Ints) -> int:
    """Let the sequential program run as far as there is room; STILL at its end."""
    spec = m[SPEC]
    pc, reason = m[at(spec + PC)], MOVED
    m[LEFT] = m[at(spec + REMAINS)]
    while reason == MOVED and m[at(pc)] != END:
        target = pc + WIDTH
        if m[at(pc)] <= NEXT:
            target = _silent(m, pc)
            reason = MOVED if target >= 0 else -target
        else:
            reason = TOO_LONG if m[LEFT] == 0 else _need(m, cells, needs, pc)
            m[LEFT] -= int(reason == MOVED or reason == WATCHED)
        if reason == MOVED or reason == WATCHED:
            pc = target
    m[at(spec + PC)] = pc
    m[at(spec + REMAINS)] = m[LEFT]
    return STILL if reason == MOVED else reason


@compiled
def _is_still(m: Longs, engine: int) -> bool:
    """Tell whether nothing has changed for an engine that stands."""
    stands = m[at(engine + STANDS)]
    return stands != 0 and (stands == REST or m[at(stands + COUNT)] < m[at(engine + AWAITED)])


@called
def _let_run(m: Longs, needs: Ints, told: Ints, waits: Longs, found: Longs) -> int:
    """Let all engines run as far as they can; return STILL, or why one of them stopped."""
    while True:
        moved = STILL
        for engine in range(m[ENGINES], m[SPEC], ENGINE_WIDTH):
            if not _is_still(m, engine):
                reason = _advance(m, needs, told, waits, found, engine)
                if reason > MOVED:
                    m[STOPPED] = engine
                    return reason
                moved = max(moved, reason)
        if moved == STILL and _meet(m, waits) == STILL:
            return STILL


@called
def _feed(m: Longs) -> bool:
    """Wake the engines that stand for want of needs; tell whether there are any."""
    starved = False
    for engine in range(m[ENGINES], m[SPEC], ENGINE_WIDTH):
        if m[at(engine + STARVES)]:
            starved = True
            m[at(engine + STARVES)] = m[at(engine + STANDS)] = 0
    return starved


def run(m: Longs, cells: Ints, needs: Ints, told: Ints, waits: Longs, found: Longs) -> int:
    """Judge until no engine can go on (STILL), or return why it has to be left."""
    reason = _specify(m, cells, needs)
    if reason != STILL and reason != PAUSED:
        m[STOPPED] = m[SPEC]
        return reason
    stopped = _let_run(m, needs, told, waits, found)
    if stopped != STILL:
        return stopped
    return PAUSED if _feed(m) else STILL


def specify(m: Longs, cells: Ints, needs: Ints) -> int:
    """Run the sequential program on; BLIND only counts, and stops at a position looked for."""
    m[STOPPED] = m[SPEC]
    return _specify(m, cells, needs)


def advance(m: Longs, needs: Ints, told: Ints, waits: Longs, found: Longs, engine: int) -> int:
    """Run an engine blindly to its end, or to a token looked for: nothing holds it up."""
    m[STOPPED] = engine
    return _advance(m, needs, told, waits, found, engine)


def to_event(m: Longs, engine: int) -> int:
    """Run an engine to its next event, past its waits."""
    pc = m[at(engine + PC)]
    m[STOPPED] = engine
    m[LEFT] = m[at(engine + REMAINS)]
    while m[at(pc)] <= NEXT or m[at(pc)] == AWAIT:
        target = pc + WIDTH if m[at(pc)] == AWAIT else _silent(m, pc)
        if target < 0:
            return -target
        pc = target
        m[at(engine + PC)] = pc
    return STILL
