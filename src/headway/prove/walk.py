"""Walk a sequential program and all its engine programs side by side, with facts instead of values.

An engine program follows the sequential program: it runs the engine's instructions in its order, in
the same loops and ifs, and may pass by what it has no work in. What it does in between on its own
(assignments, waits, ifs with nothing else inside) is done before its next instruction, loop or if,
or before the end of the block; an assignment as soon as it names a position of the past. Nothing
that an engine does on its own is seen by the others, so that any such order stands for all.

A program that passes has no early instance: the last conflicting access of every counter is known
to be complete when an instance is issued. It has no deadlock: every wait asks for a signal that
comes before it in the order of this walk, so that the first engine in that order can always go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from headway.ir.expr import Iteration
from headway.ir.program import (
    Access,
    ControlRead,
    If,
    Instr,
    Loop,
    Node,
    While,
    control_counter,
)
from headway.ir.walk import engines_inside, instructions
from headway.prove.cells import Block, Cells
from headway.prove.facts import Facts
from headway.prove.follow import Case, Cursor, Cursors, Undecided, asked_trips, is_local
from headway.prove.forms import Form
from headway.prove.values import alternatives, assign, computed, threshold
from headway.spec.required import is_ordered
from headway.sync.program import (
    Assign,
    Barrier,
    Exec,
    Load,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncWhile,
    Wait,
    Waits,
)

Control = Loop | While | If
Turn = Callable[[Facts], Facts]


class Heads(Protocol):
    """Where the facts come from that hold at the head of a loop, in every iteration."""

    def head(self, path: str, node: Loop | While, entry: Facts, turn: Turn) -> tuple[Facts, Facts]:
        """Return them, and what a turn makes of them: they hold at `entry` and again after it."""
        ...


class Watcher(Protocol):
    """Is told what the walk finds out at each instance."""

    def wait(self, at: str, engine: str, wait: Wait, reached: bool) -> None:
        """A wait of an instruction asks for a signal that comes before it, or may not."""

    def dependence(self, at: Instance, block: Block, access: Access, rule: str, by: str) -> None:
        """A dependence is kept by a rule; "" if by none that the walk can see."""


class Instance(NamedTuple):
    """What is issued: an instruction, or a control read by one engine."""

    node: Instr | ControlRead
    engine: str
    counter: str
    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    waits: tuple[Wait, ...]


ENOUGH = 2**22
"""A counter that counts as far as that is taken to be wide enough for every run."""


@dataclass(slots=True)
class Walk:
    """See the module. `watcher` is told of every instance in its general iteration.

    Loops whose paths are in `unrolled` run a fixed number of times and are walked turn by turn.
    """

    cells: Cells
    heads: Heads
    watcher: Watcher | None = None
    unrolled: frozenset[str] = frozenset()

    def run(self, facts: Facts) -> Facts:
        """Walk the program from its beginning."""
        sync = self.cells.sync
        if sync.flags:
            raise Undecided("programs with flags are not followed", sync.flags[0].at)
        for instr in instructions(sync.program.body):
            if instr.silent or instr.fused:
                mark = "silent" if instr.silent else "fused"
                raise Undecided(f"{instr.name} is {mark}, which is not followed", instr.at)
        for semaphore in sync.semaphores:
            if semaphore.most < ENOUGH:
                why = f"{semaphore.counter} has {semaphore.width} bits and may wrap"
                raise Undecided(why, semaphore.at)
        if {e.engine for e in sync.engines} != set(sync.program.hosts):
            raise Undecided("some engine has no program", sync.program.at)
        cursors = {engine.engine: Cursor(engine.body) for engine in sync.engines}
        return self._block(sync.program.body, "", cursors, facts)

    def _block(self, body: tuple[Node, ...], path: str, cursors: Cursors, facts: Facts) -> Facts:
        for i, node in enumerate(body):
            facts = self._node(node, f"{path}{i}", cursors, facts)
        while True:
            for engine, cursor in cursors.items():
                facts = self._locals(engine, cursor, len(cursor.nodes), facts)
            left = [n for c in cursors.values() if (n := c.next_shared())]
            if not left:
                return facts
            if not isinstance(left[0], Barrier):
                raise Undecided("an engine runs this and the program does not", left[0].at)
            facts = self._barrier(cursors, facts)

    def _node(self, node: Node, path: str, cursors: Cursors, facts: Facts) -> Facts:
        busy = engines_inside((node,))
        while any(isinstance(cursors[e].next_shared(), Barrier) for e in busy):
            facts = self._barrier(cursors, facts)
        if isinstance(node, Instr):
            cursor, before = cursors[node.engine], facts.copy()
            facts = self._locals(node.engine, cursor, self._at(node, node.engine, cursor), facts)
            found = cursor.nodes[cursor.at]
            cursor.at += 1
            assert isinstance(found, Exec)
            reads, writes = node.reads, node.writes
            instance = Instance(node, node.engine, node.counter, reads, writes, found.waits)
            return self._instance(instance, cursors, facts, before)
        matched: dict[str, SyncNode] = {}
        for engine, cursor in cursors.items():
            place = cursor.find(node)
            if place is None and engine in busy:
                place = self._at(node, engine, cursor)
            if place is not None:
                facts = self._locals(engine, cursor, place, facts)
                matched[engine] = cursor.nodes[place]
                cursor.at += 1
        match node:
            case If():
                return self._if(node, path, cursors, matched, facts)
            case Loop():
                return self._loop(node, path, cursors, matched, facts)
            case While():
                return self._while(node, path, cursors, matched, facts)

    def _at(self, node: Node, engine: str, cursor: Cursor) -> int:
        place = cursor.find(node)
        if place is None:
            name = node.name if isinstance(node, Instr) else "this"
            raise Undecided(f"{engine} does not run {name} where the program does", node.at)
        return place

    # Control

    def _if(
        self, node: If, path: str, cursors: Cursors, matched: dict[str, SyncNode], facts: Facts
    ) -> Facts:
        facts = self._control(node, cursors, matched, facts)
        ends: list[Facts] = []
        for which, body in (("t", node.then), ("e", node.orelse)):
            inside = {
                e: Cursor((n.then if which == "t" else n.orelse) if isinstance(n, SyncIf) else ())
                for e, n in ((e, matched.get(e)) for e in cursors)
            }
            ends.append(self._block(body, f"{path}{which}.", inside, facts.copy()))
        return ends[0].meet(ends[1])

    def _turn(
        self, node: Loop | While, path: str, cursors: Cursors, matched: dict[str, SyncNode]
    ) -> Turn:
        step = Form(((Iteration(node.iteration), 1),), -1)

        def turn(facts: Facts) -> Facts:
            inside = {
                e: Cursor(n.body if isinstance(n, SyncLoop | SyncWhile) else ())
                for e, n in ((e, matched.get(e)) for e in cursors)
            }
            facts = facts.copy()
            if isinstance(node, While):
                facts = self._control(node, cursors, matched, facts)
            facts = self._block(node.body, f"{path}.", inside, facts)
            facts.substitute(node.iteration, None if node.iteration in facts.values else step)
            return facts

        return turn

    def _loop(
        self, node: Loop, path: str, cursors: Cursors, matched: dict[str, SyncNode], facts: Facts
    ) -> Facts:
        facts = self._control(node, cursors, matched, facts)
        trip = facts.form(node.trip)
        if trip == Form():
            return facts
        turn = self._turn(node, path, cursors, matched)
        if not trip.terms and (trip.number == 1 or path in self.unrolled):
            return self._unrolled(node, trip.number, turn, facts)
        head, end = self.heads.head(path, node, facts, turn)
        if not trip.terms:
            end.substitute(node.iteration, trip)
            return end
        idle = {e: cursor for e, cursor in cursors.items() if e not in matched}
        cases = self._cases(node, trip, facts, head, end, turn, idle)
        return self._caught_up(cases, idle)

    def _unrolled(self, node: Loop, trip: int, turn: Turn, facts: Facts) -> Facts:
        """Walk a loop turn by turn."""
        facts = facts.copy()
        for number in range(trip):
            facts.values[node.iteration] = number
            facts = turn(facts)
            del facts.values[node.iteration]
        return facts

    def _cases(
        self,
        node: Loop,
        trip: Form,
        facts: Facts,
        head: Facts,
        end: Facts,
        turn: Turn,
        idle: Cursors,
    ) -> list[tuple[Case, Facts]]:
        """Return what holds behind a loop, by how often it has run: never, once, ..., or more."""
        most = 1 + max((n for c in idle.values() for n in asked_trips(c, trip, facts)), default=0)
        watcher, self.watcher = self.watcher, None
        found: list[tuple[Case, Facts]] = []
        facts = facts.copy()
        facts.enter(node.iteration, head.frames)
        for runs_before in range(most):
            found.append((Case(trip, runs_before, is_exact=True), facts))
            if runs_before + 1 < most:
                facts = turn(facts)
        self.watcher = watcher
        found.append((Case(trip, most, is_exact=False), end))
        for _, each in found:
            each.substitute(node.iteration, trip)
        for case, each in found:
            _agree(case, each, end)
        return found

    def _caught_up(self, cases: list[tuple[Case, Facts]], idle: Cursors) -> Facts:
        """Let engines that passed the loop by take note of it, then join the cases."""
        general, facts = cases[-1]
        for engine, cursor in idle.items():
            while cursor.at < len(cursor.nodes) and is_local(cursor.nodes[cursor.at]):
                if not _is_behind(facts, engine, general.trip):
                    break
                node = cursor.nodes[cursor.at]
                cursor.at += 1
                cases = [(case, self._local(engine, node, f, case)) for case, f in cases]
                facts = cases[-1][1]
        result = facts
        for _, other in cases[:-1]:
            result = result.meet(other)
        return result

    def _while(
        self, node: While, path: str, cursors: Cursors, matched: dict[str, SyncNode], facts: Facts
    ) -> Facts:
        turn = self._turn(node, path, cursors, matched)
        head, _ = self.heads.head(path, node, facts, turn)
        end = self._control(node, cursors, matched, head.copy(), again=True)
        end.substitute(node.iteration, None)
        return end

    def _control(
        self,
        node: Control,
        cursors: Cursors,
        matched: dict[str, SyncNode],
        facts: Facts,
        again: bool = False,
    ) -> Facts:
        """Let every engine that reads a control value from memory load it."""
        for engine in self.cells.sync.program.hosts:
            found = matched.get(engine)
            load = found.load if isinstance(found, SyncLoop | SyncWhile | SyncIf) else None
            if node.control is None:
                if load:
                    raise Undecided("an engine loads what the program does not", load.at)
                continue
            if engine not in self.cells.loaders.get(node.control.name, ()):
                if found:
                    raise Undecided(f"{engine} does not load {node.control.name}", node.at)
                continue
            if load is None:
                place = None if found else cursors[engine].find(node.control)
                if place is None or isinstance(node, While):
                    why = f"{engine} loads {node.control.name} later than the program does"
                    raise Undecided(why, node.control.at)
                facts = self._locals(engine, cursors[engine], place, facts)
                alone = cursors[engine].nodes[place]
                assert isinstance(alone, Load)
                load = alone
                cursors[engine].at += 1
            control, q = node.control, control_counter(engine)
            instance = Instance(control, engine, q, control.reads, (), load.waits)
            watcher, self.watcher = self.watcher, None if again else self.watcher
            facts = self._instance(instance, cursors, facts, facts.copy())
            self.watcher = watcher
            facts.learn(engine, q, facts.at_age(q, 0))
        return facts

    def _barrier(self, cursors: Cursors, facts: Facts) -> Facts:
        for engine, cursor in cursors.items():
            found = cursor.next_shared()
            if not isinstance(found, Barrier):
                at = found.at if found else None
                raise Undecided(f"{engine} does not come to the barrier of the others", at)
            facts = self._locals(engine, cursor, cursor.nodes.index(found, cursor.at), facts)
            cursor.at += 1
        facts.complete()
        return facts

    # What an engine does on its own

    def _locals(self, engine: str, cursor: Cursor, end: int, facts: Facts) -> Facts:
        while cursor.at < end and is_local(cursor.nodes[cursor.at]):
            facts = self._local(engine, cursor.nodes[cursor.at], facts, None)
            cursor.at += 1
        return facts

    def _local(self, engine: str, node: SyncNode, facts: Facts, case: Case | None) -> Facts:
        match node:
            case Assign():
                assign(facts, engine, node)
            case Waits():
                self._waits(engine, "", node.waits, facts)
            case SyncIf():
                return self._local_if(engine, node, facts, case)
            case _:
                raise AssertionError("not local")
        return facts

    def _local_if(self, engine: str, node: SyncIf, facts: Facts, case: Case | None) -> Facts:
        decided = case.decides(node.condition, facts) if case else None
        ends: list[Facts] = []
        for branch, taken in ((node.then, True), (node.orelse, False)):
            if decided in (None, taken):
                end = facts.copy()
                for inner in branch:
                    end = self._local(engine, inner, end, case)
                ends.append(end)
        return ends[0] if len(ends) == 1 else ends[0].meet(ends[1])

    def _waits(self, engine: str, at: str, waits: Iterable[Wait], facts: Facts) -> dict[Wait, int]:
        """Let waits hold; return what each has told."""
        found: dict[Wait, int] = {}
        for wait in waits:
            value = threshold(facts, engine, wait)
            if self.watcher:
                self.watcher.wait(at, engine, wait, value.is_past)
            found[wait] = value.told
            facts.learn(engine, wait.counter, value.told)
        return found

    # Instances

    def _instance(self, instance: Instance, cursors: Cursors, facts: Facts, before: Facts) -> Facts:
        engine, q = instance.engine, instance.counter
        if q == engine and q in self.cells.sync.program.serial:
            facts.known[engine] |= facts.at_age(q, 0)  # it starts when the previous one is over
        for kind, accesses in (("write", instance.reads), ("access", instance.writes)):
            for access in accesses:
                self._check(instance, kind, access, facts, before)
        self._waits(engine, instance.node.name, instance.waits, facts)
        facts.signal(q, engine)
        steps = [("access", a) for a in instance.reads + instance.writes]
        steps += [("write", a) for a in instance.writes]
        touched = 0
        for i, (kind, access) in enumerate(steps):
            place = facts.place(access.buffer, access.slot)
            blocks = self.cells.blocks(kind, access)
            touched |= sum(1 << first + place for b, first in blocks if b.counter == q)
            if i + 1 < len(steps) and not self._is_in_frame(steps[i + 1][1], facts):
                facts.touch(q, touched)
                touched = 0
                self._count(cursors, facts, {a.buffer for _, a in steps[i + 1 :]})
        facts.touch(q, touched)
        self._count(cursors, facts, set())
        return facts

    def _is_in_frame(self, access: Access, facts: Facts) -> bool:
        slots = self.cells.slots[access.buffer]
        return facts.form(access.slot, slots).terms == facts.frames[access.buffer]

    def _count(self, cursors: Cursors, facts: Facts, unmoved: set[str]) -> None:
        """Let all engines count what is past now; the frames of some buffers must not move."""
        for engine, cursor in cursors.items():
            while cursor.at < len(cursor.nodes):
                node = cursor.nodes[cursor.at]
                if not isinstance(node, Assign) or not self._is_past(engine, node, facts, unmoved):
                    break
                assign(facts, engine, node)
                cursor.at += 1

    def _is_past(self, engine: str, node: Assign, facts: Facts, unmoved: set[str]) -> bool:
        """Tell whether a register is set to a position that has been reached."""
        row = (engine, node.register.name)
        buffer = self.cells.rows.get(row)
        if buffer in unmoved:
            terms = facts.form(node.register.index, self.cells.slots[buffer]).terms
            if facts.frames[buffer] != terms:
                return False
        values = (
            computed(facts, engine, value, q)
            for q in self.cells.counters.get(row, ())
            for value in alternatives(node.value)
        )
        return all(value.least is not None and value.least >= 0 for value in values)

    def _check(
        self, instance: Instance, kind: str, access: Access, facts: Facts, before: Facts
    ) -> None:
        """Find for each conflicting access before why it is complete."""
        engine = instance.engine
        place = facts.place(access.buffer, access.slot)
        if before.frames[access.buffer] != facts.frames[access.buffer]:
            before = facts.copy()
        known, asked = before.known[engine], before.asked[engine]
        calm = [wait for wait in instance.waits if not self._moves(engine, wait, access, facts)]
        told = self._waits(engine, instance.node.name, calm, facts)
        if self.watcher is None:
            return
        for block, first in self.cells.blocks(kind, access):
            bit = 1 << first + place
            rule, by = "", ""
            if is_ordered(self.cells.sync.program, block.counter, engine, instance.counter):
                rule = "a-order"
            elif asked & bit:
                rule = "b-earlier-wait"
            elif known & bit:
                rule = "c-transitive"
            elif facts.known[engine] & bit:
                by = next((str(wait) for wait, marks in told.items() if marks & bit), "")
                rule = "b-wait" if facts.asked[engine] & bit else "c-transitive"
            self.watcher.dependence(instance, block, access, rule, by)

    def _moves(self, engine: str, wait: Wait, access: Access, facts: Facts) -> bool:
        """Tell whether a wait is for a row in another frame than that of the access."""
        register = wait.threshold.register
        if register is None or self.cells.rows.get((engine, register.name)) != access.buffer:
            return False
        slots = self.cells.slots[access.buffer]
        return facts.form(register.index, slots).terms != facts.form(access.slot, slots).terms


def _is_behind(facts: Facts, engine: str, trip: Form) -> bool:
    atoms = {atom for atom, _ in trip.terms}
    return any(
        r.engine == engine and atoms & {atom for atom, _ in f.terms} for r, f in facts.equal.items()
    )


def _agree(case: Case, facts: Facts, general: Facts) -> None:
    """Write distances with the trip count, as in the general case, where they are the same."""
    if not case.is_exact:
        return
    atom, factor = case.trip.terms[0]
    if factor != 1:
        return
    value = Form((), case.least).plus(case.trip, -1).plus(Form(((atom, 1),)))
    for register, f in facts.equal.items():
        wanted = general.equal.get(register)
        if wanted and wanted.with_value(atom, value) == f.with_value(atom, value):
            facts.equal[register] = wanted
