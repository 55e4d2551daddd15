"""What holds at the header of a loop whatever its iterations do: for loops that are walked once.

In     the cells before the loop, and by which counters its body may touch each
Out    cells that hold at the start of every iteration
Keeps  nothing is known of what the body may have touched but that it was signalled by now
Cost   a copy of each cell; cells that are alike are one object
"""

from __future__ import annotations

from collections.abc import Sequence

from headway.analysis.levels import NEVER, Levels
from headway.analysis.records import LONE, Cell, Record, Records, anywhere
from headway.analysis.steps import ACCESS, WRITE, Steps


class Forgetting:
    """Forgets at one point what some counters did."""

    def __init__(self, steps: Steps, levels: Levels) -> None:
        self._steps = steps
        self._levels = levels
        self._fresh = [_fresh(levels, count) for count in levels.count]
        self._known: dict[tuple[int, int, int], Records] = {}
        self._cells: dict[tuple[int, int], Cell] = {}

    def cell(self, sort: int, writers: int, accessors: int, before: Sequence[Cell | None]) -> Cell:
        """Return what holds for one of several cells that these counters may have touched since."""
        writes = self._records(WRITE, sort, writers, before)
        accesses = self._records(ACCESS, sort, accessors, before)
        return self._cells.setdefault((id(writes), id(accesses)), (writes, accesses))

    def _records(
        self, kind: int, sort: int, counters: int, before: Sequence[Cell | None]
    ) -> Records:
        touched = self._touched(kind, sort, counters)
        known = [cell[kind] for cell in before if cell]
        kept = {q: record for some in known for q, record in some.items() if not counters >> q & 1}
        if not kept:
            return touched
        if len(before) > 1:  # else it stays one cell, and nothing inside changes these
            for q in kept:
                records = [some[q] for some in known if q in some]
                kept[q] = _lone(anywhere(self._levels, records, False))
        return kept | touched

    def _touched(self, kind: int, sort: int, counters: int) -> Records:
        records = self._known.get((kind, sort, counters))
        if records is None:
            users = self._steps.users(kind, sort)
            records = self._known[kind, sort, counters] = {
                q: record
                for q, record in enumerate(self._fresh)
                if counters >> q & 1 and users[q].mask
            }
        return records


def _fresh(levels: Levels, count: int) -> Record:
    """Return what is known of an access that was signalled by now."""
    return NEVER, count, levels.nothing, 0, LONE


def _lone(record: Record) -> Record:
    low, high, known, seen, _ = record
    return low, high, known, seen, LONE
