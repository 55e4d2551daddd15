"""The hot loop of the compiled simulator: it does what `machine.py` does, on arrays of integers.

Only `headway.sim.compiled` imports this module, because it needs numba and numpy.

    m       all that has a fixed size: a header, the values that the code computes with, the code
            (see `headway.sim.code`), then one record for each instruction, engine and counter
    times   a record for each instance: ISSUE, START, DONE, SITE; each counter has a stretch of it
    deep    iteration numbers of the instances; each counter has a stretch of it

A flag has a record like a counter, behind those of all counters; its tokens are instances of which
only DONE is used.

Rows and records are named by their address in `m`. All state lies in these arrays, so `run` can be
left (for more room) and entered again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt

from headway.sim.code import (
    ADD,
    AWAIT,
    CHECK,
    COMPUTE,
    DIV,
    EQ,
    FETCH,
    GIVE,
    GT,
    JUMP,
    LARGEST,
    LE,
    LT,
    MAX,
    MEET,
    MIN,
    MOD,
    MOVE,
    MUL,
    NE,
    PAST,
    READ,
    SPEND,
    STORE,
    SUB,
    TRANSFER,
    TURN,
    WIDTH,
    ZERO,
)

at = np.uintp
"""An address as an index: numba checks a signed one for counting from the end, at every access."""

Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]
F = TypeVar("F", bound=Callable[..., Any])

# What `run` returns: nobody can go on, somebody could, or engine m[STOPPED] stopped and why.
STILL, MOVED, FAILED, TOO_LARGE, TOO_LONG, FULL = range(6)

# The header of m: state, costs, then where the records begin and how many there are.
DMA_FREE, FIRST, LEFT, STOPPED, VALUE = range(5)
OVERLAPS, IS_SHARED, ISSUE_COST, HOP, WAIT, LOAD, MEETING, DISPATCH = range(5, 13)
TIMINGS, ENGINES, ENGINES_END, COUNTERS, COUNTERS_END, SCOPES, SITES = range(13, 20)

# The record of an instruction.
COUNTER, LATENCY, OCCUPANCY, PAYLOAD, TRIGGER = range(5)
TIMING_WIDTH = 5

# The record of an engine; when it stands, for which counter (or REST) and how many signals of it.
PC, TIME, WAITING, SYNCHRONIZATION, WAITS, BARRIERS, STANDS, NEEDS = range(8)
ENGINE_WIDTH = 8
REST = -1  # in front of a trigger, at a barrier, or at its end

# The record of a counter: signals in all and before the last barrier, when it is free, when the
# last signal came, time worked; its stretch of `times`, its stretch of `deep` and how much is used.
COUNT, BASE, FREE, LAST, BUSY, OFFSET, ROOM, DEEP_OFFSET, DEEP_ROOM, DEEP, OWNER = range(11)
COUNTER_WIDTH = 11

# The record of an instance.
ISSUE, START, DONE, SITE = range(4)
TIMES_WIDTH = 4


def _compiled(function: F) -> F:
    """Compile into the caller: calls would cost as much as the work."""
    return numba.njit(inline="always")(function)  # pyright: ignore


@_compiled
def _arithmetic(operation: int, left: int, right: int) -> int:
    if operation == ADD:
        return left + right
    if operation == SUB:
        return left - right
    if operation == MUL:
        return left * right
    if operation == MOD:
        return left % right
    if operation == DIV:
        return left // right
    if operation == MIN:
        return min(left, right)
    if operation == MAX:
        return max(left, right)
    return _comparison(operation, left, right)


@_compiled
def _comparison(operation: int, left: int, right: int) -> int:
    if operation == EQ:
        return int(left == right)
    if operation == NE:
        return int(left != right)
    if operation == LT:
        return int(left < right)
    if operation == LE:
        return int(left <= right)
    if operation == GT:
        return int(left > right)
    return int(left >= right)


@_compiled
def _overflows(operation: int, left: int, right: int, result: int) -> bool:
    if operation == MUL:
        return abs(float(left) * float(right)) >= LARGEST
    return result >= LARGEST or result <= -LARGEST


@_compiled
def _binary(m: Longs, pc: int) -> int:
    operation, left, right = int(m[at(pc)]), int(m[at(m[at(pc + 2)])]), int(m[at(m[at(pc + 3)])])
    if right == 0 and (operation == DIV or operation == MOD):
        return -FAILED
    result = _arithmetic(operation, left, right)
    if _overflows(operation, left, right, result):
        return -TOO_LARGE
    m[at(m[at(pc + 1)])] = result
    return pc + WIDTH


@_compiled
def _jump(m: Longs, pc: int) -> int:
    operation, a, b, c = m[at(pc)], m[at(pc + 1)], m[at(pc + 2)], m[at(pc + 3)]
    if operation == JUMP:
        return a
    if operation == ZERO:
        return b if m[at(a)] == 0 else pc + WIDTH
    if operation == PAST:
        return c if m[at(a)] >= m[at(b)] else pc + WIDTH
    m[at(a)] += 1  # NEXT
    return b


@_compiled
def _untimed(m: Longs, pc: int) -> int:
    """Do one row that takes no time. Return the next row, or minus the reason to stop."""
    operation, a, b, c = m[at(pc)], m[at(pc + 1)], m[at(pc + 2)], m[at(pc + 3)]
    if operation < MOVE:
        return _binary(m, pc)
    if operation >= JUMP:
        return _jump(m, pc)
    if operation == MOVE:
        m[at(a)] = m[at(b)]
    elif operation == FETCH:
        m[at(a)] = m[at(b + m[at(c)])]
    elif operation == STORE:
        m[at(a + m[at(c)])] = m[at(b)]
    elif operation == CHECK and not 0 <= m[at(a)] < b:
        m[VALUE] = m[at(a)]
        return -FAILED
    return pc + WIDTH


@_compiled
def _has_room(m: Longs, counter: int, site: int) -> bool:
    depth = m[at(m[SITES] + site + 1)] - m[at(m[SITES] + site)]
    is_shallow = m[at(counter + DEEP)] + depth <= m[at(counter + DEEP_ROOM)]
    return m[at(counter + COUNT)] < m[at(counter + ROOM)] and is_shallow


@_compiled
def _record(
    m: Longs, times: Longs, deep: Ints, counter: int, site: int, issue: int, start: int, done: int
) -> None:
    """Write an instance down, and give the signal."""
    place = m[at(counter + OFFSET)] + m[at(counter + COUNT)] * TIMES_WIDTH
    m[at(counter + COUNT)] += 1
    m[at(counter + LAST)] = max(m[at(counter + LAST)], done)
    times[at(place + ISSUE)] = issue
    times[at(place + START)] = start
    times[at(place + DONE)] = m[at(counter + LAST)]
    times[at(place + SITE)] = site
    low = m[SCOPES] + m[at(m[SITES] + site)]
    high = m[SCOPES] + m[at(m[SITES] + site + 1)]
    to = m[at(counter + DEEP_OFFSET)] + m[at(counter + DEEP)] - low
    for k in range(low, high):
        deep[at(to + k)] = m[at(m[at(k)])]
    m[at(counter + DEEP)] += high - low


@_compiled
def _await(m: Longs, times: Longs, engine: int, pc: int) -> bool:
    """Pass a wait, or return False if its signal has not been given."""
    counter = m[COUNTERS] + m[at(pc + 1)] * COUNTER_WIDTH
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
    m[at(engine + TIME)] += m[at(pc + 4)]
    m[at(engine + SYNCHRONIZATION)] += m[at(pc + 4)]
    m[at(engine + WAITS)] += 1
    return True


@_compiled
def _compute(m: Longs, engine: int, timing: int, counter: int) -> int:
    """Issue a compute instruction; return when it starts."""
    start = max(m[at(engine + TIME)], m[at(counter + FREE)])
    free = start + m[at(timing + OCCUPANCY)]
    m[at(counter + FREE)] = free
    m[at(engine + TIME)] = start + m[ISSUE_COST] if m[OVERLAPS] else free
    m[at(counter + BUSY)] += m[at(timing + OCCUPANCY)]
    return start


@_compiled
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


@_compiled
def _instance(m: Longs, times: Longs, deep: Ints, engine: int, pc: int) -> int:
    """Issue an instance, or return why not."""
    operation, site = m[at(pc)], m[at(pc + 2)]
    timing = m[TIMINGS] + (0 if operation == READ else m[at(pc + 1)]) * TIMING_WIDTH
    number = m[at(pc + 1)] if operation == READ else m[at(timing + COUNTER)]
    counter = m[COUNTERS] + number * COUNTER_WIDTH
    if not _has_room(m, counter, site):
        return FULL
    if m[LEFT] == 0:
        return TOO_LONG
    m[LEFT] -= 1
    issue = start = int(m[at(engine + TIME)])
    latency = int(m[at(timing + LATENCY)])
    if operation == COMPUTE:
        issue = start = _compute(m, engine, timing, counter)
    elif operation == TRANSFER:
        start = _transfer(m, engine, timing, counter)
    else:
        latency = int(m[LOAD])
        m[at(engine + TIME)] += latency
    _record(m, times, deep, counter, site, issue, start, start + latency)
    return MOVED


@_compiled
def _spend(m: Longs, engine: int, time: int) -> None:
    m[at(engine + TIME)] += time
    m[at(engine + SYNCHRONIZATION)] += time


@_compiled
def _give(m: Longs, times: Longs, engine: int, pc: int) -> int:
    """Add a token to a flag, or return that there is no room for it."""
    flag = m[COUNTERS] + m[at(pc + 1)] * COUNTER_WIDTH
    counter = m[COUNTERS] + m[at(pc + 2)] * COUNTER_WIDTH
    if m[at(flag + COUNT)] == m[at(flag + ROOM)]:
        return FULL
    _spend(m, engine, m[at(pc + 3)])
    place = m[at(flag + OFFSET)] + m[at(flag + COUNT)] * TIMES_WIDTH
    times[at(place + DONE)] = max(m[at(engine + TIME)], m[at(counter + LAST)])
    m[at(flag + COUNT)] += 1
    return MOVED


@_compiled
def _timed(m: Longs, times: Longs, deep: Ints, engine: int, pc: int) -> int:
    """Do one row that takes time, or return why not."""
    operation = m[at(pc)]
    if operation == AWAIT:
        return MOVED if _await(m, times, engine, pc) else STILL
    if operation == SPEND:
        _spend(m, engine, m[at(pc + 1)])
        return MOVED
    if operation == TURN:
        if m[LEFT] == 0:
            return TOO_LONG
        m[LEFT] -= 1
        _spend(m, engine, m[at(pc + 1)])
        return MOVED
    if operation == GIVE:
        return _give(m, times, engine, pc)
    if operation >= MEET or (operation == TRANSFER and m[IS_SHARED] and m[FIRST] != engine):
        m[at(engine + STANDS)] = REST
        return STILL
    m[FIRST] = 0
    return _instance(m, times, deep, engine, pc)


@_compiled
def _is_still(m: Longs, engine: int) -> bool:
    """Tell whether nothing has changed for an engine that stands."""
    stands = m[at(engine + STANDS)]
    return stands != 0 and (stands == REST or m[at(stands + COUNT)] < m[at(engine + NEEDS)])


@_compiled
def _advance(m: Longs, times: Longs, deep: Ints, engine: int) -> int:
    """Let an engine run as far as it can. Return STILL, MOVED, or why it stopped."""
    pc = m[at(engine + PC)]
    moved = STILL
    m[at(engine + STANDS)] = 0
    while True:
        if m[at(pc)] < SPEND:
            target = _untimed(m, pc)
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


@_compiled
def _choose_first(m: Longs) -> int:
    """Let the earliest trigger go on; of two at the same time, that of the first engine."""
    first = 0
    for engine in range(m[ENGINES], m[ENGINES_END], ENGINE_WIDTH):
        stands = m[at(m[at(engine + PC)])] == TRANSFER
        if stands and (first == 0 or m[at(engine + TIME)] < m[at(first + TIME)]):
            first = engine
    m[FIRST] = first
    if first == 0:
        return STILL
    m[at(first + STANDS)] = 0
    return MOVED


@_compiled
def _drain(m: Longs, engine: int) -> None:
    for counter in range(m[COUNTERS], m[COUNTERS_END], COUNTER_WIDTH):
        if m[at(counter + OWNER)] == engine and m[at(counter + COUNT)] > m[at(counter + BASE)]:
            stand = max(0, m[at(counter + LAST)] + m[HOP] - m[at(engine + TIME)])
            m[at(engine + WAITING)] += stand
            m[at(engine + TIME)] += stand
            _spend(m, engine, m[WAIT])


@_compiled
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
        _spend(m, engine, m[MEETING])
        m[at(engine + BARRIERS)] += 1
        m[at(engine + PC)] += WIDTH
        m[at(engine + STANDS)] = 0
    for counter in range(m[COUNTERS], m[COUNTERS_END], COUNTER_WIDTH):
        m[at(counter + BASE)] = m[at(counter + COUNT)]
    return MOVED


@numba.njit(cache=True)  # pyright: ignore
def run(m: Longs, times: Longs, deep: Ints) -> int:
    """Run until nobody can go on, or until an engine has to stop; return the reason."""
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
