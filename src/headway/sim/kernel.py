"""The hot loop of the compiled simulator: it does what `machine.py` does, on arrays of integers.

Nobody imports this module, because it needs numba: `headway.code.loops` compiles and keeps `run`.

    m       all that has a fixed size: header and records (see `headway.sim.records`), the values
            that the code computes with, the code (see `headway.sim.code`)
    times   a record for each instance: ISSUE, START, DONE, SITE; each counter has a stretch of it
    deep    iteration numbers of the instances; each counter has a stretch of it

Of the tokens of a flag, which are its instances, only DONE is used. All state lies in these arrays,
so `run` can be left (for more room) and entered again.
"""

from __future__ import annotations

from headway.code.arrays import Ints, Longs
from headway.code.rows import AFTER, MOVED, NEXT, STILL, TOO_LONG, TURN, WIDTH
from headway.code.steps import at, compiled, compute, count_down
from headway.sim.code import AWAIT, COMPUTE, GIVE, MEET, READ, SPEND, TRANSFER
from headway.sim.records import (
    BARRIERS,
    BASE,
    BUSY,
    COUNT,
    COUNTER,
    COUNTER_WIDTH,
    COUNTERS,
    COUNTERS_END,
    DEEP,
    DEEP_OFFSET,
    DEEP_ROOM,
    DISPATCH,
    DMA_FREE,
    DONE,
    ENGINE_WIDTH,
    ENGINES,
    ENGINES_END,
    FIRST,
    FREE,
    FULL,
    HOP,
    IS_SHARED,
    ISSUE,
    ISSUE_COST,
    LAST,
    LATENCY,
    LEFT,
    LOAD,
    MEETING,
    NEEDS,
    OCCUPANCY,
    OFFSET,
    OVERLAPS,
    OWNER,
    PAYLOAD,
    PC,
    REST,
    ROOM,
    SITE,
    STANDS,
    START,
    STOPPED,
    SYNCHRONIZATION,
    TIME,
    TIMES_WIDTH,
    TRIGGER,
    TRIGGERS,
    WAIT,
    WAITING,
    WAITS,
)


@compiled
def _has_room(m: Longs, counter: int, depth: int) -> bool:
    is_shallow = m[at(counter + DEEP)] + depth <= m[at(counter + DEEP_ROOM)]
    return m[at(counter + COUNT)] < m[at(counter + ROOM)] and is_shallow


@compiled
def _record(
    m: Longs, times: Longs, deep: Ints, counter: int, pc: int, issue: int, start: int, done: int
) -> None:
    """Write an instance down, and give the signal."""
    count, scope, depth = m[at(counter + COUNT)], m[at(pc + 3)], m[at(pc + 4)]
    last = max(m[at(counter + LAST)], done)
    m[at(counter + COUNT)] = count + 1
    m[at(counter + LAST)] = last
    place = m[at(counter + OFFSET)] + count * TIMES_WIDTH
    times[at(place + ISSUE)] = issue
    times[at(place + START)] = start
    times[at(place + DONE)] = last
    times[at(place + SITE)] = m[at(pc + 2)]
    to = m[at(counter + DEEP_OFFSET)] + m[at(counter + DEEP)]
    for k in range(depth):
        deep[at(to + k)] = m[at(m[at(scope + k)])]
    m[at(counter + DEEP)] += depth


@compiled
def _spend(m: Longs, engine: int, time: int) -> None:
    m[at(engine + TIME)] += time
    m[at(engine + SYNCHRONIZATION)] += time


@compiled
def _await(m: Longs, times: Longs, engine: int, pc: int) -> bool:
    """Pass a wait, or return False if its signal has not been given."""
    counter = m[at(pc + 1)]
    threshold = m[at(m[at(pc + 2)])] + m[at(pc + 3)]
    if threshold > 0:
        position = m[at(counter + BASE)] + threshold
        if position > m[at(counter + COUNT)]:
            m[at(engine + STANDS)] = counter
            m[at(engine + NEEDS)] = position
            return False
        place = m[at(counter + OFFSET)] + (position - 1) * TIMES_WIDTH
        stand = times[at(place + DONE)] + m[HOP] - m[at(engine + TIME)]
        if stand > 0:
            m[at(engine + WAITING)] += stand
            m[at(engine + TIME)] += stand
    m[at(engine + WAITS)] += 1
    return True


@compiled
def _run_compute(m: Longs, engine: int, timing: int, counter: int) -> int:
    """Issue a compute instruction; return when it starts."""
    start = max(m[at(engine + TIME)], m[at(counter + FREE)])
    free = start + m[at(timing + OCCUPANCY)]
    m[at(counter + FREE)] = free
    m[at(engine + TIME)] = start + m[ISSUE_COST] if m[OVERLAPS] else free
    m[at(counter + BUSY)] += m[at(timing + OCCUPANCY)]
    return start


@compiled
def _transfer(m: Longs, engine: int, timing: int, counter: int) -> int:
    """Trigger a transfer; return when it starts."""
    ready = m[at(engine + TIME)] + m[DISPATCH]
    if m[IS_SHARED]:
        ready = max(ready, m[DMA_FREE])
        m[DMA_FREE] = ready + m[at(timing + PAYLOAD)]
    start = max(ready, m[at(counter + FREE)])
    m[at(counter + FREE)] = start + m[at(timing + OCCUPANCY)]
    m[at(engine + TIME)] += m[at(timing + TRIGGER)]
    m[at(counter + BUSY)] += m[at(timing + PAYLOAD)]
    return start


@compiled
def _instance(m: Longs, times: Longs, deep: Ints, engine: int, pc: int) -> int:
    """Issue an instance, or return why not."""
    operation, timing = m[at(pc)], m[at(pc + 1)]
    counter = timing if operation == READ else m[at(timing + COUNTER)]
    if not _has_room(m, counter, m[at(pc + 4)]):
        return FULL
    if m[LEFT] == 0:
        return TOO_LONG
    m[LEFT] -= 1
    issue = start = int(m[at(engine + TIME)])
    latency = int(m[LOAD] if operation == READ else m[at(timing + LATENCY)])
    if operation == COMPUTE:
        issue = start = _run_compute(m, engine, timing, counter)
    elif operation == TRANSFER:
        start = _transfer(m, engine, timing, counter)
    else:
        m[at(engine + TIME)] += latency
    _record(m, times, deep, counter, pc, issue, start, start + latency)
    return MOVED


@compiled
def _give(m: Longs, times: Longs, engine: int, pc: int) -> int:
    """Add a token to a flag, or return that there is no room for it."""
    flag, counter = m[at(pc + 1)], m[at(pc + 2)]
    if m[at(flag + COUNT)] == m[at(flag + ROOM)]:
        return FULL
    _spend(m, engine, m[at(pc + 3)])
    place = m[at(flag + OFFSET)] + m[at(flag + COUNT)] * TIMES_WIDTH
    times[at(place + DONE)] = max(m[at(engine + TIME)], m[at(counter + LAST)])
    m[at(flag + COUNT)] += 1
    return MOVED


@compiled
def _may_trigger(m: Longs, engine: int) -> bool:
    """Tell whether no other engine can trigger before; it has been chosen, or all are later."""
    if not m[IS_SHARED] or m[FIRST] == engine:
        return True
    for other in range(m[ENGINES], m[ENGINES_END], ENGINE_WIDTH):
        if m[at(other + TRIGGERS)] and other != engine and not _is_later(m, other, engine):
            return False
    return True


@compiled
def _is_later(m: Longs, engine: int, other: int) -> bool:
    """Order engines by time; at the same time, as they are."""
    time, other_time = m[at(engine + TIME)], m[at(other + TIME)]
    return time > other_time or (time == other_time and engine > other)


@compiled
def _timed(m: Longs, times: Longs, deep: Ints, engine: int, pc: int) -> int:
    """Do one row that takes time, or return why not."""
    operation = m[at(pc)]
    reason = MOVED
    if operation == AWAIT:
        reason = MOVED if _await(m, times, engine, pc) else STILL
    elif operation == GIVE:
        reason = _give(m, times, engine, pc)
    elif operation == TURN:
        reason = count_down(m)
    elif operation >= MEET or (operation == TRANSFER and not _may_trigger(m, engine)):
        m[at(engine + STANDS)] = REST
        reason = STILL
    elif operation != SPEND:
        m[FIRST] = 0
        reason = _instance(m, times, deep, engine, pc)
    if reason == MOVED:
        _spend(m, engine, m[at(pc + AFTER)])
    return reason


@compiled
def _next(m: Longs, engine: int, pc: int) -> int:
    """Return the first row of the next iteration or that after the loop; or why to stop, < 0."""
    iteration = m[at(pc + 1)]
    m[at(iteration)] += 1
    if m[at(iteration)] >= m[at(m[at(pc + 2)])]:
        return pc + WIDTH
    _spend(m, engine, m[at(pc + 4)])
    return m[at(pc + 3)] if count_down(m) == MOVED else -TOO_LONG


@compiled
def _is_still(m: Longs, engine: int) -> bool:
    """Tell whether nothing has changed for an engine that stands."""
    stands = m[at(engine + STANDS)]
    return stands != 0 and (stands == REST or m[at(stands + COUNT)] < m[at(engine + NEEDS)])


@compiled
def _advance(m: Longs, times: Longs, deep: Ints, engine: int) -> int:
    """Let an engine run as far as it can. Return STILL, MOVED, or why it stopped."""
    pc = m[at(engine + PC)]
    moved = STILL
    m[at(engine + STANDS)] = 0
    while True:
        operation = m[at(pc)]
        if operation < TURN or operation == NEXT:
            target = _next(m, engine, pc) if operation == NEXT else compute(m, pc)
            reason = MOVED if target >= 0 else -target
        else:
            target = pc + WIDTH
            reason = _timed(m, times, deep, engine, pc)
        if reason != MOVED:
            break
        pc = target
        moved = MOVED  # it may be at the same row again
    m[at(engine + PC)] = pc
    return max(reason, moved)


@compiled
def _choose_first(m: Longs) -> int:
    """Let the earliest trigger go on; of two at the same time, that of the first engine."""
    first = 0
    for engine in range(m[ENGINES], m[ENGINES_END], ENGINE_WIDTH):
        stands = m[at(m[at(engine + PC)])] == TRANSFER
        if stands and (first == 0 or _is_later(m, first, engine)):
            first = engine
    m[FIRST] = first
    if first == 0:
        return STILL
    m[at(first + STANDS)] = 0
    return MOVED


@compiled
def _drain(m: Longs, engine: int) -> None:
    for counter in range(m[COUNTERS], m[COUNTERS_END], COUNTER_WIDTH):
        if m[at(counter + OWNER)] == engine and m[at(counter + COUNT)] > m[at(counter + BASE)]:
            stand = max(0, m[at(counter + LAST)] + m[HOP] - m[at(engine + TIME)])
            m[at(engine + WAITING)] += stand
            m[at(engine + TIME)] += stand
            _spend(m, engine, m[WAIT])


@compiled
def _meet(m: Longs) -> int:
    """Let all engines go through a barrier, if there are any and all have come to one."""
    met = 0
    if m[ENGINES] == m[ENGINES_END]:
        return STILL
    for engine in range(m[ENGINES], m[ENGINES_END], ENGINE_WIDTH):
        if m[at(m[at(engine + PC)])] != MEET:
            return STILL
    for engine in range(m[ENGINES], m[ENGINES_END], ENGINE_WIDTH):
        _drain(m, engine)
        met = max(met, m[at(engine + TIME)])
    for engine in range(m[ENGINES], m[ENGINES_END], ENGINE_WIDTH):
        m[at(engine + WAITING)] += met - m[at(engine + TIME)]
        m[at(engine + TIME)] = met
        _spend(m, engine, m[MEETING] + m[at(m[at(engine + PC)] + AFTER)])
        m[at(engine + BARRIERS)] += 1
        m[at(engine + PC)] += WIDTH
        m[at(engine + STANDS)] = 0
    for counter in range(m[COUNTERS], m[COUNTERS_END], COUNTER_WIDTH):
        m[at(counter + BASE)] = m[at(counter + COUNT)]
    return MOVED


def run(m: Longs, times: Longs, deep: Ints) -> int:
    """Run until nobody can go on, or until engine m[STOPPED] has to stop; return the reason."""
    while True:
        moved = STILL
        for engine in range(m[ENGINES], m[ENGINES_END], ENGINE_WIDTH):
            if _is_still(m, engine):
                continue
            reason = _advance(m, times, deep, engine)
            if reason > MOVED:
                m[STOPPED] = engine
                return reason
            moved = max(moved, reason)
        if moved == STILL:
            moved = _choose_first(m)
        if moved == STILL:
            moved = _meet(m)
        if moved != MOVED:
            return moved
