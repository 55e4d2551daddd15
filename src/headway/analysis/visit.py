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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from headway.analysis.iterations import Iterations
from headway.analysis.levels import NEAR, NEVER, Levels
from headway.analysis.records import Cell, Known, Record, Records, anywhere
from headway.analysis.reduce import (
    Candidate,
    Need,
    need,
    not_implied,
    undominated,
    without_copies,
)
from headway.analysis.steps import ACCESS, WRITE, Step, Steps
from headway.analysis.touches import Touch


@dataclass(frozen=True, slots=True)
class Rules:
    """Which reasons count. All are sound; switching one off only leaves more waits or registers."""

    static_gaps: bool = True
    redundancy: bool = True
    transitive: bool = True
    dont_care: bool = True
    unrolling: bool = True


_Cells = list[Cell | None]


class _Visit(NamedTuple):
    """What a step found and what it left: its cells, and what its engine knew."""

    numbers: tuple[int, ...]
    cells: _Cells
    known: list[int]
    new_cells: _Cells
    new_known: list[int]


class Visitor:
    """The state at one point of the program, and how an instruction changes it.

    `repeats`: the same steps will be visited again. `remembers`: and one that finds everything as
    it was the last time does the same again, at little cost.
    """

    def __init__(self, steps: Steps, rules: Rules, has_meetings: bool, is_thorough: bool) -> None:
        self.needs: list[Sequence[Need]] = [()] * steps.size
        self.levels = Levels(len(steps.counters), steps.has_atoms)
        self.cells: _Cells = [None] * steps.cell_count
        self.known: Known = [[0] * len(steps.counters) for _ in steps.engines]
        self.repeats = self.remembers = False
        self.iteration: int | None = None  # of loops that are walked as often as they run
        self._iterations: dict[int, Iterations] = {}
        self._visits: dict[int, _Visit] = {}
        self._steps = steps
        self._slots = [place.slots for place in steps.places]
        self._rules = rules
        self._has_meetings = has_meetings
        self._is_thorough = has_meetings and is_thorough
        self._is_static = rules.static_gaps
        self._has_redundancy = rules.redundancy
        self._is_transitive = rules.redundancy and rules.transitive
        self._forgets = self._is_transitive and not self._is_thorough
        self._has_groups = steps.has_atoms
        self._covers = self.levels.covers
        self._awaited = (steps.awaited(WRITE), steps.awaited(ACCESS))

    def visit(self, step: Step) -> None:
        """Go past an instruction or load."""
        if not self.remembers or self.iteration is not None:
            self._visit(step)
            return
        cells, known = self.cells, self.known[step.engine]
        last = self._visits.get(step.at)
        numbers = last.numbers if last else step.cells
        before = [cells[number] for number in numbers]
        if last is None or last.known != known or last.cells != before:
            known = known.copy()
            self._visit(step)
            after = [cells[number] for number in numbers]
            new_known = self.known[step.engine].copy()
            self._visits[step.at] = _Visit(numbers, before, known, after, new_known)
            return
        for number, cell in zip(numbers, last.new_cells, strict=True):
            cells[number] = cell
        known[:] = last.new_known
        self.levels.count[step.counter] += step.signals

    def _visit(self, step: Step) -> None:
        known = self.known[step.engine]
        if step.is_idle:
            known = known.copy()  # it may happen later than here: the engine learns nothing yet
        if not self._has_redundancy:
            found = self._all(step)
            self._note(step, self._reduced(found), known)
        else:
            if step.is_kept:
                known[step.counter] = self.levels.count[step.counter]
            found = self._found(step, known)
            if found:
                kept = self._reduced(found) if len(found) > 1 else found
                self._learn(step, found, known)
                self._note(step, kept, known)
            elif self.repeats or self.iteration is not None:
                self._note(step, found, known)
        self._signal(step, known)

    # Waits

    def _found(self, step: Step, known: list[int]) -> list[Candidate]:
        """Return what the step depends on, without what its engine knows to be complete."""
        found: list[Candidate] = []
        cells, covers = self.cells, self._covers
        engine, ordered, reads, writes = step.engine, step.ordered, step.reads, step.writes
        for kind, touches in ((ACCESS, writes), (WRITE, reads)):
            for touch in touches:
                number = touch.cell
                if number < 0:
                    found += self._somewhere(step, kind, touch, known)
                    continue
                cell = cells[number]
                if cell is None:
                    continue
                for q, record in cell[kind].items():
                    high = record[1]
                    ahead = known[q] - high
                    if 0 <= ahead < NEAR or q in ordered or record[3] >> engine & 1:
                        continue
                    if ahead > 0 and covers(q, known[q], high):
                        continue
                    if kind == WRITE and q in cell[ACCESS] and _is_one_of(number, writes):
                        continue  # the last access is no earlier than the last write
                    found.append((q, record, kind, touch))
        if len(found) > 1 and self._has_groups:
            return without_copies(found, self._steps)
        return found

    def _somewhere(
        self, step: Step, kind: int, touch: Touch, known: list[int]
    ) -> Iterable[Candidate]:
        """Yield the same of an access to a slot that is not known."""
        levels, engine, ordered = self.levels, step.engine, step.ordered
        for q, records, is_complete in self._last(kind, touch):
            if q not in ordered:
                record = anywhere(levels, records, is_complete)
                _, high, _, seen, _ = record
                if seen >> engine & 1:
                    continue
                if known[q] < high or not levels.covers(q, known[q], high):
                    yield q, record, kind, touch

    def _all(self, step: Step) -> list[Candidate]:
        """Return everything that the step depends on."""
        return [
            (
                q,
                anywhere(self.levels, some, is_complete) if touch.cell < 0 else some[0],
                kind,
                touch,
            )
            for kind, touches in ((ACCESS, step.writes), (WRITE, step.reads))
            for touch in touches
            for q, some, is_complete in self._last(kind, touch)
            if q not in step.ordered
        ]

    def _last(self, kind: int, touch: Touch) -> list[tuple[int, list[Record], bool]]:
        """Return by counter the last writes or accesses of the cells that may be touched.

        With them goes whether there was one of each slot. Equal cells count once.
        """
        cells = self.cells
        found = {id(cells[number]): cells[number] for number in touch.cells}
        known = [cell[kind] for cell in found.values() if cell]
        is_whole = len(known) == len(found) and len(touch.cells) == self._slots[touch.place]
        if len(known) == 1:
            return [(q, [record], is_whole) for q, record in known[0].items()]
        if len(known) == 2:
            a, b = known
            both = [(q, [r, b[q]], is_whole) if q in b else (q, [r], False) for q, r in a.items()]
            return both + [(q, [r], False) for q, r in b.items() if q not in a]
        return [
            (q, records, is_whole and len(records) == len(known))
            for q in dict.fromkeys(q for records in known for q in records)
            for records in [[records[q] for records in known if q in records]]
        ]

    def _reduced(self, found: list[Candidate]) -> list[Candidate]:
        """Return the waits that remain of several for one instruction."""
        if len(found) > 1 and self._has_redundancy:
            found = undominated(found, self.levels)
            if len(found) > 1 and self._is_transitive:
                return not_implied(found, self.levels)
        return found

    def _note(self, step: Step, kept: list[Candidate], known: list[int]) -> None:
        """Note the waits that remain, in an iteration besides those of the iterations before."""
        levels, is_static = self.levels, self._is_static
        if self.iteration is None:
            self.needs[step.at] = [need(candidate, levels, is_static) for candidate in kept]
            return
        if self.iteration == 0:
            self._iterations[step.at] = Iterations(levels)
        iterations = self._iterations[step.at]
        iterations.add(kept, known)
        self.needs[step.at] = iterations.needs(is_static)

    # Effects

    def _learn(self, step: Step, found: list[Candidate], known: list[int]) -> None:
        """After its waits an engine knows all that it waited for, and what that implies."""
        is_transitive, nothing = self._is_transitive, self.levels.nothing
        has_meetings = self._has_meetings
        shared: dict[tuple[int, int, int], tuple[Cell, Cell]] = {}
        for q, record, kind, touch in found:
            low, high, implied, _, _ = record
            if low > known[q]:
                known[q] = low
            if is_transitive:
                if implied is not nothing:
                    for other, level in enumerate(implied):
                        if level > known[other]:
                            known[other] = level
                if kind == ACCESS:
                    continue  # the cell is written now: nobody waits for what was before
            if low == high and not has_meetings:
                continue  # it is seen by what the engine knows
            cell = self.cells[touch.cell] if touch.cell >= 0 else None
            if cell and not step.is_idle:
                key = (kind, q, id(cell))
                if key not in shared:
                    shared[key] = (cell, _seen(cell, kind, q, step.engine))
                self.cells[touch.cell] = shared[key][1]

    def _signal(self, step: Step, known: list[int]) -> None:
        """Count the signal and make it the last access to all that it shows."""
        if not step.signals:
            return
        q, reads, writes, levels = step.counter, step.shown_reads, step.shown_writes, self.levels
        level = levels.count[q] = levels.count[q] + 1
        before, known[q] = known[q], level
        record = (level, level, tuple(known), 0, next(levels.groups))
        if not step.is_load:  # else the sequencer has stood still until it was done
            known[q] = before
        if reads:
            self._read(q, reads, record)
        if writes:
            self._write(q, writes, record)

    def _read(self, q: int, touches: tuple[Touch, ...], record: Record) -> None:
        cells, awaited, change = self.cells, self._awaited[ACCESS], self._read_cell
        shared: dict[int, tuple[Cell | None, Cell]] | None = {} if self._has_groups else None
        for touch in touches:
            if not awaited[touch.place] >> q & 1:
                continue
            number = touch.cell
            if number < 0:
                self._read_somewhere(q, touch.cells, record)
                continue
            cell = cells[number]
            if shared is None:
                cells[number] = change(q, cell or NOTHING, record)
                continue
            new = shared.get(id(cell))
            if new is None:
                new = shared[id(cell)] = (cell, change(q, cell or NOTHING, record))
            cells[number] = new[1]

    def _read_somewhere(self, q: int, numbers: tuple[int, ...], record: Record) -> None:
        old = new = None
        for number in numbers:
            writes, accesses = cell = self.cells[number] or NOTHING
            if new is None or cell is not old:
                old, new = cell, (writes, self._maybe(q, accesses, record))
            self.cells[number] = new

    def _read_cell(self, q: int, cell: Cell, record: Record) -> Cell:
        """Return a cell that was read. Who waits for that need not wait for the writes before."""
        writes, accesses = cell
        if not self._is_transitive:
            return writes, {**accesses, q: record}
        if accesses is writes and self._forgets:
            return writes, {q: record}
        kept = accesses.copy()
        covers, is_thorough, known = self.levels.covers, self._is_thorough, record[2]
        for p, access in accesses.items():
            high = access[1]
            if p == q or access[3] == EVERYBODY or known[p] < high or not covers(p, known[p], high):
                continue
            if is_thorough:
                kept[p] = _superseded(access)
            else:
                del kept[p]
        kept[q] = record
        return writes, kept

    def _write(self, q: int, touches: tuple[Touch, ...], record: Record) -> None:
        cells = self.cells
        of_writes, of_accesses = self._awaited
        shared: dict[tuple[int, int, int], tuple[Cell | None, Cell]] = {}
        for touch in touches:
            place, number = touch.place, touch.cell
            awaited = (of_writes[place] >> q & 1, of_accesses[place] >> q & 1)
            if number < 0:
                self._write_somewhere(q, touch.cells, record, awaited)
                continue
            cell = cells[number]
            if not self._has_groups:
                cells[number] = self._written(q, cell or NOTHING, record, awaited)
                continue
            key = (*awaited, id(cell))
            new = shared.get(key)
            if new is None:
                new = shared[key] = (cell, self._written(q, cell or NOTHING, record, awaited))
            cells[number] = new[1]

    def _write_somewhere(
        self, q: int, numbers: tuple[int, ...], record: Record, awaited: tuple[int, int]
    ) -> None:
        old = new = None
        for number in numbers:
            writes, accesses = cell = self.cells[number] or NOTHING
            if new is None or cell is not old:
                old, new = (
                    cell,
                    (
                        self._maybe(q, writes, record) if awaited[WRITE] else writes,
                        self._maybe(q, accesses, record) if awaited[ACCESS] else accesses,
                    ),
                )
            self.cells[number] = new

    def _written(self, q: int, cell: Cell, record: Record, awaited: tuple[int, int]) -> Cell:
        """Return a cell that was written. Who waits for that need not wait for what was before.

        Where paths meet it helps to know where that was; in large programs it is dropped.
        """
        if self._forgets:
            if awaited == (1, 1):
                records = {q: record}
                return records, records
            return {q: record} if awaited[WRITE] else {}, {q: record} if awaited[ACCESS] else {}
        writes, accesses = (
            {p: r if r[3] == EVERYBODY else _superseded(r) for p, r in records.items()}
            if self._is_transitive
            else records.copy()
            for records in cell
        )
        if awaited[WRITE]:
            writes[q] = record
        if awaited[ACCESS]:
            accesses[q] = record
        return writes, accesses

    def _maybe(self, q: int, before: Records, record: Record) -> Records:
        return {**before, q: self._weakened(before.get(q), record)}

    def _weakened(self, before: Record | None, record: Record) -> Record:
        """Return what is known of a slot that this access touched, or not (C9)."""
        group = next(self.levels.groups)
        if before is None:
            return NEVER, record[1], self.levels.nothing, 0, group
        low, _, before_it, _, _ = before
        _, high, known, _, _ = record
        return low, high, self.levels.meets(before_it, known), 0, group


NOTHING: Cell = ({}, {})
EVERYBODY = -1  # has a bit for each engine


def _is_one_of(cell: int, touches: tuple[Touch, ...]) -> bool:
    for touch in touches:
        if touch.cell == cell:
            return True
    return False


def _superseded(record: Record) -> Record:
    """Return a record that nobody has to wait for, because a later one implies it."""
    low, high, known, seen, group = record
    return record if seen == EVERYBODY else (low, high, known, EVERYBODY, group)


def _seen(cell: Cell, kind: int, q: int, engine: int) -> Cell:
    """Return a cell of which an engine has waited for one record."""
    low, high, known, seen, group = cell[kind][q]
    records = {**cell[kind], q: (low, high, known, seen | 1 << engine, group)}
    return (records, cell[ACCESS]) if kind == WRITE else (cell[WRITE], records)
