"""What is known of the last accesses to a cell, and what remains of it where two paths meet.

In     records on two paths, each with what the engines know there
Out    records that hold on both
Keeps  bounds only widen; a path on which there was no access lends no knowledge (C8)
Cost   linear in the records of the cells that are merged
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import is_
from typing import NamedTuple

from headway.analysis.levels import NEVER, Levels, Shift
from headway.analysis.steps import ACCESS, WRITE, Steps, Users

Complete = tuple[int, ...]  # by counter: what is complete at the least

Record = tuple[int, int, Complete, int, int]
"""`(low, high, known, seen, group)` of the last access to a cell by one counter.

It is a signal between the levels `low` and `high`; if both are equal, and near the current count,
its distance is static. `known` is complete for sure once it is. `seen` has a bit for each engine
that waited for it. A plain tuple: hardly anything is made, compared and taken apart as often.
"""

LONE = -2
"""The group of a record that is never taken for a copy of another one."""

EVERY = (-1, -1)
"""Masks of all counters."""

Records = dict[int, Record]  # by counter; never changed, only replaced
Cell = tuple[Records, Records]  # the last writes, and the last accesses since
Known = list[list[int]]  # by engine and counter: what is complete at the least


class Path(NamedTuple):
    """One of two paths that meet: how its cells read behind the meeting, and what engines know.

    `known` reads as behind the meeting already.
    """

    shifter: Shifter | None
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
        self._best = [list(map(max, *path.known, levels.nothing)) for path in (a, b)]
        self._groups: dict[tuple[int, int], int] = {}
        self._taken: set[int] = set()
        # Equal arguments are one object most of the time. They are kept alive with the result.
        self._cells: dict[tuple[int, int, int], tuple[Cell | None, Cell | None, Cell]] = {}
        self._knowns: dict[tuple[int, int], tuple[Complete, Complete, Complete]] = {}

    def cell(self, sort: int, a: Cell | None, b: Cell | None) -> Cell | None:
        """Merge a cell of a sort of place; return `a` itself if it holds on both paths.

        Equal cells are one object: those of all atoms that the same accesses touched.
        """
        if a is None and b is None:
            return None
        key = (sort, id(a), id(b))
        if key not in self._cells:
            self._cells[key] = (a, b, self._merged(sort, a, b))
        return self._cells[key][2]

    def _merged(self, sort: int, a: Cell | None, b: Cell | None) -> Cell:
        if a is not None and self._a.shifter:
            a = self._a.shifter.cell(a)
        if b is not None and self._b.shifter:
            b = self._b.shifter.cell(b)
        a_writes, a_accesses = a or ({}, {})
        b_writes, b_accesses = b or ({}, {})
        writes = self._records(WRITE, sort, a_writes, b_writes)
        accesses = self._records(ACCESS, sort, a_accesses, b_accesses)
        if a is not None and writes is a_writes and accesses is a_accesses:
            return a
        return writes, accesses

    def _records(self, kind: int, sort: int, a: Records, b: Records) -> Records:
        users = self._steps.users(kind, sort)
        is_same = True
        merged: Records = {}
        for q, record in a.items():
            other = b.get(q)
            if other is None:
                new = self._single(q, users[q], record, 0)
            else:
                new = self._both(q, users[q], record, other)
            is_same &= new is record
            merged[q] = new
        if not b.keys() <= a.keys():
            merged |= {q: self._single(q, users[q], b[q], 1) for q in b if q not in a}
        elif is_same:
            return a
        return merged

    def _both(self, q: int, users: Users, a: Record, b: Record) -> Record:
        """Merge the records of two paths; return `a` itself if it holds on both."""
        low, high, known, seen, group = a
        b_low, b_high, b_known, b_seen, b_group = b
        group = self._group(group, b_group)
        is_level = low == b_low and high == b_high
        if not (is_level and seen == b_seen and known == b_known):
            mask, best_a, best_b = users.mask, self._best[0][q], self._best[1][q]
            free, b_free = seen & mask, b_seen & mask
            if free != mask and best_a >= high:
                free |= self._knowing(q, users, high, self._a.known)
            if b_free != mask and best_b >= b_high:
                b_free |= self._knowing(q, users, b_high, self._b.known)
            if not is_level:
                low, high = self._bounds(q, users, (a, free), (b, b_free))
            if known != b_known:
                known = self._known(known, b_known)
            seen = free & b_free
            if self._widens:
                a_low, a_high, _, a_seen, _ = a
                low = low if low >= a_low else NEVER
                high = high if high <= a_high else max(high, self._levels.count[q])
                seen &= a_seen
        merged = (low, high, known, seen, group)
        return a if merged == a else merged

    def _single(self, q: int, users: Users, record: Record, path: int) -> Record:
        """Merge a record with a path on which there was no access."""
        _, high, _, seen, group = record
        mask = users.mask
        free = seen & mask
        if free != mask and self._best[path][q] >= high:
            free |= self._knowing(q, users, high, (self._b if path else self._a).known)
        if path:
            low, high = self._bounds(q, users, (None, mask), (record, free))
            group = self._group(-1, group)
        else:
            low, high = self._bounds(q, users, (record, free), (None, mask))
            group = self._group(group, -1)
        merged = (low, high, self._levels.nothing, free, group)
        return record if merged == record else merged

    def _knowing(self, q: int, users: Users, high: int, known: Known) -> int:
        """Return the mask of the engines that know a signal to be complete."""
        mask, covers = 0, self._levels.covers
        for engine in users.engines:
            if known[engine][q] >= high and covers(q, known[engine][q], high):
                mask |= 1 << engine
        return mask

    def _group(self, a: int, b: int) -> int:
        """Return one group for all records that come from these two."""
        if not self._levels.has_groups:
            return 0
        if LONE in (a, b):
            return LONE
        group = self._groups.get((a, b))
        if group is None:
            is_free = self._keeps_groups and a >= 0 and a not in self._taken
            group = a if is_free else next(self._levels.groups)
            self._taken.add(group)
            self._groups[a, b] = group
        return group

    def _bounds(
        self, q: int, users: Users, a: tuple[Record | None, int], b: tuple[Record | None, int]
    ) -> tuple[int, int]:
        (a_record, a_free), (b_record, b_free) = a, b
        if self._reconciles and (a_free == users.mask) != (b_free == users.mask):
            # Where nobody has to wait, any threshold will do that is known to be reached (C15).
            record, free = (b_record, self._a) if a_free == users.mask else (a_record, self._b)
            is_new = a_record is None or record is None or record[:2] != a_record[:2]
            if record and self._is_harmless(q, users, record, free):
                if not (self._widens and is_new):  # a loop may keep such a threshold to its end
                    return record[:2]
        if a_record and b_record:
            (a_low, a_high, _, _, _), (b_low, b_high, _, _, _) = a_record, b_record
            return self._levels.meet(q, a_low, b_low), self._levels.join(a_high, b_high)
        record = a_record or b_record
        assert record, "one of the paths has a record"
        return NEVER, record[1]

    def _is_harmless(self, q: int, users: Users, record: Record, path: Path) -> bool:
        """Tell whether a static threshold is known to be reached by all users on `path`."""
        low, high, _, _, _ = record
        if not self._levels.is_static(q, low, high):
            return False
        return all(path.known[engine][q] >= low for engine in users.engines)

    def _known(self, a: Complete, b: Complete) -> Complete:
        if a == b:
            return a
        key = (id(a), id(b))
        found = self._knowns.get(key)
        if found is None:
            pairs = enumerate(zip(a, b, strict=True))
            least = tuple([x if x == y else self._least(q, x, y) for q, (x, y) in pairs])
            found = self._knowns[key] = (a, b, least)
        return found[2]

    def _least(self, q: int, a: int, b: int) -> int:
        least = self._levels.meet(q, a, b)
        return NEVER if self._widens and least < a else least

    def known(self) -> Known:
        """Merge what the engines know."""
        pairs = zip(self._a.known, self._b.known, strict=True)
        return [list(self._known(tuple(a), tuple(b))) for a, b in pairs]


def anywhere(levels: Levels, records: Sequence[Record], is_complete: bool) -> Record:
    """Return what holds for one of several cells with these records; `is_complete`: all of them."""
    low, high, known, seen, group = first = records[0]
    if not is_complete:
        known = levels.nothing
    for record in records[1:]:
        _, other, implied, by, _ = record
        seen &= by
        if other != high:
            high = levels.join(high, other)
        if is_complete and implied != known:
            known = levels.meets(known, implied)
    if low == NEVER and len(records) == 1 and known == first[2]:
        return first
    return NEVER, high, known, seen, group


class Shifter:
    """Lets cells read as `shift` says, each record with a new group if there are groups.

    Equal cells stay one object, and so do equal records; what reads the same stays as it is.
    """

    def __init__(self, shift: Shift, groups: Iterator[int] | None = None) -> None:
        self._shift = shift
        self._groups = None if groups is None else defaultdict[int, int](groups.__next__)
        self._cells: dict[tuple[int, int, int], tuple[Cell, Cell]] = {}
        self._records: dict[int, tuple[Record, Record]] = {}

    def known(self, known: Known) -> Known:
        """Return what engines know, in its new reading."""
        return [list(self._shift.lowers(tuple(levels))) for levels in known]

    def cell(self, cell: Cell, touched: tuple[int, int] = EVERY) -> Cell:
        """Return a cell in its new reading: writes and accesses of the counters in two masks.

        Of counters that do not touch it from here on, what was known before stays known as it is.
        """
        key = (id(cell), *touched)
        found = self._cells.get(key)
        if found is None:
            writes, accesses = map(self._all, cell, touched)
            is_same = writes is cell[WRITE] and accesses is cell[ACCESS]
            found = self._cells[key] = (cell, cell if is_same else (writes, accesses))
        return found[1]

    def _all(self, records: Records, touched: int) -> Records:
        new = {q: self._record(q, r) if touched >> q & 1 else r for q, r in records.items()}
        return records if all(map(is_, new.values(), records.values())) else new

    def _record(self, q: int, record: Record) -> Record:
        found = self._records.get(id(record))
        if found is None:
            shift = self._shift
            low, high, known, seen, group = record
            levels = (shift.lower(q, low), shift.upper(q, high), shift.lowers(known))
            if self._groups is not None:
                group = self._groups[group] if group != LONE else LONE
            elif levels == (low, high, known):
                return record
            found = self._records[id(record)] = (record, (*levels, seen, group))
        return found[1]
