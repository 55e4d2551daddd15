"""The arrays of the compiled judge: made, freed of what nobody needs any more, given more room."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from headway.check.fast import records as rec
from headway.check.fast.lower import Code
from headway.check.fast.records import Plan
from headway.check.verdict import MAX_FINDINGS, Kind
from headway.code.arrays import Ints, Longs, memory
from headway.code.rows import WIDTH

FIRST_ROOM = 8192
"""Needs and signals of each counter that there is room for at first."""

FIRST_WAITS = 64

MANY_FINDINGS = 100_000
"""Of so many findings only those that may be listed are kept."""

KINDS: dict[int, Kind] = {
    rec.EARLY: "early",
    rec.LATE: "late",
    rec.LATE_TAKE: "late",
    rec.LATE_BARRIER: "late",
    rec.OVERFULL: "deadlock",
    rec.OUT_OF_ORDER: "unsupported",
}


class State(NamedTuple):
    """What the kernel works on, with views of the records of counters and engines, and of
    what engines know, in `m`. `dropped` counts findings that are not kept.

    """

    m: Longs
    cells: Ints
    needs: Ints
    told: Ints
    waits: Longs
    found: Longs
    counters: Longs
    engines: Longs
    known: Longs
    dropped: dict[Kind, int]

    def row(self, code: Code, address: int) -> int:
        """Return the number of the row at an address."""
        return (int(address) - len(code.memory)) // WIDTH

    def address(self, code: Code, row: int) -> int:
        """Return the address of a row."""
        return len(code.memory) + row * WIDTH


def state(plan: Plan, code: Code) -> State:
    """Return the state of a run that has not begun."""
    m, _ = memory(code)
    counters = m[m[rec.COUNTERS] : m[rec.FLAGS_END]].reshape(-1, rec.COUNTER_WIDTH)
    engines = m[m[rec.ENGINES] : plan.vector_at(0)].reshape(-1, rec.ENGINE_WIDTH)
    known = m[plan.vector_at(0) : plan.vector_at(2 * len(plan.engines))]
    known = known.reshape(len(plan.engines), 2, plan.places)
    engines[:, rec.PC] = len(code.memory) + np.array(code.entries, np.int64) * WIDTH
    cells = np.zeros(2 * code.cells * len(plan.counters), np.int32)
    ints, longs = np.zeros(0, np.int32), np.zeros(0, np.int64)
    empty = State(m, cells, ints, ints, longs, longs, counters, engines, known, {})
    return with_room(empty)


def with_room(s: State) -> State:
    """Forget what nobody needs any more, and make twice the room that is used."""
    _forget(s)
    needs = _moved_needs(s)
    told = _moved_told(s)
    waits = _moved_waits(s)
    used = int(s.m[rec.FOUND]) * rec.FOUND_WIDTH
    # An instance has a finding for each wait and each counter at most, and one for a barrier.
    most = s.engines[:, rec.WAIT_ROOM].sum() + s.m[rec.N_COUNTERS] + 2
    s.m[rec.FOUND_ROOM] = 2 * s.m[rec.FOUND] + FIRST_ROOM + most
    found = np.zeros(int(s.m[rec.FOUND_ROOM]) * rec.FOUND_WIDTH, np.int64)
    found[:used] = s.found[:used]
    return s._replace(needs=needs, told=told, waits=waits, found=found)


def _forget(s: State) -> None:
    """Forget signals that every engine knows, except the last one of each counter.

    To wait for what is known tells nothing new. A token is needed until its take is judged, even
    if a barrier has made it known.
    """
    if len(s.known):
        before = np.where(s.engines[:-1, rec.BARRIER, None] > 0, s.known[:, 1], s.known[:, 0])
        known = np.minimum(s.known[:, 0], before).min(axis=0)
        first = known[s.counters[:, rec.PLACE]]
        flags = len(s.counters) - int(s.m[rec.N_COUNTERS])
        if flags:
            first[-flags:] = np.minimum(first[-flags:], s.counters[-flags:, rec.JUDGED])
        keep = np.maximum(s.counters[:, rec.FROM], np.minimum(first, s.counters[:, rec.COUNT] - 1))
        s.counters[:, rec.TOLD] += (keep - s.counters[:, rec.FROM]) * s.counters[:, rec.WIDTH_TOLD]
        s.counters[:, rec.FROM] = keep
    width = rec.REQUIRED + int(s.m[rec.N_COUNTERS])
    used = s.counters[:, rec.COUNT] - s.counters[:, rec.NEED_FROM]
    used[int(s.m[rec.N_COUNTERS]) :] = 0
    s.counters[:, rec.NEEDS] += used * width
    s.counters[:, rec.NEED_FROM] += used


def _moved_needs(s: State) -> Ints:
    width = rec.REQUIRED + int(s.m[rec.N_COUNTERS])
    counters = s.counters[: int(s.m[rec.N_COUNTERS])]
    live = counters[:, rec.NEED_COUNT] - counters[:, rec.NEED_FROM]
    widths = np.full(len(counters), width, np.int64)
    return _moved(s.needs, counters, rec.NEEDS, rec.NEED_ROOM, live, widths)


def _moved_told(s: State) -> Ints:
    live = s.counters[:, rec.COUNT] - s.counters[:, rec.FROM]
    return _moved(s.told, s.counters, rec.TOLD, rec.ROOM, live, s.counters[:, rec.WIDTH_TOLD])


def _moved(old: Ints, records: Longs, place: int, room: int, live: Longs, widths: Longs) -> Ints:
    """Copy the stretch of each record to a new array with more room."""
    before = records[:, place].copy()
    records[:, room] = 2 * live + FIRST_ROOM
    sizes = records[:, room] * widths
    records[:, place] = np.cumsum(sizes) - sizes
    new = np.empty(int(sizes.sum()), np.int32)
    for start, record, size in zip(before, records, live * widths, strict=True):
        new[record[place] : record[place] + size] = old[start : start + size]
    return new


def _moved_waits(s: State) -> Longs:
    engines = s.engines[:-1]
    before = engines[:, rec.WAITS].copy()
    engines[:, rec.WAIT_ROOM] = 2 * engines[:, rec.PENDING] + FIRST_WAITS
    sizes = engines[:, rec.WAIT_ROOM] * rec.WAIT_WIDTH
    engines[:, rec.WAITS] = np.cumsum(sizes) - sizes
    new = np.zeros(int(sizes.sum()), np.int64)
    for start, record in zip(before, engines, strict=True):
        size = record[rec.PENDING] * rec.WAIT_WIDTH
        new[record[rec.WAITS] : record[rec.WAITS] + size] = s.waits[start : start + size]
    return new


def pruned(s: State) -> State:
    """Drop findings that will not be listed, if there are many."""
    if s.m[rec.FOUND] < MANY_FINDINGS:
        return s
    kept, dropped = _first(s)
    s.m[rec.FOUND] = len(kept)
    s.found[: kept.size] = kept.ravel()
    return s._replace(dropped=dropped)


def listed(s: State) -> tuple[Longs, int]:
    """Return the findings of each kind that may be listed, and how many there are besides."""
    kept, dropped = _first(s)
    return kept, sum(dropped.values())


def _first(s: State) -> tuple[Longs, dict[Kind, int]]:
    """Return the first findings of every kind, by instance, and how many are dropped of each."""
    found = s.found[: int(s.m[rec.FOUND]) * rec.FOUND_WIDTH].reshape(-1, rec.FOUND_WIDTH)
    names = tuple(dict.fromkeys(KINDS.values()))
    kinds = np.array([names.index(KINDS[kind]) for kind in range(len(KINDS))])
    of_kind = kinds[found[:, rec.KIND]]
    order = np.lexsort((found[:, rec.F_ENGINE], found[:, rec.F_NUMBER]))
    dropped = dict(s.dropped)
    keep: list[Longs] = []
    for number, kind in enumerate(names):
        mine = order[of_kind[order] == number]
        dropped[kind] = dropped.get(kind, 0) + max(0, len(mine) - MAX_FINDINGS)
        keep.append(mine[:MAX_FINDINGS])
    return found[np.sort(np.concatenate(keep))], dropped
