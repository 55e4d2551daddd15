"""Find a joint order and states at loop heads with which `headway.certify.verify` may accept.

An engine does on its own what it does in between as late as it can: before its next instruction,
loop or if, or at the end of the block. An assignment is done as soon as it names a position of the
past. States at a head are what holds when the loop is entered; what a turn does not keep is dropped
until nothing changes. The result is not to be trusted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from headway.certify.cases import alternatives
from headway.certify.followed import followed
from headway.certify.heads import Head, Pool, Residue, grown, slopes_of, together, written
from headway.certify.state import (
    REMAINDERS,
    Key,
    States,
    form,
    linear,
    names,
)
from headway.certify.statement import Instance, Refused, Statement, Step, steps_in
from headway.certify.verify import Place, Turn, Walk
from headway.ir.expr import Binary
from headway.ir.program import If, Instr, Loop, Node, While
from headway.ir.walk import accesses, engines_inside, instructions, walk

MOST_ROUNDS = 200
MOST_STATES = 400
MOST_STEPS = 10_000
"""Instances that are followed, each in every case, before the search is given up."""


class Planner(Walk):
    """Chooses the order and the heads while it walks. Loops in `exact` are told apart by turn.

    `is_fine`: what slots of inner loops turn with is told apart in outer loops too.
    """

    def __init__(self, statement: Statement, exact: dict[str, int], is_fine: bool = True) -> None:
        super().__init__(statement, followed(statement))
        self._is_fine = is_fine
        self._steps = 0
        self._exact = exact
        self._pools: dict[tuple[int, ...], Pool] = {}
        self._slopes: dict[tuple[int, ...], dict[Key, int]] = {}
        self._ends: dict[tuple[int, ...], Pool] = {}
        self._is_recording = self._is_stable = False
        self._path: list[int] = []
        self._wanted: list[list[Residue]] = [[]]
        self._around: list[str] = []

    def block(self, place: Place, order: list[Any], states: States) -> States:
        """Walk one block; write down in which order."""
        order.clear()
        course = Course(self, place, order, states)
        while place.body:
            self._path += [len(place.body), id(place.body[0])]
            course.node(place.body[0])
            del self._path[-2:]
        course.finish()
        return course.states

    def issue(self, at: Instance, states: States) -> States:
        """Issue an instance, unless too many have been."""
        self._steps += len(states)
        if self._steps > MOST_STEPS:
            raise Refused(f"no states were found in {MOST_STEPS:,} steps", self.program.at)
        return super().issue(at, states)

    def plan(self) -> list[Any]:
        """Return a joint order with the states at loop heads."""
        for _ in range(MOST_ROUNDS):
            order: list[Any] = []
            self._is_recording, self._is_stable = False, True
            self.run(order)
            self._is_recording = True
            self.run(order)
            if self._is_stable:
                return order
        raise Refused("no order was found that all turns of the loops keep", self.program.at)

    def turns(self, entry: Any, node: Loop | While, states: States, turn: Turn) -> States:
        """Find states at the head of a loop that a turn keeps; return what holds after each."""
        path = tuple(self._path)
        most = self._exact.get(node.iteration, self._asked(node))
        self._around.append(node.iteration)
        self._wanted.append(together([*self._wanted[-1], *self._turning(node)]))
        head = Head(node.iteration, most, self._wanted[-1], set(self._around))
        try:
            if self._is_recording:
                return self._recorded(entry, self._pools[path], head, states, turn)
            return self._searched(path, node, head, states, turn)
        finally:
            self._around.pop()
            self._wanted.pop()

    def _recorded(self, entry: Any, pool: Pool, head: Head, states: States, turn: Turn) -> States:
        self._is_stable &= not head.add_all(pool, states)
        entry["heads"] = [written(state) for state in pool.values()]
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
            ends = turn([s.copy() for s in pool.values()])
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
                case = end.case()
                old = self._ends[path].get(case)
                self._ends[path][case] = end.copy() if old is None else end.meet(old)
            changed = head.add_all(pool, ends, updates)
            if len(pool) > MOST_STATES:
                raise Refused("there are too many cases to tell apart", node.at)
        raise Refused("no facts were found that every iteration keeps", node.at)

    def _asked(self, node: Loop | While) -> int:
        """Return how many turns are told apart: as many as some condition on the trip asks for."""
        asked = [0]
        if isinstance(node, Loop) and not isinstance(node.trip, int):
            for steps in self.statement.engines.values():
                for step in steps_in(steps):
                    value = step.value if step.kind == "if" else 0
                    if isinstance(value, Binary) and isinstance(value.right, int):
                        if value.left == node.trip and value.operator == ">":
                            asked.append(value.right)
        return max(asked)

    def _turning(self, node: Loop | While) -> Iterator[Residue]:
        """Yield what the slots of a body turn with."""
        inner = {n.iteration for n in walk(node.body) if isinstance(n, Loop | While)}
        instrs = {instr.name for instr in instructions(node.body)}
        used = [(a.slot, self.marks.slots[a.buffer]) for a in accesses(node.body)]
        for engine, steps in self.statement.engines.items():
            for loop in steps_in(steps):
                if loop.name == node.iteration and loop.kind in ("loop", "while"):
                    steps_inside = list(steps_in(loop.bodies[0]))
                    if instrs.isdisjoint(s.name for s in steps_inside if s.kind == "issue"):
                        continue  # another loop, with an iteration of the same name
                    for step in steps_inside:
                        indices = [(w.register, w.place) for w in step.waits]
                        indices += [(step.name, step.place)] if step.kind == "assign" else []
                        for name, index in indices:
                            used.append((index, self.registers.get((engine, name), 1)))
        forms = [(linear(slot, slots), slots) for slot, slots in used]
        forms += [REMAINDERS[atom] for f, _ in forms for atom, _ in f if atom in REMAINDERS]
        for f, slots in forms:
            terms = {
                atom: n
                for atom, n in f
                if atom == node.iteration
                or (atom and not names(atom) & inner and node.iteration not in names(atom))
            }
            is_whole = len(terms) == sum(1 for atom, _ in f if atom)
            if slots > 1 and terms and (is_whole or self._is_fine):
                yield form(terms), slots

    def is_inside(self, name: str) -> bool:
        """Tell whether a name is the iteration of a loop around."""
        return name in self._around


class Course:
    """How far one block has been walked."""

    def __init__(self, planner: Planner, place: Place, order: list[Any], states: States) -> None:
        self.planner, self.place, self.order, self.states = planner, place, order, states

    def do(self, entry: Any) -> None:
        """Do one thing and write it down."""
        self.order.append(entry)
        self.states = self.planner.step(self.place, entry, self.states)

    def node(self, node: Node) -> None:
        """Come to the next node of the sequential program, and run it."""
        busy = engines_inside((node,))
        while any(self._next_shared(engine) == "barrier" for engine in busy):
            self._barrier()
        if isinstance(node, Instr):
            self._up_to(node.engine, node)
            self.do(".")
        else:
            entry = self._entry(node, busy)
            self.do(entry)
            if isinstance(node, Loop):
                self._catch_up(node, entry["engines"])
        self._count()

    def finish(self) -> None:
        """Let all engines come to the end of the block."""
        while True:
            for engine in self.place.engines:
                self._locals(engine)
            if not any(self.place.engines.values()):
                return
            self._barrier()

    def _locals(self, engine: str) -> None:
        steps = self.place.engines.get(engine, [])
        while steps and is_local(steps[0]):
            self.do(engine)

    def _next_shared(self, engine: str) -> str:
        return next((s.kind for s in self.place.engines.get(engine, []) if not is_local(s)), "")

    def _barrier(self) -> None:
        for engine in self.place.engines:
            self._locals(engine)
        self.do("|")

    def _up_to(self, engine: str, node: Node) -> None:
        """Let an engine do what it does before a node."""
        steps = self.place.engines.get(engine, [])
        if not _comes(steps, node):
            name = node.name if isinstance(node, Instr) else "this"
            raise Refused(f"{engine} does not run {name} where the program does", node.at)
        while not _runs(steps[0], node):
            self.do(engine)

    def _entry(self, node: Loop | While | If, busy: Iterable[str]) -> dict[str, Any]:
        found: list[str] = []
        read = node.control.name if node.control else ""
        for engine in self.place.engines:
            steps = self.place.engines[engine]
            if read and self._next_shared(engine) == "load":
                while is_local(steps[0]):
                    self.do(engine)
                if steps[0].name == read:
                    self.do(engine)
            if engine in busy or _comes(steps, node):
                self._up_to(engine, node)
                found.append(engine)
        if isinstance(node, If):
            return {"engines": found, "then": [], "else": []}
        return {"engines": found, "heads": [], "body": []}

    def _count(self) -> None:
        """Let all engines count what is past now, and set what they can set."""
        for engine, steps in self.place.engines.items():
            while steps and (
                steps[0].kind == "set"
                or (steps[0].kind == "assign" and self._is_past(engine, steps[0]))
            ):
                self.do(engine)

    def _is_past(self, engine: str, step: Step) -> bool:
        values = (
            self.planner.computed(state, engine, value, q)
            for state in self.states
            for q in self.planner.followed[engine, step.name]
            for value in alternatives(step.value)
        )
        return all(value.least is not None and value.least >= 0 for value in values)

    def _catch_up(self, node: Loop, inside: list[str]) -> None:
        """Let engines that passed a loop by take note of it, while its cases are apart."""
        trip = {name for atom, _ in linear(node.trip) for name in names(atom)}
        for engine, steps in self.place.engines.items():
            while engine not in inside and steps and is_local(steps[0]):
                if not self._is_behind(engine, trip):
                    break
                self.do(engine)
        for name in sorted(trip):
            if not self.planner.is_inside(name) and any(name in s.bounds for s in self.states):
                self.do(f"forget {name}")

    def _is_behind(self, engine: str, trip: set[str]) -> bool:
        return any(
            key[0] == engine and value.distance and trip & {atom for atom, _ in value.distance}
            for state in self.states
            for key, value in state.values.items()
        )


def is_local(step: Step) -> bool:
    """Tell whether a step concerns its engine only."""
    if step.kind == "if" and step.load is None:
        return all(is_local(inner) for body in step.bodies for inner in body)
    return step.kind in ("assign", "waits", "set", "take")


def _comes(steps: Iterable[Step], node: Node) -> bool:
    """Tell whether an engine runs a node next, after what it does on its own."""
    for step in steps:
        if _runs(step, node):
            return True
        if not is_local(step):
            return False
    return False


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
