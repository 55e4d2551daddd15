"""What every instruction has to wait for: one forward data flow over the program.

In     a program prepared as `Steps`, and which reasons for leaving out a wait may be used
Out    `Needs`: for each instruction, and each control read of an engine, the waits that remain
Keeps  what holds at a point holds on every path to it; see `headway.analysis.visit` for the rules
Cost   each loop body is walked about three times, once more for each loop around it; a walk costs
       what its accesses cost, and a meeting of paths what was touched between

    loop i n {                        # at the header, after the first iteration:
      Q ld writes(b[i % 2])           #   the last PE on this slot is 1 signal ago: PE >= count - 1
      PE mm reads(b[i % 2])           #   Q >= count
    }

The state at the header of a loop is what holds at the entry and at the end of the body. It is found
by walking the body until it no longer changes; what still changes after some walks is given up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import IntEnum
from math import gcd
from typing import NamedTuple

from headway.analysis.forget import Forgetting
from headway.analysis.levels import NEAR, REACH, SPAN, Shift, zone_of
from headway.analysis.records import EVERY, Cell, Known, Merger, Path, Shifter
from headway.analysis.reduce import Need
from headway.analysis.steps import AnyStep, IfStep, LoopStep, Rotation, Step, Steps
from headway.analysis.touches import Touch
from headway.analysis.visit import Rules, Visitor

PATIENCE = 3
"""Walks over a body, besides one for each slot that turns, before what changes is given up."""

STRIDE = 128
"""Nodes of a body from one comparison with the walk before to the next."""

BEGINNING = 8 * STRIDE
"""Nodes of a body up to which its steps are remembered when it is walked twice at most: what is
behind is hardly ever walked again, so that it costs more to remember than it saves. With groups all
are, as each walk makes new ones."""

MAX_THOROUGH, MAX_REFINED = 20_000, 60_000
"""Work that an effort may be expected to take: steps walked, and records merged."""


MAX_UNROLLED = 20_000
"""Visits up to which loops are walked as often as they run."""


class Effort(IntEnum):
    """How often loops are walked. Less effort only leaves more waits and registers."""

    THOROUGH = 2  # until nothing changes: about 2 * depth + 1 times
    REFINED = 1  # depth + 1 times
    QUICK = 0  # once


def effort(body: tuple[AnyStep, ...]) -> Effort:
    """Return the most effort that a program of this size can have."""
    thorough, refined = _work(body, 0)
    if thorough <= MAX_THOROUGH:
        return Effort.THOROUGH
    return Effort.REFINED if refined <= MAX_REFINED else Effort.QUICK


def _work(body: tuple[AnyStep, ...], depth: int) -> tuple[int, int]:
    """Return the work with each effort, of what it takes more than a single walk.

    Where paths meet, each record counts. A step that finds everything as it was in the walk before
    costs next to nothing, so that of a long body only the beginning counts again.
    """
    thorough = refined = 0
    for step in body:
        if isinstance(step, Step):
            thorough += 1  # its cells remember more
            continue
        records = sum(w.bit_count() + a.bit_count() for w, a in step.cells.values())
        parts = _parts(step)
        again = records + min(records, sum(map(len, parts)))
        thorough += again * (2 * depth + 1)
        refined += again * (depth + 1)
        for part in parts:
            more = _work(part, depth + isinstance(step, LoopStep))
            thorough, refined = thorough + more[0], refined + more[1]
    return thorough, refined


def unrolled(body: tuple[AnyStep, ...]) -> frozenset[int]:
    """Return the zones of the loops to walk as often as they run: static, without ifs inside.

    All of them, or none if that is too much work: less would favour some loop for no reason.
    """
    found: set[int] = set()
    return frozenset(found) if _runs(body, found) <= MAX_UNROLLED else frozenset()


def _runs(body: tuple[AnyStep, ...], found: set[int]) -> int:
    """Return the visits of a body, with the loops that run a static number of times unrolled."""
    visits = 0
    for step in body:
        if isinstance(step, Step):
            visits += 1
            continue
        inside = sum(_runs(part, found) for part in _parts(step))
        if isinstance(step, LoopStep) and step.trip is not None and not step.is_while:
            if all(isinstance(s, Step) or s.zone in found for s in step.body):
                found.add(step.zone)
                inside *= step.trip
        visits += inside
    return visits


def _parts(step: LoopStep | IfStep) -> tuple[tuple[AnyStep, ...], ...]:
    return (step.body,) if isinstance(step, LoopStep) else (step.then, step.orelse)


class Flow:
    """Walks a program. `needs` are the waits of each instruction by its name and engine."""

    def __init__(self, steps: Steps, rules: Rules) -> None:
        self._steps = steps
        self._rules = rules
        self._effort = effort(steps.body)
        has_meetings = any(not isinstance(step, Step) for step in steps.body)
        is_thorough = self._effort == Effort.THOROUGH
        self._visitor = Visitor(steps, rules, has_meetings, is_thorough)
        self._levels = self._visitor.levels
        self._unrolled = unrolled(steps.body) if rules.unrolling else frozenset[int]()
        self._cells = self._visitor.cells
        self._heads: dict[int, _State] = {}
        self._iterations: dict[str, int] = {}  # of the loops around that are unrolled
        self._walks: dict[tuple[int, bool], _Passed] = {}
        self._is_last = True  # whether no loop around will be walked again
        self._shift_back = Shift(self._levels)
        self._body(steps.body)

    @property
    def needs(self) -> Sequence[Sequence[Need]]:
        """The waits that remain, by the number of their step; none of what is never executed."""
        return self._visitor.needs

    def _body(self, steps: Iterable[AnyStep]) -> None:
        visit = self._visitor.visit
        for step in steps:
            if isinstance(step, Step):
                visit(self._concrete(step) if self._iterations else step)
            elif isinstance(step, LoopStep):
                self._loop(step)
            else:
                self._if(step)

    def _if(self, step: IfStep) -> None:
        for load in step.loads:
            self._visitor.visit(load)
        before = self._state(step.cells)
        self._body(step.then)
        then = self._state(step.cells)
        self._restore(before)
        self._body(step.orelse)
        orelse = self._state(step.cells)
        counts = self._levels.count
        shifts = [Shift(self._levels), Shift(self._levels)]
        for q in step.counters:
            if then.counts[q] != orelse.counts[q]:
                older = zone_of(before.counts[q]) + 1
                floor = self._levels.meet(q, then.counts[q], orelse.counts[q])
                while zone_of(floor) >= older:
                    floor = self._levels.down(q, floor)
                self._levels.open(q, step.zone, floor)
                shifts[0].add(q, then.counts[q], counts[q], older)
                shifts[1].add(q, orelse.counts[q], counts[q], older)
        merger = self._merger(_path(shifts[0], then.known), _path(shifts[1], orelse.known))
        for number, a in then.cells.items():
            b = orelse.cells[number]
            if a is not b:  # else neither branch has changed it
                self._cells[number] = merger.cell(self._steps.sort_of(number), a, b)
        self._visitor.known = merger.known()

    def _loop(self, step: LoopStep) -> None:
        if not step.is_while:
            for load in step.loads:
                self._visitor.visit(load)
            if step.trip == 0:
                return
            if step.trip == 1:  # straight-line code
                self._body(step.body)
                return
            if step.zone in self._unrolled:
                self._unroll(step, step.trip or 0)
                return
        entry = list(self._levels.count)
        visitor = self._visitor
        before = visitor.repeats, visitor.remembers
        visitor.repeats = visitor.remembers = self._effort > Effort.QUICK
        if self._effort == Effort.THOROUGH:
            walk = self._settle(step, entry)
        else:
            walk = self._descend(step, entry)
        visitor.repeats, visitor.remembers = before
        if step.trip is None:
            self._restore(walk.tested)
            self._turn_unknown(step.rotations)
        else:
            self._restore(walk.end)
            self._leave(step, entry, step.trip)

    def _unroll(self, step: LoopStep, trip: int) -> None:
        """Walk the body as often as it runs: each iteration has a state of its own."""
        around = self._visitor.iteration
        for iteration in range(trip):
            if iteration:
                for rotation in step.rotations:
                    self._turn(rotation, rotation.turn)
            self._visitor.iteration = max(iteration, around or 0)
            self._iterations[step.iteration] = iteration
            self._body(step.body)
        self._visitor.iteration = around
        del self._iterations[step.iteration]
        for rotation in step.rotations:
            self._turn(rotation, (1 - trip) * rotation.turn)

    def _concrete(self, step: Step) -> Step:
        """Return a step with the slots that only the current iteration tells."""
        own, shown = (step.reads, step.writes), (step.shown_reads, step.shown_writes)
        if all(touch.cell >= 0 for touches in (*own, *shown) for touch in touches):
            return step
        reads, writes = map(self._concrete_touches, own)
        shown_reads, shown_writes = (
            map(self._concrete_touches, shown)
            if shown != own
            else (
                reads,
                writes,
            )
        )
        return replace(
            step, reads=reads, writes=writes, shown_reads=shown_reads, shown_writes=shown_writes
        )

    def _concrete_touches(self, touches: tuple[Touch, ...]) -> tuple[Touch, ...]:
        places, iterations = self._steps.places, self._iterations
        return tuple([t if t.cell >= 0 else t.at(places[t.place], iterations) for t in touches])

    def _settle(self, step: LoopStep, entry: list[int]) -> _Walk:
        """Walk the body until what holds at the header holds at the end too."""
        self._enter(step, self._open(step, entry))
        patience = PATIENCE + max((len(r.cells) for r in step.rotations), default=0)
        walks = 0
        if step.zone in self._heads:
            self._meet_head(self._heads[step.zone], None, keeps_groups=False)
            walks = patience
        while True:
            walk = self._walk(step)
            walks += 1
            self._back(step)
            if not self._meet_head(walk.head, self._shift_back, walks >= patience):
                self._heads[step.zone] = walk.head
                return walk

    def _descend(self, step: LoopStep, entry: list[int]) -> _Walk:
        """Walk the body with what holds in every iteration for sure; if there is time, once more.

        What holds at the entry and at the end of any such walk holds at the header.
        """
        before = self._state(step.cells)
        shift = self._open(step, entry)
        is_last, self._is_last = self._is_last, False
        is_refined = self._effort == Effort.REFINED and is_last
        start = before
        if is_refined:
            self._enter(step, shift)
            start = self._state(step.cells)
        self._forget(step, before)
        if is_refined:
            for _ in range(max((len(r.cells) for r in step.rotations), default=1)):
                self._walk(step)
                self._back(step)
                self._meet_head(start, self._shift_back)
        self._is_last = is_last
        return self._walk(step)

    def _walk(self, step: LoopStep) -> _Walk:
        """Walk the body once, as far as it differs from the walk before."""
        head = self._state(step.cells)
        if step.is_while:
            for load in step.loads:
                self._visitor.visit(load)
        tested = self._state(step.cells) if step.is_while else head
        if len(step.body) <= STRIDE or self._effort == Effort.QUICK:
            self._body(step.body)
            return _Walk(head, tested, self._state(step.cells))
        # Inner loops are walked with less effort before the last walk.
        key = (step.zone, self._is_last or all(isinstance(node, Step) for node in step.body))
        last = self._walks.get(key)
        passed: dict[int, _State] = {}
        remembers = self._visitor.remembers
        remembers_all = self._effort == Effort.THOROUGH or self._levels.has_groups
        for start in range(0, len(step.body), STRIDE):
            passed[start] = self._state(step.cells)
            if last and passed[start] == last.passed[start]:
                self._restore(last.end)
                passed = {**last.passed, **passed}
                break
            self._visitor.remembers = remembers and (remembers_all or start < BEGINNING)
            self._body(step.body[start : start + STRIDE])
        self._visitor.remembers = remembers
        end = self._state(step.cells)
        self._walks[key] = _Passed(passed, end)
        return _Walk(head, tested, end)

    def _forget(self, step: LoopStep, before: _State) -> None:
        """Keep only what iterations cannot change: what engines knew, and where accesses may be."""
        self._visitor.known = [levels.copy() for levels in before.known]
        forgetting = Forgetting(self._steps, self._levels)
        turned: set[int] = set()
        for rotation in step.rotations:  # its slots are alike
            first = rotation.cells[0]
            before_it = [before.cells[number] for number in rotation.cells]
            cell = forgetting.cell(self._steps.sort_of(first), *step.cells[first], before_it)
            for number in rotation.cells:
                self._cells[number] = cell
            turned.update(rotation.cells)
        for number, (writers, accessors) in step.cells.items():
            if number not in turned:
                sort, old = self._steps.sort_of(number), before.cells[number]
                self._cells[number] = forgetting.cell(sort, writers, accessors, (old,))

    def _open(self, step: LoopStep, entry: list[int]) -> Shift:
        """Let every counter that the loop signals count from the header on."""
        shift = Shift(self._levels)
        for q in step.counters:
            self._levels.open(q, step.zone, entry[q])
            shift.add(q, entry[q], self._levels.count[q], zone_of(entry[q]))
        return shift

    def _enter(self, step: LoopStep, shift: Shift) -> None:
        """Let the state at the entry read as it does at the header.

        Signals of counters that do not touch a cell inside may stay at their old positions, which
        is quick; only many walks make more of their distance to the header.
        Groups must not be shared with cells that the loop does not touch.
        """
        if not shift.is_empty:
            shifter = Shifter(shift, self._levels.groups if self._levels.has_groups else None)
            is_thorough = self._effort == Effort.THOROUGH
            for number, touched in step.cells.items():
                if cell := self._cells[number]:
                    self._cells[number] = shifter.cell(cell, EVERY if is_thorough else touched)
            self._visitor.known = shifter.known(self._visitor.known)

    def _back(self, step: LoopStep) -> None:
        """Go from the end of the body to the header; `_shift_back` says how levels read there."""
        self._shift_back = Shift(self._levels)
        for q in step.counters:
            base = step.zone * SPAN
            self._shift_back.add(q, self._levels.count[q], base, step.zone)
            self._levels.count[q] = base
        for rotation in step.rotations:
            self._turn(rotation, rotation.turn)

    def _meet_head(
        self, head: _State, shift: Shift | None, widens: bool = False, keeps_groups: bool = True
    ) -> bool:
        """Merge the state into a header's; tell whether that changes the header's."""
        merger = self._merger(
            Path(None, head.known), _path(shift, self._visitor.known), widens, keeps_groups
        )
        has_changed = False
        for number, a in head.cells.items():
            merged = merger.cell(self._steps.sort_of(number), a, self._cells[number])
            has_changed |= merged is not a
            self._cells[number] = merged
        known = merger.known()
        has_changed |= known != head.known
        self._visitor.known = known
        return has_changed

    def _leave(self, step: LoopStep, entry: list[int], trip: int) -> None:
        """Leave a loop that has run `trip` times. The state is that at the end of the last one."""
        shift = Shift(self._levels)
        for q in step.counters:
            base = step.zone * SPAN
            signals = self._levels.count[q] - base
            last = entry[q] + (trip - 1) * signals  # the count at the header of the last iteration
            if signals < NEAR and last + signals - zone_of(entry[q]) * SPAN < REACH:
                shift.add(q, base, last, step.zone)
                self._levels.count[q] = last + signals
        self._shift(step.cells, shift)
        for rotation in step.rotations:
            self._turn(rotation, (1 - trip) * rotation.turn)

    def _turn(self, rotation: Rotation, by: int) -> None:
        """Let slot number r be what r + `by` was."""
        slots = len(rotation.cells)
        old = [self._cells[number] for number in rotation.cells]
        for r, number in enumerate(rotation.cells):
            self._cells[number] = old[(r + by) % slots]

    def _turn_unknown(self, rotations: Iterable[Rotation]) -> None:
        """Leave a loop that has run some number of times: a slot may be any that turns into it."""
        path = Path(None, self._visitor.known)
        merger = self._merger(path, path)
        for rotation in rotations:
            old = [self._cells[number] for number in rotation.cells]
            stride = gcd(rotation.turn, len(old))
            sort = self._steps.sort_of(rotation.cells[0])
            for first in range(stride):
                merged = old[first]
                for other in old[first + stride :: stride]:
                    merged = merger.cell(sort, merged, other)
                for number in rotation.cells[first::stride]:
                    self._cells[number] = merged

    def _shift(self, cells: Iterable[int], shift: Shift) -> None:
        """Let the state read as `shift` says."""
        if shift.is_empty:
            return
        shifter = Shifter(shift)
        for number in cells:
            if cell := self._cells[number]:
                self._cells[number] = shifter.cell(cell)
        self._visitor.known = shifter.known(self._visitor.known)

    def _state(self, cells: Iterable[int]) -> _State:
        current = self._cells
        known = [levels.copy() for levels in self._visitor.known]
        return _State({n: current[n] for n in cells}, known, list(self._levels.count))

    def _restore(self, state: _State) -> None:
        for number, cell in state.cells.items():
            self._cells[number] = cell
        self._visitor.known = [levels.copy() for levels in state.known]
        self._levels.count[:] = state.counts

    def _merger(self, a: Path, b: Path, widens: bool = False, keeps_groups: bool = False) -> Merger:
        return Merger(self._steps, self._levels, a, b, self._rules.dont_care, widens, keeps_groups)


class _Walk(NamedTuple):
    """The states of a walk: at the header, after the test of a while, and at the end."""

    head: _State
    tested: _State
    end: _State


class _Passed(NamedTuple):
    """What held at places of a body, by the number of the node there, and at its end."""

    passed: dict[int, _State]
    end: _State


class _State(NamedTuple):
    """What holds at a point, of the cells that are of interest. Never changed."""

    cells: dict[int, Cell | None]
    known: Known
    counts: list[int]


def _path(shift: Shift | None, known: Known) -> Path:
    if shift is None or shift.is_empty:
        return Path(None, known)
    shifter = Shifter(shift)
    return Path(shifter, shifter.known(known))
