"""The arrays that the compiled simulator works on: built, given more room, and read."""

from __future__ import annotations

from array import array
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from headway.code.arrays import Ints, Longs, memory
from headway.code.rows import WIDTH
from headway.sim import code as op
from headway.sim import records as rec
from headway.sim.code import Code
from headway.sim.model import Model
from headway.sim.timeline import Track

FIRST_ROOM = 1024
"""Instances of each counter that there is room for at first."""


class Arrays(NamedTuple):
    """What the kernel works on, with views of the records of engines and counters in `m`.

    `deepest` is how many iteration numbers an instance has at most.
    """

    m: Longs
    times: Longs
    deep: Ints
    engines: Longs
    counters: Longs
    deepest: int


def arrays(code: Code, model: Model, limit: int) -> Arrays:
    """Return the arrays of a run that has not begun."""
    m, rows = memory(code)
    m[rec.LEFT] = limit
    by_counter = m[rec.HEADER : rec.timing_at(model, 0)].reshape(-1, rec.COUNTER_WIDTH)
    by_engine = m[m[rec.ENGINES] : m[rec.ENGINES_END]].reshape(-1, rec.ENGINE_WIDTH)
    entries = np.array(code.entries, np.int64)
    by_engine[:, rec.PC] = len(code.memory) + entries * WIDTH
    triggers = np.add.accumulate(np.append(0, rows[:, 0] == op.TRANSFER))
    by_engine[:, rec.TRIGGERS] = np.diff(triggers[np.append(entries, len(rows))]) > 0
    times, deep = np.zeros(0, np.int64), np.zeros(0, np.int32)
    return with_room(Arrays(m, times, deep, by_engine, by_counter, _deepest(code)))


def _deepest(code: Code) -> int:
    return max((site.depth for site in code.sites), default=0)


def with_room(a: Arrays) -> Arrays:
    """Give every counter twice the room that it uses."""
    before, after = a.counters.copy(), a.counters
    _double(after, rec.COUNT, rec.OFFSET, rec.ROOM, FIRST_ROOM, rec.TIMES_WIDTH)
    _double(after, rec.DEEP, rec.DEEP_OFFSET, rec.DEEP_ROOM, FIRST_ROOM + a.deepest, 1)
    times = np.zeros(int(after[:, rec.ROOM].sum()) * rec.TIMES_WIDTH, np.int64)
    deep = np.zeros(int(after[:, rec.DEEP_ROOM].sum()), np.int32)
    for old, new in zip(before, after, strict=True):
        here, there = old[rec.OFFSET], new[rec.OFFSET]
        size = new[rec.COUNT] * rec.TIMES_WIDTH
        times[there : there + size] = a.times[here : here + size]
        here, there, size = old[rec.DEEP_OFFSET], new[rec.DEEP_OFFSET], new[rec.DEEP]
        deep[there : there + size] = a.deep[here : here + size]
    return a._replace(times=times, deep=deep)


def _double(counters: Longs, used: int, offset: int, room: int, least: int, width: int) -> None:
    counters[:, room] = 2 * counters[:, used] + least
    counters[:, offset] = (np.cumsum(counters[:, room]) - counters[:, room]) * width


def tracks(a: Arrays, code: Code, model: Model) -> tuple[Track, ...]:
    """Return the instances of every counter that has any."""
    sites = tuple(code.sites)
    found: list[Track] = []
    for name, owner, record in zip(model.counters, model.owners, a.counters, strict=False):
        low, low_deep = record[rec.OFFSET], record[rec.DEEP_OFFSET]
        high = low + record[rec.COUNT] * rec.TIMES_WIDTH
        times = a.times[low:high].reshape(-1, rec.TIMES_WIDTH)
        deep = a.deep[low_deep : low_deep + record[rec.DEEP]]
        if len(times):
            places = _column("i", times[:, rec.SITE].astype(np.int32))
            order = (rec.ISSUE, rec.START, rec.DONE)
            issue, start, done = (_column("q", times[:, k]) for k in order)
            iterations = _column("i", deep)
            found.append(Track(name, owner, sites, places, iterations, issue, start, done))
    return tuple(found)


def _column(kind: Literal["i", "q"], values: npt.NDArray[np.signedinteger]) -> array[int]:
    column = array(kind)
    column.frombytes(np.ascontiguousarray(values).tobytes())
    return column
