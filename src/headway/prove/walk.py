"""Walk a sequential program and all its engine programs side by side, with facts instead of values.

An engine program follows the sequential program: it runs the engine's instructions in its order, in
the same loops and ifs, and may pass by what it has no work in. What it does in between on its own
(assignments, waits, ifs with nothing else inside) is done before its next instruction, loop or if,
or before the end of the block; an assignment as soon as it names a position of the past. That is one of the orders in which things may
happen, and an instance that has to be complete in one of them has to be in all.

A program that passes has no early instance: the last conflicting access of every counter is known
to be complete when an instance is issued. It has no deadlock: every wait asks for a signal that
comes before it in the order of this walk, so that the first engine in that order can always go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from headway.errors import Location
from headway.ir.expr import Binary, Expr, Iteration, leaves
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
from headway.prove.facts import ZERO_ROW, Facts, Register
from headway.prove.forms import Form, linear, span
from headway.spec.required import is_ordered
from headway.sync.program import (
    Assign,
    Barrier,
    Exec,
    Load,
    RegisterRef,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncWhile,
    Wait,
    Waits,
    walk_sync,
)

Control = Loop | While | If
Turn = Callable[[Facts], Facts]


class Undecided(Exception):
    """The walk cannot go on: the reason, and the place."""

    def __init__(self, reason: str, at: Location | None) -> None:
        super().__init__(reason)
        self.reason, self.at = reason, at


class Heads(Protocol):
    """Where the facts come from that hold at the head of a loop, in every iteration."""

    def head(
        self, path: str, node: Loop | While, entry: Facts, turn: Turn
    ) -> tuple[Facts, Facts]:
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


@dataclass(slots=True)
class Cursor:
    """Where an engine stands in a block of its program."""

    nodes: tuple[SyncNode, ...] = ()
    at: int = 0

    def find(self, node: Node | ControlRead) -> int | None:
        """Return where the engine runs a node of the program, if that comes next."""
        for i in range(self.at, len(self.nodes)):
            if runs(self.nodes[i], node):
                return i
            if not is_local(self.nodes[i]):
                return None
        return None

    def next_shared(self) -> SyncNode | None:
        """Return the next node that is not local to the engine."""
        return next((node for node in self.nodes[self.at :] if not is_local(node)), None)


Cursors = dict[str, Cursor]


class Case(NamedTuple):
    """How often a loop has run: `trip` is `least`, or at least that."""

    trip: Form
    least: int
    is_exact: bool

    def decides(self, condition: Expr) -> bool | None:
        """Tell whether a condition `trip > n` holds; None if that is open."""
        if not isinstance(condition, Binary) or condition.operator != ">":
            return None
        if not isinstance(condition.right, int) or linear(condition.left) != self.trip:
            return None
        if self.least > condition.right:
            return True
        return False if self.is_exact else None


def is_local(node: SyncNode) -> bool:
    """Tell whether a node concerns its engine only."""
    if isinstance(node, SyncIf) and node.load is None:
        return all(is_local(inner) for inner in (*node.then, *node.orelse))
    return isinstance(node, Assign | Waits)


def runs(node: SyncNode, program_node: Node | ControlRead) -> bool:
    """Tell whether a node of an engine program is a node of the sequential program."""
    match node, program_node:
        case Exec(), Instr():
            return node.instr == program_node.name
        case Load(), ControlRead():
            return node.control == program_node.name
        case SyncLoop(), Loop():
            same = (node.iteration, node.trip) == (program_node.iteration, program_node.trip)
        case SyncWhile(), While():
            a, b = (node.iteration, node.condition), (program_node.iteration, program_node.condition)
            same = a == b
        case SyncIf(), If():
            same = node.condition == program_node.condition
        case _:
            return False
    inside = {instr.name for instr in instructions((program_node,))}
    return same and all(n.instr in inside for n in walk_sync((node,)) if isinstance(n, Exec))


@dataclass(slots=True)
class Walk:
    """See the module. `watcher` is told of every instance once, in its general iteration."""

    cells: Cells
    heads: Heads
    watcher: Watcher | None = None
    _instances: dict[str, Instance] = field(default_factory=dict[str, Instance])

    def run(self, facts: Facts) -> Facts:
        """Walk the program from its beginning."""
        sync = self.cells.sync
        if sync.flags:
            raise Undecided("programs with flags are not followed", sync.flags[0].at)
        if {e.engine for e in sync.engines} != set(sync.program.hosts):
            raise Undecided("some engine has no program", sync.program.at)
        cursors = {engine.engine: Cursor(engine.body) for engine in sync.engines}
        return self._block(sync.program.body, "", cursors, facts)

    def _block(
        self, body: tuple[Node, ...], path: str, cursors: Cursors, facts: Facts
    ) -> Facts:
        for i, node in enumerate(body):
            facts = self._node(node, f"{path}{i}", cursors, facts)
        while True:
            for engine, cursor in cursors.items():
                facts = self._locals(engine, cursor, len(cursor.nodes), facts)
            left = [c.next_shared() for c in cursors.values() if c.next_shared()]
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
            cursor = cursors[node.engine]
            facts = self._locals(node.engine, cursor, self._at(node, node.engine, cursor), facts)
            found = cursor.nodes[cursor.at]
            cursor.at += 1
            assert isinstance(found, Exec)
            reads, writes = node.reads, node.writes
            instance = Instance(node, node.engine, node.counter, reads, writes, found.waits)
            return self._instance(instance, cursors, facts)
        inside: Cursors = {}
        loads: dict[str, Load] = {}
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
            facts.substitute(node.iteration, step)
            return facts

        return turn

    def _loop(
        self, node: Loop, path: str, cursors: Cursors, matched: dict[str, SyncNode], facts: Facts
    ) -> Facts:
        facts = self._control(node, cursors, matched, facts)
        trip = linear(node.trip)
        if trip == Form():
            return facts
        turn = self._turn(node, path, cursors, matched)
        head, end = self.heads.head(path, node, facts, turn)
        if not trip.terms:
            end.substitute(node.iteration, trip)
            return end
        idle = {e: cursor for e, cursor in cursors.items() if e not in matched}
        cases = self._cases(node, trip, facts, head, end, turn, idle)
        return self._caught_up(cases, idle)

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
        most = 1 + max((n for c in idle.values() for n in _asked(c, trip)), default=0)
        watcher, self.watcher = self.watcher, None
        found: list[tuple[Case, Facts]] = []
        facts = facts.copy()
        for buffer, terms in head.frames.items():
            facts.frames[buffer] = terms  # as at the head, where the iteration is 0
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
            facts = self._instance(instance, cursors, facts)
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
                self._assign(engine, node, facts)
            case Waits():
                self._waits(engine, "", node.waits, facts)
            case SyncIf():
                return self._local_if(engine, node, facts, case)
            case _:
                raise AssertionError("not local")
        return facts

    def _local_if(self, engine: str, node: SyncIf, facts: Facts, case: Case | None) -> Facts:
        decided = case.decides(node.condition) if case else None
        ends: list[Facts] = []
        for branch, taken in ((node.then, True), (node.orelse, False)):
            if decided in (None, taken):
                end = facts.copy()
                for inner in branch:
                    end = self._local(engine, inner, end, case)
                ends.append(end)
        return ends[0] if len(ends) == 1 else ends[0].meet(ends[1])

    def _assign(self, engine: str, node: Assign, facts: Facts) -> None:
        values = list(_alternatives(node.value))
        for q in self.cells.counters.get((engine, node.register.name), ()):
            target = self._register(engine, node.register, q, facts, node.at)
            found = [self._value(engine, value, q, facts, node.at) for value in values]
            facts.told[target] = 0
            for told, _, _ in found:
                facts.told[target] |= told
            bounds = [below for _, _, below in found if below is not None]
            if len(bounds) == len(found):
                facts.below[target] = min(bounds)
            else:
                facts.below.pop(target, None)
            facts.equal.pop(target, None)
            equal = found[0][1] if len(found) == 1 else None
            if equal is not None and (equal == Form() or not self.cells.is_row(*target[:2])):
                facts.equal[target] = equal

    def _value(
        self, engine: str, value: Expr, q: str, facts: Facts, at: Location | None
    ) -> tuple[int, Form | None, int | None]:
        """Return what a value, as a position of `q`, tells; its distance from the count; a bound."""
        f = linear(value)
        sources = [(a, n) for a, n in f.terms if isinstance(a, RegisterRef)]
        if len(sources) > 1 or any(n != 1 for _, n in sources):
            return 0, None, None
        register = Register(*ZERO_ROW, 0, q)
        for source, _ in sources:
            assert isinstance(source, RegisterRef)
            register = self._register(engine, source, q, facts, at)
            f = f.plus(Form(((source, 1),)), -1)
        equal = facts.equal.get(register)
        distance = None if equal is None else equal.plus(f, -1)
        told, below = 0, None
        if distance is not None and not distance.terms:
            told, below = facts.at_age(q, distance.number), distance.number
        if not f.terms:
            if sources:
                told |= facts.told.get(register, 0) if f.number >= 0 else 0
            else:
                told |= facts.at_number(q, f.number)
            if register in facts.below:
                known = facts.below[register] - f.number
                below = known if below is None else max(below, known)
        return told, distance, below

    def _register(
        self, engine: str, ref: RegisterRef, q: str, facts: Facts, at: Location | None
    ) -> Register:
        size = self.cells.sizes[engine, ref.name]
        if size == 1:
            return Register(engine, ref.name, 0, q)
        bounds = span(ref.index)
        if bounds is None or bounds[0] < 0 or bounds[1] >= size:
            raise Undecided(f"{ref} may be outside its row", at)
        buffer = self.cells.rows.get((engine, ref.name))
        if buffer is not None:
            return Register(engine, ref.name, facts.place(buffer, ref.index), q)
        if not isinstance(ref.index, int):
            raise Undecided(f"the slots of row {ref.name} follow no buffer", at)
        return Register(engine, ref.name, ref.index, q)

    def _waits(self, engine: str, at: str, waits: Iterable[Wait], facts: Facts) -> dict[Wait, int]:
        """Let waits hold; return what each has told."""
        found: dict[Wait, int] = {}
        for wait in waits:
            threshold: Expr = wait.threshold.offset
            if wait.threshold.register is not None:
                threshold = Binary("+", wait.threshold.register, threshold)
            told, distance, below = self._value(engine, threshold, wait.counter, facts, wait.at)
            is_past = below is not None and below >= 0
            if distance is not None and not is_past:
                is_past = distance.number >= 0 and all(
                    n > 0 and isinstance(a, Iteration) for a, n in distance.terms
                )
            if self.watcher:
                self.watcher.wait(at, engine, wait, is_past)
            found[wait] = told
            facts.learn(engine, wait.counter, told)
        return found

    # Instances

    def _instance(self, instance: Instance, cursors: Cursors, facts: Facts) -> Facts:
        engine, q = instance.engine, instance.counter
        if q == engine and q in self.cells.sync.program.serial:
            facts.known[engine] |= facts.at_age(q, 0)  # it starts when the previous one is over
        for kind, accesses in (("write", instance.reads), ("access", instance.writes)):
            for access in accesses:
                self._check(instance, kind, access, facts)
        self._waits(engine, instance.node.name, instance.waits, facts)
        facts.signal(q, engine)
        steps = [("access", a) for a in instance.reads + instance.writes]
        steps += [("write", a) for a in instance.writes]
        for i, (kind, access) in enumerate(steps):
            place = facts.place(access.buffer, access.slot)
            blocks = self.cells.blocks(kind, access)
            facts.touch(q, sum(1 << first + place for b, first in blocks if b.counter == q))
            self._count(cursors, facts, {a.buffer for _, a in steps[i + 1 :]})
        self._count(cursors, facts, set())
        return facts

    def _count(self, cursors: Cursors, facts: Facts, unmoved: set[str]) -> None:
        """Let all engines count what is past now; the frames of some buffers must not move."""
        for engine, cursor in cursors.items():
            while cursor.at < len(cursor.nodes):
                node = cursor.nodes[cursor.at]
                if not isinstance(node, Assign) or not self._is_past(engine, node, facts, unmoved):
                    break
                self._assign(engine, node, facts)
                cursor.at += 1

    def _is_past(self, engine: str, node: Assign, facts: Facts, unmoved: set[str]) -> bool:
        """Tell whether a register is set to a position that has been reached."""
        row = (engine, node.register.name)
        buffer = self.cells.rows.get(row)
        if buffer in unmoved:
            terms = linear(node.register.index, self.cells.slots[buffer]).terms
            if facts.frames[buffer] != terms:
                return False
        for q in self.cells.counters.get(row, ()):
            for value in _alternatives(node.value):
                refs = [x for x in leaves(value) if isinstance(x, RegisterRef)]
                if any(self.cells.sizes[engine, ref.name] > 1 for ref in refs):
                    return False
                below = self._value(engine, value, q, facts, node.at)[2]
                if below is None or below < 0:
                    return False
        return True

    def _check(self, instance: Instance, kind: str, access: Access, facts: Facts) -> None:
        """Find for each conflicting access before why it is complete."""
        engine = instance.engine
        place = facts.place(access.buffer, access.slot)
        known, asked = facts.known[engine], facts.asked[engine]
        calm = [wait for wait in instance.waits if not self._moves(engine, wait, access)]
        told = self._waits(engine, instance.node.name, calm, facts)
        if self.watcher is None:
            return
        for block, first in self.cells.blocks(kind, access):
            bit = 1 << first + place
            rule, by = "", ""
            if is_ordered(self.cells.sync.program, block.counter, engine, instance.counter):
                rule = "program-order"
            elif asked & bit:
                rule = "earlier-wait"
            elif known & bit:
                rule = "transitive"
            elif found := [wait for wait, marks in told.items() if marks & bit]:
                by = str(found[0])
                rule = "wait" if found[0].counter == block.counter else "transitive"
            self.watcher.dependence(instance, block, access, rule, by)

    def _moves(self, engine: str, wait: Wait, access: Access) -> bool:
        """Tell whether a wait is for a row in another frame than that of the access."""
        register = wait.threshold.register
        if register is None or self.cells.rows.get((engine, register.name)) != access.buffer:
            return False
        slots = self.cells.slots[access.buffer]
        return linear(register.index, slots).terms != linear(access.slot, slots).terms


def _alternatives(value: Expr) -> Iterator[Expr]:
    if isinstance(value, Binary) and value.operator == "max":
        yield from _alternatives(value.left)
        yield from _alternatives(value.right)
    else:
        yield value


def _asked(cursor: Cursor, trip: Form) -> Iterator[int]:
    """Yield every n of a condition `trip > n` in what an engine does next on its own."""
    for node in cursor.nodes[cursor.at :]:
        if not is_local(node):
            return
        for inner in walk_sync((node,)):
            condition = inner.condition if isinstance(inner, SyncIf) else 0
            if isinstance(condition, Binary) and condition.operator == ">":
                if isinstance(condition.right, int) and linear(condition.left) == trip:
                    yield condition.right


def _is_behind(facts: Facts, engine: str, trip: Form) -> bool:
    atoms = {atom for atom, _ in trip.terms}
    return any(
        r.engine == engine and atoms & {atom for atom, _ in f.terms}
        for r, f in facts.equal.items()
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
