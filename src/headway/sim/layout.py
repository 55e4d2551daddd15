"""The arrays that the compiled simulator works on: built, given more room, and read."""

from __future__ import annotations

from array import array
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from headway.sim import code as op
from headway.sim import kernel
from headway.sim.code import Code
from headway.sim.model import Model
from headway.sim.timeline import Track

FIRST_ROOM = 1024
"""Instances of each counter that there is room for at first."""


class Arrays(NamedTuple):
    """What the kernel works on, with views of the records of engines and counters in `m`."""

    m: kernel.Longs
    times: kernel.Longs
    deep: kernel.Ints
    engines: kernel.Longs
    counters: kernel.Longs


def arrays(code: Code, model: Model, engines: tuple[str, ...], limit: int) -> Arrays:
    """Return the arrays of a run that has not begun."""
    engine_records = [[entry, *[0] * (kernel.ENGINE_WIDTH - 1)] for entry in code.entries]
    counter_records = [[0] * kernel.COUNTER_WIDTH for _ in (*model.counters, *model.flags)]
    parts = [
        code.memory,
        code.rows,
        [x for record in _timings(model) for x in record],
        [x for record in engine_records for x in record],
        [x for record in counter_records for x in record],
        code.scopes,
        code.first_scope,
    ]
    m = np.array([x for part in parts for x in part], np.int64)
    rows, timings, first, counters, scopes, sites = np.cumsum([len(part) for part in parts[:-1]])
    m[kernel.LEFT] = limit
    m[kernel.OVERLAPS : kernel.DISPATCH + 1] = _costs(model)
    flags = counters + len(model.counters) * kernel.COUNTER_WIDTH
    places = [timings, first, counters, counters, flags, scopes, sites]
    m[kernel.TIMINGS : kernel.SITES + 1] = places
    _place_jumps(m[rows:timings].reshape(-1, op.WIDTH), int(rows))
    by_engine = m[first:counters].reshape(-1, kernel.ENGINE_WIDTH)
    by_engine[:, kernel.PC] = rows + by_engine[:, kernel.PC] * op.WIDTH
    by_counter = m[counters:scopes].reshape(-1, kernel.COUNTER_WIDTH)
    by_counter[:, kernel.OWNER] = _owners(model, engines, int(first))
    return with_room(
        Arrays(
            m,
            np.zeros(0, np.int64),
            np.zeros(0, np.int32),
            by_engine,
            by_counter,
        )
    )


def _place_jumps(rows: kernel.Longs, begin: int) -> None:
    """Turn the numbers of rows that jumps lead to into addresses."""
    for operation, operand in ((op.JUMP, 1), (op.ZERO, 2), (op.PAST, 3), (op.NEXT, 2)):
        jumps = rows[:, 0] == operation
        rows[jumps, operand] = begin + rows[jumps, operand] * op.WIDTH


def _timings(model: Model) -> list[tuple[int, ...]]:
    return [
        (t.counter, t.latency, t.occupancy, t.payload, t.trigger or 0)
        for t in model.timings.values()
    ]


def _costs(model: Model) -> list[int]:
    costs = model.costs
    meeting = 2 * costs.rendezvous + costs.reset
    flags = [int(costs.overlaps), int(costs.is_shared)]
    return [*flags, costs.issue, costs.hop, costs.wait, costs.load, meeting, costs.dispatch]


def _owners(model: Model, engines: tuple[str, ...], first: int) -> list[int]:
    """Return for each counter the record of the engine that drains it at a barrier, or -1."""
    drained = len(model.counters) - len(model.engines)  # control counters come last
    records = {name: first + n * kernel.ENGINE_WIDTH for n, name in enumerate(engines)}
    owners = [records.get(owner, -1) for owner in model.owners]
    return owners[:drained] + [-1] * (len(model.engines) + len(model.flags))


def with_room(a: Arrays) -> Arrays:
    """Give every counter twice the room that it uses."""
    before, after = a.counters.copy(), a.counters
    deepest = int(np.diff(a.m[a.m[kernel.SITES] :]).max(initial=0))
    _double(after, kernel.COUNT, kernel.OFFSET, kernel.ROOM, FIRST_ROOM, kernel.TIMES_WIDTH)
    _double(after, kernel.DEEP, kernel.DEEP_OFFSET, kernel.DEEP_ROOM, FIRST_ROOM + deepest, 1)
    times = np.zeros(int(after[:, kernel.ROOM].sum()) * kernel.TIMES_WIDTH, np.int64)
    deep = np.zeros(int(after[:, kernel.DEEP_ROOM].sum()), np.int32)
    for old, new in zip(before, after, strict=True):
        here, there = old[kernel.OFFSET], new[kernel.OFFSET]
        size = new[kernel.COUNT] * kernel.TIMES_WIDTH
        times[there : there + size] = a.times[here : here + size]
        here, there, size = old[kernel.DEEP_OFFSET], new[kernel.DEEP_OFFSET], new[kernel.DEEP]
        deep[there : there + size] = a.deep[here : here + size]
    return a._replace(times=times, deep=deep)


def _double(
    counters: kernel.Longs, used: int, offset: int, room: int, least: int, width: int
) -> None:
    counters[:, room] = 2 * counters[:, used] + least
    counters[:, offset] = (np.cumsum(counters[:, room]) - counters[:, room]) * width


def tracks(a: Arrays, code: Code, model: Model) -> tuple[Track, ...]:
    """Return the instances of every counter that has any."""
    sites = tuple(code.sites)
    found: list[Track] = []
    for name, owner, record in zip(model.counters, model.owners, a.counters, strict=False):
        low, low_deep = record[kernel.OFFSET], record[kernel.DEEP_OFFSET]
        high = low + record[kernel.COUNT] * kernel.TIMES_WIDTH
        times = a.times[low:high].reshape(-1, kernel.TIMES_WIDTH)
        deep = a.deep[low_deep : low_deep + record[kernel.DEEP]]
        if len(times):
            columns = [
                _column("i", times[:, kernel.SITE].astype(np.int32)),
                _column("i", deep),
                *(_column("q", times[:, k]) for k in (kernel.ISSUE, kernel.START, kernel.DONE)),
            ]
            found.append(Track(name, owner, sites, *columns))
    return tuple(found)


def _column(kind: Literal["i", "q"], values: npt.NDArray[np.signedinteger]) -> array[int]:
    column = array(kind)
    column.frombytes(np.ascontiguousarray(values).tobytes())
    return column
