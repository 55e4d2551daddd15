"""One instruction in the data flow: what it waits for, and what is known after it.

In     what is known before: the last accesses to each cell, and what each engine knows
Out    the waits that remain, and the same for the point after it
Keeps  a wait that is left out is implied, on every path, by waits that are there; a static distance
       is right on every path, or the threshold it gives is known to be reached there
Cost   the accesses, times the counters that touched the same cells since the last write

Four reasons make a wait superfluous: the engine knows it from an earlier wait; a later access to
the cell had to wait for it, and is waited for; another wait of the instruction asks for a later
signal of the counter; or it asks for a signal that could not come before this one.
A wait whose threshold may be 0 tells nothing (C8, C9), and a trigger tells nothing of what its
engine still computes (C10).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from headway.analysis.levels import NEVER, Levels, zone_of
from headway.analysis.records import Cell, Known, Record, Records
from headway.analysis.steps import ACCESS, WRITE, Step, Steps, Touch
from headway.ir.expr import Expr


@dataclass(frozen=True, slots=True)
class Rules:
    """Which reasons count. All are sound; switching one off only leaves more waits or registers."""

    static_gaps: bool = True
    redundancy: bool = True
    transitive: bool = True
    dont_care: bool = True


class Need(NamedTuple):
    """A wait that remains: for a fixed position, for `gap` signals ago, or for a captured position.

    At most one of `position` and `gap` is not None; without them the capture is that of `kind`,
    `place` and `slot`.
    """

    counter: int
    position: int | None
    gap: int | None
    kind: int
    place: int
    slot: Expr


class _Candidate(NamedTuple):
    counter: int
    record: Record
    kind: int
    touch: Touch


class Visitor:
    """The state at one point of the program, and how an instruction changes it."""

    def __init__(self, steps: Steps, rules: Rules, is_thorough: bool) -> None:
        self.needs: dict[tuple[str, int], list[Need]] = {}
        self.levels = Levels(len(steps.counters))
        self.cells: list[Cell | None] = [None] * steps.cell_count
        self.known: Known = [[0] * len(steps.counters) for _ in steps.engines]
        self._steps = steps
        self._rules = rules
        self._is_thorough = is_thorough
        self._is_transitive = rules.redundancy and rules.transitive
        self._nothing = (NEVER,) * len(steps.counters)

    def visit(self, step: Step) -> None:
        """Go past an instruction or load."""
        known = self.known[step.engine]
        if step.is_idle:
            known = known.copy()  # it may happen later than here: the engine learns nothing yet
        if step.is_kept and self._rules.redundancy:
            known[step.counter] = self.levels.count[step.counter]
        found = list(self._candidates(step, known))
        if self._rules.redundancy and len(found) > 1:
            found = self._without_copies(found)
        self.needs[step.name, step.engine] = self._reduced(found) if found else []
        if found and self._rules.redundancy:
            self._learn(step, found, known)
        self._signal(step, known)

    # Waits

    def _candidates(self, step: Step, known: list[int]) -> Iterable[_Candidate]:
        """Yield what the instruction depends on, without what its engine knows to be complete."""
        covers, redundancy = self.levels.covers, self._rules.redundancy
        accessed: set[tuple[int, int]] = set()
        for kind, touches in ((ACCESS, step.writes), (WRITE, step.reads)):
            for touch in touches:
                for q, record in self._last(kind, touch).items():
                    if q in step.ordered:
                        continue
                    if redundancy:
                        if kind == ACCESS:
                            accessed.add((q, touch.cell))
                        elif touch.cell >= 0 and (q, touch.cell) in accessed:
                            continue  # the last access is no earlier than the last write
                        if record.seen >> step.engine & 1 or covers(q, known[q], record.high):
                            continue
                    yield _Candidate(q, record, kind, touch)

    def _last(self, kind: int, touch: Touch) -> Records:
        """Return the last writes or accesses of what is touched, by counter."""
        if touch.cell >= 0:
            cell = self.cells[touch.cell]
            return cell[kind] if cell else {}
        known = [cell[kind] for cell in map(self.cells.__getitem__, touch.cells) if cell]
        counters = dict.fromkeys(q for records in known for q in records)
        slots = self._steps.places[touch.place].slots
        return {q: self._any([r[q] for r in known if q in r], slots, q) for q in counters}

    def _any(self, records: list[Record], slots: int, q: int) -> Record:
        """Return what holds for a slot of which only some were accessed, maybe not this one."""
        _, high, known, seen, group = records[0]
        for record in records[1:]:
            high = self.levels.join(high, record.high)
            seen &= record.seen
            known = self._meet(known, record.known)
        return Record(NEVER, high, known if len(records) == slots else self._nothing, seen, group)

    def _meet(self, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
        if a == b:
            return a
        meet = self.levels.meet
        return tuple([meet(q, x, y) for q, (x, y) in enumerate(zip(a, b, strict=True))])

    def _without_copies(self, found: list[_Candidate]) -> list[_Candidate]:
        """Keep one of the waits for atoms that were always touched together: one group."""
        kept: dict[tuple[int, str, int], _Candidate] = {}
        for c in found:
            if c.touch.cell < 0:
                kept[-id(c), "", 0] = c
            else:
                place = self._steps.places[c.touch.place]
                slot = c.touch.cell - place.cells[0]
                kept.setdefault((c.record.group, place.buffer, slot), c)
        return list(kept.values())

    def _reduced(self, found: list[_Candidate]) -> list[Need]:
        """Return the waits that remain of several for one instruction."""
        kept = found
        if self._rules.redundancy and len(kept) > 1:
            kept = self._undominated(kept)
        if self._is_transitive and len(kept) > 1:
            kept = self._not_implied(kept)
        return [self._need(candidate) for candidate in kept]

    def _undominated(self, found: list[_Candidate]) -> list[_Candidate]:
        """Drop waits for signals before another one on their counter, on all paths (C5)."""
        latest: dict[int, _Candidate] = {}
        for c in found:
            if c.counter not in latest or c.record.low > latest[c.counter].record.low:
                latest[c.counter] = c
        if len(latest) == len(found):
            return found
        covers = self.levels.covers
        return [
            c
            for c in found
            if c is latest[c.counter]
            or not covers(c.counter, latest[c.counter].record.low, c.record.high)
        ]

    def _not_implied(self, found: list[_Candidate]) -> list[_Candidate]:
        """Drop waits for what another signal had to see. Instances form no cycle: all at once."""
        covers = self.levels.covers
        return [
            c
            for c in found
            if not any(
                d.counter != c.counter
                and covers(c.counter, d.record.known[c.counter], c.record.high)
                for d in found
            )
        ]

    def _need(self, candidate: _Candidate) -> Need:
        q, record, kind, touch = candidate
        position = gap = None
        if self._rules.static_gaps and record.low == record.high:
            if zone_of(record.low) == 0:
                position = record.low  # counted from the start of the program
            elif self.levels.is_static(q, record.low, record.high):
                gap = self.levels.count[q] - record.low
        return Need(q, position, gap, kind, touch.place, touch.slot)

    # Effects

    def _learn(self, step: Step, found: list[_Candidate], known: list[int]) -> None:
        """After its waits an engine knows all that it waited for, and what that implies."""
        shared: dict[tuple[int, int, int], tuple[Cell, Cell]] = {}
        for q, record, kind, touch in found:
            if record.low > known[q]:
                known[q] = record.low
            if self._is_transitive:
                for other, level in enumerate(record.known):
                    if level > known[other]:
                        known[other] = level
            cell = self.cells[touch.cell] if touch.cell >= 0 else None
            if cell and not step.is_idle:
                key = (kind, q, id(cell))
                if key not in shared:
                    shared[key] = (cell, _seen(cell, kind, q, step.engine))
                self.cells[touch.cell] = shared[key][1]

    def _signal(self, step: Step, known: list[int]) -> None:
        """Count the signal and make it the last access to all that is touched."""
        q = step.counter
        self.levels.count[q] += 1
        level = self.levels.count[q]
        told = known.copy()
        told[q] = level
        if step.is_load:
            known[q] = level  # the sequencer has stood still until it was done
        record = Record(level, level, tuple(told), 0, next(self.levels.groups))
        self._read(step, record)
        self._write(step, record)

    def _read(self, step: Step, record: Record) -> None:
        q, shared = step.counter, dict[int, tuple[Cell | None, Cell]]()
        for touch in step.reads:
            if not self._steps.users(ACCESS, self._steps.sort_of_place[touch.place], q).mask:
                continue
            if touch.cell >= 0:
                cell = self.cells[touch.cell]
                if id(cell) not in shared:
                    shared[id(cell)] = (cell, self._read_cell(q, cell or NOTHING, record))
                self.cells[touch.cell] = shared[id(cell)][1]
                continue
            for number in touch.cells:
                writes, accesses = self.cells[number] or NOTHING
                accesses = {**accesses, q: self._weakened(accesses.get(q), record)}
                self.cells[number] = (writes, accesses)

    def _read_cell(self, q: int, cell: Cell, record: Record) -> Cell:
        writes, accesses = cell
        if self._is_transitive:  # who waits for this read need not wait for the writes before it
            implied = [p for p, r in accesses.items() if self._is_write(p, r, writes)]
            accesses = self._without(accesses, implied)
        return writes, {**accesses, q: record}

    def _without(self, records: Records, implied: Iterable[int]) -> Records:
        """Return records of which some are implied by a later one, so that nobody waits for them.

        Where paths meet it helps to know where they were; in large programs they are dropped.
        """
        kept = dict(records)
        for q in implied:
            if not self._is_thorough:
                del kept[q]
            elif records[q].seen != EVERYBODY:
                kept[q] = records[q]._replace(seen=EVERYBODY)
        return kept

    def _is_write(self, q: int, access: Record, writes: Records) -> bool:
        write = writes.get(q)
        return write is not None and self.levels.covers(q, write.low, access.high)

    def _write(self, step: Step, record: Record) -> None:
        q, shared = step.counter, dict[tuple[int, int], tuple[Cell | None, Cell]]()
        for touch in step.writes:
            sort = self._steps.sort_of_place[touch.place]
            if touch.cell >= 0:
                cell = self.cells[touch.cell]
                key = (sort, id(cell))
                if key not in shared:
                    writes, accesses = cell or NOTHING
                    if self._is_transitive:  # who waits for this write need not wait for others
                        writes = self._without(writes, writes)
                        accesses = self._without(accesses, accesses)
                    new = self._written(q, sort, (writes, accesses), record, record)
                    shared[key] = (cell, new)
                self.cells[touch.cell] = shared[key][1]
                continue
            for number in touch.cells:
                cell = self.cells[number] or NOTHING
                write, access = (self._weakened(records.get(q), record) for records in cell)
                self.cells[number] = self._written(q, sort, cell, write, access)

    def _written(self, q: int, sort: int, cell: Cell, write: Record, access: Record) -> Cell:
        """Return a cell with a new write, where somebody may have to wait for it."""
        writes, accesses = cell
        if self._steps.users(WRITE, sort, q).mask:
            writes = {**writes, q: write}
        if self._steps.users(ACCESS, sort, q).mask:
            accesses = {**accesses, q: access}
        return writes, accesses

    def _weakened(self, before: Record | None, record: Record) -> Record:
        """Return what is known of a slot that this access touched, or not (C9)."""
        group = next(self.levels.groups)
        if before is None:
            return Record(NEVER, record.high, self._nothing, 0, group)
        known = self._meet(before.known, record.known)
        return Record(before.low, record.high, known, 0, group)

    def unknown(self, sort: int, writers: int, accessors: int, cells: list[Cell]) -> Cell:
        """Return what holds for one of several cells that these counters may have touched since."""
        return (
            self._unknown(WRITE, sort, writers, [cell[WRITE] for cell in cells]),
            self._unknown(ACCESS, sort, accessors, [cell[ACCESS] for cell in cells]),
        )

    def _unknown(self, kind: int, sort: int, counters: int, before: list[Records]) -> Records:
        found: Records = {}
        for q, count in enumerate(self.levels.count):
            records = [known[q] for known in before if q in known]
            if counters >> q & 1 and self._steps.users(kind, sort, q).mask:
                found[q] = Record(NEVER, count, self._nothing, 0, next(self.levels.groups))
            elif records:
                found[q] = self._any(records, -1, q)._replace(group=next(self.levels.groups))
        return found


NOTHING: Cell = ({}, {})
EVERYBODY = -1  # has a bit for each engine


def _seen(cell: Cell, kind: int, q: int, engine: int) -> Cell:
    """Return a cell of which an engine has waited for one record."""
    record = cell[kind][q]
    records = {**cell[kind], q: record._replace(seen=record.seen | 1 << engine)}
    return (records, cell[ACCESS]) if kind == WRITE else (cell[WRITE], records)
