"""Check a certificate: run all engines jointly in the order it gives, from the states it gives.

Nothing is searched and nothing believed. The order has to run each engine program and the
sequential program as they are written. The states at the head of a loop have to hold where it is
entered and again after each turn; the rest is followed step by step. On the way every conflicting
access before an instance has to be complete, and every wait has to ask for the past: then no
instance is early, and the engine that comes first in the joint order can always go on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from headway.certify.cases import decided, follows, has_left, may_turn, merged
from headway.certify.state import State, States, Value, form
from headway.certify.statement import Gap, Instance, Refused, Step
from headway.certify.steps import Steps
from headway.errors import Location
from headway.ir.expr import Expr
from headway.ir.program import If, Instr, Loop, Node, While
from headway.ir.walk import instructions

Turn = Callable[[States], States]


class Place:
    """Where everybody stands in one block."""

    def __init__(self, body: Iterable[Node], engines: dict[str, tuple[Step, ...]]) -> None:
        self.body, self.engines = list(body), {e: list(steps) for e, steps in engines.items()}
        self.loaded: set[str] = set()

    def next(self, engine: str, kind: str, at: Location | None = None) -> Step:
        """Let an engine go on, by a step of that kind."""
        steps = self.engines.get(engine)
        if not steps or steps[0].kind not in kind.split():
            raise Refused(f"{engine} does not come to this {kind.split()[-1]} here", at)
        return steps.pop(0)


class Walk(Steps):
    """See the module."""

    def run(self, order: list[Any]) -> None:
        """Walk the whole program; note what is found out on the way."""
        place = Place(self.program.body, self.statement.engines)
        if place.engines.keys() != set(self.program.hosts):
            raise Refused("some engine has no program", self.program.at)
        for instr in instructions(self.program.body):
            if instr.silent or instr.fused:
                mark = "silent" if instr.silent else "fused"
                raise Refused(f"{instr.name} is {mark}, which is not followed", instr.at)
        for state in self.block(place, order, [self.beginning()]):
            for engine, name, _, q in self.keys:
                if name == f"take {q}" and state.values[engine, name, 0, q].distance != ():
                    self.gaps[Gap(f"tokens of {q} may be left at the end")] = None

    def block(self, place: Place, order: list[Any], states: States) -> States:
        """Walk one block in its order, to its end."""
        for entry in order:
            states = self.step(place, entry, states)
        for what in [*place.body, *(step for steps in place.engines.values() for step in steps)]:
            raise Refused("the order leaves this out", what.at)
        return states

    def step(self, place: Place, entry: Any, states: States) -> States:
        """Do one thing: what an engine does on its own, or what all agree on."""
        if isinstance(entry, dict):
            return self.control(place, entry, states)
        if entry == "|":
            for engine in self.program.hosts:
                place.next(engine, "barrier")
            return [self._complete(state) for state in states]
        if entry == ".":
            node = place.body.pop(0) if place.body else None
            if not isinstance(node, Instr):
                raise Refused("the order has an instruction here, and the program has not")
            step = place.next(node.engine, "issue", node.at)
            if step.name != node.name:
                raise Refused(f"{node.engine} does not run {node.name} here", node.at)
            return self.issue(
                Instance(
                    node.name,
                    node.engine,
                    node.counter,
                    node.reads,
                    node.writes,
                    step.waits,
                    node.at,
                ),
                states,
            )
        if entry.startswith("forget "):
            return merged(states, entry.removeprefix("forget "))
        step = place.next(entry, "assign waits set take load if")
        if step.kind == "load":
            node = place.body[0] if place.body else None
            if (
                node is None
                or isinstance(node, Instr | While)
                or not node.control
                or node.control.name != step.name
                or entry in place.loaded
            ):
                raise Refused(f"{entry} loads {step.name} later than the program does", step.at)
            place.loaded.add(entry)
            return self.load(entry, node.control, step, states)
        return self.local(entry, step, states)

    # Control

    def control(self, place: Place, entry: Any, states: States) -> States:
        """Run a loop, a while or an if that all named engines take part in."""
        node = place.body.pop(0) if place.body else None
        if node is None or isinstance(node, Instr):
            raise Refused("the order has a loop or an if here, and the program has not")
        kind = type(node).__name__.lower()
        name, value = ("", node.condition) if isinstance(node, If) else _head(node)
        found = {e: place.next(e, kind, node.at) for e in dict.fromkeys(entry["engines"])}
        for engine, step in found.items():
            if (step.name, step.value) != (name, value):
                raise Refused(f"{engine} does not run this {kind} as the program does", node.at)
        loaded = frozenset(place.loaded)
        place.loaded.clear()

        def loads(states: States) -> States:
            if node.control is None:
                if any(step.load for step in found.values()):
                    raise Refused("an engine loads what the program does not", node.at)
                return states
            for engine in sorted(self.marks.loaders[node.control.name] | found.keys()):
                step = found.get(engine)
                if engine not in loaded and step and step.load:
                    if step.load.name != node.control.name:
                        raise Refused(f"{engine} loads {step.load.name} here", node.at)
                    states = self.load(engine, node.control, step.load, states)
                elif engine not in loaded or (step and step.load):
                    raise Refused(f"{engine} does not load {node.control.name} here", node.at)
            return states

        def inside(which: int, body: Iterable[Node], order: list[Any], states: States) -> States:
            engines = {e: step.bodies[which] for e, step in found.items()}
            return self.block(Place(body, engines), order, states) if states else []

        if isinstance(node, If):
            states = loads(states)
            yes = [s.copy() for s in states if decided(s, node.condition) is not False]
            no = [s for s in states if decided(s, node.condition) is not True]
            ends = inside(0, node.then, entry["then"], yes)
            return merged(ends + inside(1, node.orelse, entry["else"], no))
        if isinstance(node, Loop):
            states = loads(states)
        trip = node.trip if isinstance(node, Loop) else None

        def turn(states: States) -> States:
            if isinstance(node, While):
                states = loads(states)
            starts = [s for s in states if trip is None or may_turn(s, node.iteration, trip)]
            for state in (ends := inside(0, node.body, entry["body"], starts)):
                low, high = state.bounds[node.iteration]
                state.replace(node.iteration, form({node.iteration: 1, "": -1}))
                state.bounds[node.iteration] = low + 1, None if high is None else high + 1
            return ends

        for state in states:
            state.bounds[node.iteration] = 0, 0
        states = states + self.turns(entry, node, states, turn)
        if isinstance(node, While):
            states = loads(states)
        return merged(s for s in states if has_left(s, node.iteration, trip))

    def turns(self, entry: Any, node: Loop | While, states: States, turn: Turn) -> States:
        """Return what holds after each turn, if what is claimed of the loop holds before each."""
        heads = [self.read(data) for data in entry["heads"]]
        for state in states:
            if not follows(state, heads):
                raise Refused("what is claimed of this loop is not so when it is entered", node.at)
        ends = turn([head.copy() for head in heads])
        for state in ends:
            if not follows(state, heads):
                raise Refused("what is claimed of this loop is not kept by a turn", node.at)
        return ends

    def read(self, data: Any) -> State:
        """Return a state that is written down."""
        state = self.beginning()
        state.bounds = {name: (low, high) for name, (low, high) in data["bounds"].items()}
        state.residues = {form(f): (slots, n) for f, slots, n in data["residues"]}
        state.known = {holder: int(data["known"].get(holder, "0"), 16) for holder in state.known}
        for table, given in ((state.told, data["told"]), (state.recent, data["recent"])):
            for q in table:
                table[q] = {int(age): int(m, 16) for age, m in given.get(q, {}).items()}
        state.values = dict.fromkeys(state.values, Value())
        for *key, distance, least, told, after in data["values"]:
            value = Value(
                None if distance is None else form(distance), least, int(told, 16), int(after, 16)
            )
            state.values[tuple(key)] = value
        return state


def _head(node: Loop | While) -> tuple[str, Expr]:
    return node.iteration, node.trip if isinstance(node, Loop) else node.condition
