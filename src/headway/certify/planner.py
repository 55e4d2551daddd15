"""Find a joint order and states at loop heads with which `headway.certify.verify` may accept.

An engine does on its own what it does in between as late as it can: before its next instruction,
loop or if, or at the end of the block. An assignment is done as soon as it names a position of the
past. States at a head are what holds when the loop is entered; what a turn does not keep is dropped
until nothing changes. The result is not to be trusted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import takewhile
from typing import Any

from headway.certify.followed import followed
from headway.certify.heads import (
    Head,
    Pool,
    case_of,
    grown,
    meet,
    merged,
    slopes_of,
)
from headway.certify.marks import touched
from headway.certify.numbers import Form, form, is_about, known, linear, names, plus
from headway.certify.residues import modulos, remainders, together, without_constant
from headway.certify.state import Key, State
from headway.certify.statement import Block, Bodies, Refused, Statement, Step, steps_in
from headway.certify.verify import ONE, Walk
from headway.certify.written import write_form, write_state
from headway.ir.expr import Binary, Expr, Iteration
from headway.ir.program import ControlRead, If, Instr, Loop, Node, While
from headway.ir.walk import accesses, engines_inside, instructions, walk

MOST_ROUNDS = 200
"""Turns of a loop, and walks over the program, before the search is given up."""
MOST_STATES = 400
"""Cases that are told apart at one loop head."""
MOST_STEPS = 100_000
"""Steps that are tried, each in every case, before the search is given up."""

States = list[State]
Turn = Callable[[States], States]


class Planner(Walk):
    """Chooses the order and the heads while it walks. Loops in `exact` are told apart by turn.

    `is_fine`: what slots of inner loops turn with is told apart in outer loops too.
    """

    def __init__(
        self,
        statement: Statement,
        exact: dict[str, int],
        is_fine: bool = True,
        kept: Iterable[Form] = (),
    ) -> None:
        super().__init__(statement, followed(statement))
        self.counters: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for engine, name, _, q in self.keys:
            self.counters[engine, name].add(q)
        self._is_fine = is_fine
        self.kept = tuple(kept)
        self.kept_names = {name for f in self.kept for (atom,), _ in f for name in names(atom)}
        self._steps = 0
        self._exact = exact
        self._pools: dict[tuple[int, ...], Pool] = {}
        self._slopes: dict[tuple[int, ...], dict[Key, Form]] = {}
        self._ends: dict[tuple[int, ...], Pool] = {}
        self.is_recording = False
        self._is_stable = False
        self._path: list[int] = []
        self._wanted: list[dict[Form, int]] = [{}]
        self._around: list[str] = []

    def block(self, block: Block, order: list[Any], states: States) -> States:
        """Walk one block; write down in which order."""
        order.clear()
        course = Course(self, block, order, states)
        while block.body:
            self._path += [len(block.body), id(block.body[0])]
            course.node(block.body[0])
            del self._path[-2:]
        course.finish()
        return course.states

    def step(self, block: Block, entry: Any, states: States) -> States:
        """Do one thing, unless too many have been done."""
        self._steps += len(states)
        if self._steps > MOST_STEPS:
            raise Refused(f"no states were found in {MOST_STEPS:,} steps", self.program.at)
        return super().step(block, entry, states)

    def plan(self) -> list[Any]:
        """Return a joint order with the states at loop heads."""
        for _ in range(MOST_ROUNDS):
            order: list[Any] = []
            self.is_recording, self._is_stable = False, True
            self.run(order)
            self.is_recording = True
            self.run(order)
            if self._is_stable:
                return order
        raise Refused("no order was found that all turns of the loops keep", self.program.at)

    def loop(self, states: States, node: Loop | While, bodies: list[Bodies], entry: Any) -> States:
        """Find states at the head of a loop that a turn keeps; return what holds behind it."""
        path = tuple(self._path)
        most = self._exact.get(node.iteration, self._asked(node))
        self._around.append(node.iteration)
        self._wanted.append(together(self._wanted[-1], self._turning(node)))
        head = Head(node.iteration, most, self._wanted[-1], self._around, self.kept)
        turn = linear(Iteration(node.iteration))
        trip, again = (linear(node.trip), None) if isinstance(node, Loop) else (None, node.control)

        def turned(claimed: States) -> States:
            starts = [s for s in claimed if trip is None or s.is_below(turn, trip)]
            if not starts:
                return []
            ends = self.block(Block(node.body, bodies[0], again), entry["body"], starts)
            for state in ends:
                state.replace(node.iteration, plus(turn, ONE, -1))
            return ends

        for state in states:
            state.replace(node.iteration, None)
            state.numbers[turn] = known(0)
        try:
            if self.is_recording:
                ends = self._recorded(entry, self._pools[path], head, states, turned)
            else:
                ends = self._searched(path, node, head, states, turned)
        finally:
            self._around.pop()
            self._wanted.pop()
        return [state for state in states + ends if state.replace(node.iteration, trip)]

    def _recorded(self, entry: Any, pool: Pool, head: Head, states: States, turn: Turn) -> States:
        self._is_stable &= not head.add_all(pool, states)
        entry["heads"] = [write_state(state) for state in pool.values()]
        ends = turn([state.copy() for state in pool.values()])
        self._is_stable &= not head.add_all(pool, ends)
        return ends

    def _searched(
        self, path: tuple[int, ...], node: Loop | While, head: Head, states: States, turn: Turn
    ) -> States:
        if path not in self._pools:
            pool: Pool = {}
            head.add_all(pool, states)
            start = next(iter(pool.values()))
            ends = turn([s.copy() for s in states])
            self._slopes[path] = slopes_of(start, ends)
            for inner in [p for p in self._pools if p[: len(path)] == path]:
                del self._pools[inner], self._ends[inner]  # they do not know yet what grows
            self._pools[path], self._ends[path] = {}, {}
        pool, slopes = self._pools[path], self._slopes[path]
        changed = head.add_all(pool, (grown(s, slopes, node.iteration) for s in states))
        updates: Counter[object] = Counter()
        for _ in range(MOST_ROUNDS):
            updates.update(changed.keys())
            if not changed:
                return [state.copy() for state in self._ends[path].values()]
            ends = turn([pool[case].copy() for case in changed])
            for end in ends:
                case = case_of(end)
                old = self._ends[path].get(case)
                self._ends[path][case] = end.copy() if old is None else meet(end, old)
            changed = head.add_all(pool, ends, updates)
            if len(pool) > MOST_STATES:
                raise Refused("there are too many cases to tell apart", node.at)
        raise Refused("no facts were found that every iteration keeps", node.at)

    def _asked(self, node: Loop | While) -> int:
        """Return how many turns are told apart: as many as a condition on trip or turn asks for."""
        asked, turn = [0], Iteration(node.iteration)
        if isinstance(node, Loop) and not isinstance(node.trip, int):
            for steps in self.statement.engines.values():
                for value in (step.value for step in steps_in(steps) if step.kind == "if"):
                    if isinstance(value, Binary) and isinstance(value.right, int):
                        if (value.operator, value.left) == (">", node.trip):
                            asked.append(value.right)
            for _, loop in self._loops(node):
                values = (step.value for step in steps_in(loop.bodies[0]) if step.kind == "if")
                if Binary("==", turn, 0) in values:
                    asked.append(1)
        return max(asked)

    def _loops(self, node: Loop | While) -> Iterator[tuple[str, Step]]:
        """Yield the engines that run a loop, with its step: other loops may have its name too."""
        instrs = {instr.name for instr in instructions(node.body)}
        for engine, steps in self.statement.engines.items():
            for loop in steps_in(steps):
                if loop.name == node.iteration and loop.kind in ("loop", "while"):
                    inside = steps_in(loop.bodies[0])
                    if not instrs.isdisjoint(s.name for s in inside if s.kind == "issue"):
                        yield engine, loop

    def _turning(self, node: Loop | While) -> Iterator[tuple[Form, int]]:
        """Yield what the slots of a body turn with."""
        inner = {n.iteration for n in walk(node.body) if isinstance(n, Loop | While)}
        used = [(a.slot, self.marks.slots[a.buffer]) for a in accesses(node.body)]
        for engine, loop in self._loops(node):
            for step in steps_in(loop.bodies[0]):
                used += self.places(engine, step)
        for f, slots in (pair for place in used for pair in remainders(*place)):
            terms = {
                atoms: n
                for atoms, n in f
                if atoms == (node.iteration,)
                or not any(names(a) & inner or node.iteration in names(a) for a in atoms)
            }
            is_whole = len(terms) == len(f)
            if slots > 1 and terms and (is_whole or self._is_fine):
                yield form(terms), slots

    def starting(self, node: Loop | While) -> Iterator[tuple[Form, int]]:
        """Yield what has to be told apart where a loop is entered."""
        for f, slots in together(self._wanted[-1], self._turning(node)).items():
            if rest := form({atoms: n for atoms, n in f if atoms != (node.iteration,)}):
                yield rest, slots

    def places(self, engine: str, step: Step) -> Iterator[tuple[Expr, int]]:
        """Yield the places of registers that a step names, and how long their rows are.

        What a condition looks at modulo a number is like a place in a row of that length.
        """
        sums = [*step.values, *(wait.value for wait in step.waits)]
        for name, place in [(step.name, step.place), *((s.register, s.place) for s in sums)]:
            yield place, self.statement.registers.get((engine, name), 1)
        if step.kind == "if":
            yield from modulos(step.value)
            for inner in (inner for body in step.bodies for inner in body):
                yield from self.places(engine, inner)

    def is_inside(self, name: str) -> bool:
        """Tell whether a name is the iteration of a loop around."""
        return name in self._around


class Course:
    """How far one block has been walked."""

    def __init__(self, planner: Planner, block: Block, order: list[Any], states: States) -> None:
        self.planner, self.block, self.order, self.states = planner, block, order, states

    def do(self, entry: Any) -> None:
        """Do one thing and write it down."""
        self.order.append(entry)
        self.states = self.planner.step(self.block, entry, self.states)

    def node(self, node: Node) -> None:
        """Come to the next node of the sequential program, and run it."""
        busy = engines_inside((node,))
        self._load_before(node)
        while any(self._next_shared(engine) == "barrier" for engine in busy):
            self._barrier()
        if isinstance(node, Instr):
            self._up_to(node.engine, node)
            self._see_places(node.engine, node)
            self.do(".")
        else:
            entry = self._entry(node, busy)
            if not isinstance(node, If):
                for f, slots in self.planner.starting(node):
                    self._tell_apart(f, slots)
            self.do(entry)
            self._join()
            if isinstance(node, Loop):
                self._catch_up(node, entry["engines"])
        self._count()

    def finish(self) -> None:
        """Let all engines come to the end of the block."""
        while True:
            for engine, steps in self.block.engines.items():
                self._locals(engine)
                if steps and steps[0].kind == "load":
                    self._alone(engine, again=True)
            if not any(self.block.engines.values()):
                return
            if any(steps and is_local(steps[0]) for steps in self.block.engines.values()):
                continue
            self._barrier()

    # Cases

    def _join(self, forgotten: str = "") -> None:
        """Go on with one state for each case."""
        found = merged(self.states, forgotten)
        if forgotten or len(found) < len(self.states):
            self.states = found
            if self.planner.is_recording:
                self.order.append({"cut": [write_state(state) for state in found]})

    def _tell_apart(self, f: Form, slots: int) -> None:
        if any(state.number(f).modulus % slots for state in self.states):
            self.do({"split": write_form(f), "by": slots})

    def _see_places(self, engine: str, node: Instr | ControlRead | None = None) -> None:
        """Tell the cases apart in which all places and slots of what comes next are known."""
        used = list(self.planner.places(engine, self.block.engines[engine][0]))
        if node:
            found = touched(node)
            used += [(access.slot, self.planner.marks.slots[access.buffer]) for _, access in found]
        for expr, slots in used:
            if slots > 1 and any(s.number(linear(expr)).modulus % slots for s in self.states):
                for f, modulus in remainders(expr, slots):
                    self._tell_apart(f, modulus)
                self._tell_apart(without_constant(linear(expr)), slots)

    # What engines do on their own

    def _alone(self, engine: str, again: bool = False) -> None:
        """Let an engine do its next step; `again`: a load at the end of a while."""
        step = self.block.engines[engine][0]
        read = None
        if step.kind == "load":
            read = self.block.late(engine, step.name) or self.block.reads(step.name)
        self._see_places(engine, read)
        self.do(engine)
        if step.kind == "if":
            self._join()

    def _locals(self, engine: str) -> None:
        steps = self.block.engines.get(engine, [])
        while steps and self._is_own(engine, steps[0]):
            self._alone(engine)

    def _is_own(self, engine: str, step: Step) -> bool:
        """Tell whether a step concerns its engine only: also a load that comes late."""
        return is_local(step) or bool(step.kind == "load" and self.block.late(engine, step.name))

    def _next_shared(self, engine: str) -> str:
        steps = self.block.engines.get(engine, [])
        return next((step.kind for step in steps if not self._is_own(engine, step)), "")

    def _barrier(self) -> None:
        for engine in self.block.engines:
            self._locals(engine)
        self.do("|")

    def _up_to(self, engine: str, node: Node) -> None:
        """Let an engine do what it does before a node."""
        steps = self.block.engines.get(engine, [])
        if not self._comes(engine, node):
            name = node.name if isinstance(node, Instr) else "this"
            raise Refused(f"{engine} does not run {name} where the program does", node.at)
        while not _runs(steps[0], node):
            self._alone(engine)

    def _load_before(self, node: Node) -> None:
        """Let engines load what they left behind and a node will write."""
        for engine, steps in self.block.engines.items():
            if ending := self.block.ending(engine, node):
                own = takewhile(partial(self._is_own, engine), steps)
                loads = [i for i, s in enumerate(own) if s.kind == "load" and s.name in ending]
                for _ in range(max(loads, default=-1) + 1):
                    self._alone(engine)

    def _comes(self, engine: str, node: Node) -> bool:
        """Tell whether an engine runs a node next, after what it does on its own."""
        for step in self.block.engines.get(engine, []):
            if _runs(step, node) or not self._is_own(engine, step):
                return _runs(step, node)
        return False

    def _entry(self, node: Loop | While | If, busy: Iterable[str]) -> dict[str, Any]:
        found: list[str] = []
        for engine, steps in self.block.engines.items():
            shared = next((step for step in steps if not is_local(step)), None)
            if (
                node.control
                and shared
                and (shared.kind, shared.name) == ("load", node.control.name)
            ):
                self._locals(engine)
                self._alone(engine)
            if engine in busy or self._comes(engine, node):
                self._up_to(engine, node)
                found.append(engine)
        if isinstance(node, If):
            return {"engines": found, "then": [], "else": []}
        return {"engines": found, "heads": [], "body": []}

    def _count(self) -> None:
        """Let all engines count what is past now, and set what they can set."""
        for engine, steps in self.block.engines.items():
            while steps and (
                only_sets(steps[0])
                or (steps[0].kind == "assign" and self._is_past(engine, steps[0]))
            ):
                self._alone(engine)

    def _is_past(self, engine: str, step: Step) -> bool:
        self._see_places(engine)
        values = (
            self.planner.value(state, engine, value, q)
            for state in self.states
            for q in self.planner.counters[engine, step.name]
            for value in step.values
        )
        return all(value.least is not None and value.least >= 0 for value in values)

    def _catch_up(self, node: Loop, inside: list[str]) -> None:
        """Let engines that passed a loop by take note of it, while its cases are apart."""
        trip = {name for atoms, _ in linear(node.trip) for atom in atoms for name in names(atom)}
        for engine, steps in self.block.engines.items():
            while engine not in inside and steps and is_local(steps[0]):
                if not self._is_behind(engine, trip):
                    break
                self._alone(engine)
        for name in sorted(trip):
            if not self.planner.is_inside(name) and name not in self.planner.kept_names:
                if any(is_about(f, name) for state in self.states for f in state.numbers):
                    self._join(name)

    def _is_behind(self, engine: str, trip: set[str]) -> bool:
        return any(
            key[0] == engine and any(is_about(value.distance or (), name) for name in trip)
            for state in self.states
            for key, value in state.values.items()
        )


def is_local(step: Step) -> bool:
    """Tell whether a step concerns its engine only."""
    if step.kind == "if":
        return all(is_local(inner) for body in step.bodies for inner in body)
    return step.kind in ("assign", "waits", "set", "take")


def only_sets(step: Step) -> bool:
    """Tell whether a step does nothing but set flags."""
    if step.kind == "if":
        return all(only_sets(inner) for body in step.bodies for inner in body)
    return step.kind == "set"


def _runs(step: Step, node: Node) -> bool:
    if isinstance(node, Instr):
        return (step.kind, step.name) == ("issue", node.name)
    if isinstance(node, If):
        same = (step.kind, step.value) == ("if", node.condition)
    else:
        value = node.trip if isinstance(node, Loop) else node.condition
        kind = "loop" if isinstance(node, Loop) else "while"
        same = (step.kind, step.name, step.value) == (kind, node.iteration, value)
    inside = {n.name for n in walk((node,)) if isinstance(n, Instr)}
    return same and all(s.name in inside for s in steps_in((step,)) if s.kind == "issue")
