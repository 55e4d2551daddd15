"""What is known of the last accesses to a cell, and what remains of it where two paths meet.

In     records on two paths, each with what the engines know there
Out    records that hold on both
Keeps  bounds only widen; a path on which there was no access lends no knowledge (C8)
Cost   linear in the records of the cells that are merged
"""

from __future__ import annotations

from typing import NamedTuple

from headway.analysis.levels import NEVER, Levels, Shift
from headway.analysis.steps import ACCESS, WRITE, Steps, Users


class Record(NamedTuple):
    """The last access to a cell by one counter: a signal between the levels `low` and `high`.

    If both are equal, and near the current count, its distance is static. `known` are the levels
    that are complete for sure once it is. `seen` has a bit for each engine that waited for it.
    """

    low: int
    high: int
    known: tuple[int, ...]
    seen: int
    group: int


Records = dict[int, Record]  # by counter; never changed, only replaced
Cell = tuple[Records, Records]  # the last writes, and the last accesses since
Known = list[list[int]]  # by engine and counter: what is complete at the least


class Path(NamedTuple):
    """One of two paths that meet: how its levels read from now on, and what engines know on it.

    `known` reads as behind the meeting already.
    """

    shift: Shift | None
    known: Known


class Merger:
    """Merges what holds on two paths.

    `widens`: what still changes is given up, so that a loop comes to an end. `keeps_groups`: groups
    of the first path occur in no cell that is not merged, so that the first pair may keep them.
    """

    def __init__(
        self,
        steps: Steps,
        levels: Levels,
        a: Path,
        b: Path,
        reconciles: bool,
        widens: bool = False,
        keeps_groups: bool = False,
    ) -> None:
        self._steps = steps
        self._levels = levels
        self._a = a
        self._b = b
        self._reconciles = reconciles
        self._widens = widens
        self._keeps_groups = keeps_groups
        self._nothing = (NEVER,) * len(levels.count)
        self._groups: dict[tuple[int, int], int] = {}
        self._taken: set[int] = set()
        self._memory: dict[tuple[int, int, int], tuple[Cell | None, Cell | None, Cell]] = {}

    def cell(self, sort: int, a: Cell | None, b: Cell | None) -> Cell | None:
        """Merge a cell of a sort of place; return `a` itself if it holds on both paths.

        Equal cells are one object: those of all atoms that the same accesses touched.
        """
        if a is None and b is None:
            return None
        key = (sort, id(a), id(b))
        if key not in self._memory:
            self._memory[key] = (a, b, self._merged(sort, a, b))  # keeps the arguments alive
        return self._memory[key][2]

    def _merged(self, sort: int, a: Cell | None, b: Cell | None) -> Cell:
        a_writes, a_accesses = a or ({}, {})
        b_writes, b_accesses = b or ({}, {})
        writes = self._records(WRITE, sort, a_writes, b_writes)
        accesses = self._records(ACCESS, sort, a_accesses, b_accesses)
        if a is not None and writes is a_writes and accesses is a_accesses:
            return a
        return writes, accesses

    def _records(self, kind: int, sort: int, a: Records, b: Records) -> Records:
        merged: Records = {}
        for q, record in a.items():
            users = self._steps.users(kind, sort, q)
            merged[q] = self._record(q, users, record, b.get(q))
        for q, record in b.items():
            if q not in a:
                users = self._steps.users(kind, sort, q)
                merged[q] = self._record(q, users, None, record)
        if len(merged) == len(a) and all(merged[q] is record for q, record in a.items()):
            return a
        return merged

    def _record(self, q: int, users: Users, a: Record | None, b: Record | None) -> Record:
        before, a, b = a, shifted(q, a, self._a.shift), shifted(q, b, self._b.shift)
        group = self._group(a.group if a else -1, b.group if b else -1)
        if a is not None and b is not None and a is before and a[:-1] == b[:-1]:
            return a if group == a.group else a._replace(group=group)
        a_free, b_free = self._free(q, users, a, self._a), self._free(q, users, b, self._b)
        low, high = self._bounds(q, users, (a, a_free), (b, b_free))
        known, seen = self._nothing, a_free & b_free
        if a is not None and b is not None:
            known = self._known(a.known, b.known)
            if self._widens:
                low = low if low >= a.low else NEVER
                high = high if high <= a.high else max(high, self._levels.count[q])
                seen &= a.seen
        merged = Record(low, high, known, seen, group)
        return before if before is not None and before == merged else merged

    def _group(self, a: int, b: int) -> int:
        """Return one group for all records that come from these two."""
        group = self._groups.get((a, b))
        if group is None:
            is_free = self._keeps_groups and a >= 0 and a not in self._taken
            group = a if is_free else next(self._levels.groups)
            self._taken.add(group)
            self._groups[a, b] = group
        return group

    def _free(self, q: int, users: Users, record: Record | None, path: Path) -> int:
        """Return the mask of the engines that need not wait for a record."""
        if record is None:
            return users.mask
        mask = record.seen & users.mask
        if mask != users.mask:
            covers = self._levels.covers
            for engine in users.engines:
                if covers(q, path.known[engine][q], record.high):
                    mask |= 1 << engine
        return mask

    def _bounds(
        self, q: int, users: Users, a: tuple[Record | None, int], b: tuple[Record | None, int]
    ) -> tuple[int, int]:
        (a_record, a_free), (b_record, b_free) = a, b
        if a_record and b_record and a_record[:2] == b_record[:2]:
            return a_record[:2]
        if self._reconciles and (a_free == users.mask) != (b_free == users.mask):
            # Where nobody has to wait, any threshold will do that is known to be reached (C15).
            record, free = (b_record, self._a) if a_free == users.mask else (a_record, self._b)
            is_new = a_record is None or record is None or record[:2] != a_record[:2]
            if record and self._is_harmless(q, users, record, free):
                if not (self._widens and is_new):  # a loop may keep such a threshold to its end
                    return record[:2]
        if a_record and b_record:
            low = self._levels.meet(q, a_record.low, b_record.low)
            return low, self._levels.join(a_record.high, b_record.high)
        record = a_record or b_record
        assert record, "one of the paths has a record"
        return NEVER, record.high

    def _is_harmless(self, q: int, users: Users, record: Record, path: Path) -> bool:
        """Tell whether a static threshold is known to be reached by all users on `path`."""
        if not self._levels.is_static(q, record.low, record.high):
            return False
        return all(path.known[engine][q] >= record.low for engine in users.engines)

    def _known(self, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
        if a == b:
            return a
        return tuple([self._least(q, x, y) for q, (x, y) in enumerate(zip(a, b, strict=True))])

    def _least(self, q: int, a: int, b: int) -> int:
        if a == b:
            return a
        least = self._levels.meet(q, a, b)
        return NEVER if self._widens and least < a else least

    def known(self) -> Known:
        """Merge what the engines know."""
        pairs = zip(self._a.known, self._b.known, strict=True)
        return [
            a.copy()
            if a == b
            else [self._least(q, x, y) for q, (x, y) in enumerate(zip(a, b, strict=True))]
            for a, b in pairs
        ]


def shifted(q: int, record: Record | None, shift: Shift | None) -> Record | None:
    """Return a record as it reads behind a meeting of paths."""
    if record is None or shift is None:
        return record
    low, high, known, seen, group = record
    return Record(shift.lower(q, low), shift.upper(q, high), shift.lowers(known), seen, group)


def shifted_cell(cell: Cell, shift: Shift, groups: dict[int, int] | None = None) -> Cell:
    """Return a cell as it reads from a point on where counters start anew, with new groups."""
    writes, accesses = cell
    return _shifted(writes, shift, groups), _shifted(accesses, shift, groups)


def _shifted(records: Records, shift: Shift, groups: dict[int, int] | None) -> Records:
    found: Records = {}
    for q, record in records.items():
        new = shifted(q, record, shift) or record
        found[q] = new if groups is None else new._replace(group=groups[record.group])
    return found
