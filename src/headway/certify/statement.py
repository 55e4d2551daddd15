"""What a certificate is about, as plain data: a sequential program and what each engine does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from headway.errors import Location
from headway.ir.expr import Expr
from headway.ir.program import ControlRead, If, Instr, Loop, Node, Program, While
from headway.ir.walk import walk


class Refused(Exception):
    """A proof does not go through: the reason, and the place."""

    def __init__(self, reason: str, at: Location | None = None) -> None:
        super().__init__(reason)
        self.reason, self.at = reason, at


class Gap(NamedTuple):
    """Where a proof has a hole, and why."""

    reason: str
    at: Location | None = None


class Sum(NamedTuple):
    """The value of a register ("" is 0), at `place` of its row, plus `rest`."""

    register: str = ""
    place: Expr = 0
    rest: Expr = 0


class Wait(NamedTuple):
    """Stand still until `counter` has reached `value`."""

    counter: str
    value: Sum
    text: str
    at: Location | None = None


class Step(NamedTuple):
    """What an engine does next.

    assign   set register `name`, at `place` of its row, to the largest of `values` (none: unknown)
    waits    `waits`
    issue    the instruction `name`, after `waits`
    load     the control value `name`, after `waits`
    barrier  meet the others
    set      add a token to flag `name`; take: take one
    loop, while, if   run `bodies` as `value` says
    """

    kind: str
    name: str = ""
    place: Expr = 0
    value: Expr = 0
    values: tuple[Sum, ...] = ()
    waits: tuple[Wait, ...] = ()
    bodies: tuple[tuple[Step, ...], ...] = ()
    at: Location | None = None


class Flag(NamedTuple):
    """Whoever takes a token knows all that `counter` has been given before it was set.

    It has room for `holds` tokens; 0: for any number.
    """

    counter: str
    engine: str
    holds: int = 0


Bodies = dict[str, tuple[Step, ...]]


class Statement(NamedTuple):
    """A sequential program, engine programs, and by engine and name how long each row is."""

    program: Program
    engines: Bodies
    registers: dict[tuple[str, str], int]
    flags: dict[str, Flag]


class Block:
    """Where everybody stands in one block; at its end a `while` may read `again`."""

    def __init__(
        self,
        body: Iterable[Node],
        engines: Bodies,
        again: ControlRead | None = None,
    ) -> None:
        self.body, self.engines = list(body), {e: list(steps) for e, steps in engines.items()}
        self._again, self._loaded = again, set[str]()
        # By engine, control values of loops and ifs before that it may still load: it has done
        # nothing inside others since, and nobody has written what they read.
        self._open: dict[str, list[ControlRead]] = {engine: [] for engine in engines}

    def next(self, engine: str, kinds: str, at: Location | None = None) -> Step:
        """Let an engine go on, by a step of those kinds."""
        steps = self.engines.get(engine)
        if not steps or steps[0].kind not in kinds.split():
            raise Refused(f"{engine} does not come to this {kinds.split()[-1]} here", at)
        return steps.pop(0)

    def instruction(self) -> tuple[Instr, Step]:
        """Come to the next instruction of the sequential program, which its engine issues."""
        node = self.body.pop(0) if self.body else None
        if not isinstance(node, Instr):
            raise Refused("the order has an instruction here, and the program has not")
        step = self.next(node.engine, "issue", node.at)
        if step.name != node.name:
            raise Refused(f"{node.engine} does not run {node.name} here", node.at)
        self._pass(node, ())
        return node, step

    def reads(self, name: str) -> ControlRead | None:
        """Return the control value of what comes next, if it has that name."""
        node = self.body[0] if self.body else None
        read = self._again if node is None else None if isinstance(node, Instr) else node.control
        return read if read and read.name == name else None

    def loads(self, engine: str, step: Step) -> ControlRead:
        """Let an engine load the control value of what comes next, once; or a value before."""
        if late := self.late(engine, step.name):
            passed = self._open[engine]
            self._open[engine] = passed[passed.index(late) + 1 :]
            return late
        read, self._open[engine] = self.reads(step.name), []  # one load comes after the other
        if read is None or engine in self._loaded:
            raise Refused(f"{engine} loads {step.name} later than the program does", step.at)
        self._loaded.add(engine)
        return read

    def late(self, engine: str, name: str) -> ControlRead | None:
        """Return the control value of that name if it was left behind and can still be loaded."""
        return next((read for read in self._open.get(engine, ()) if read.name == name), None)

    def ending(self, engine: str, node: Node) -> set[str]:
        """Return the control values left behind that an engine cannot load behind a node."""
        written = _written(node)
        return {r.name for r in self._open.get(engine, ()) if not written.isdisjoint(_read(r))}

    def _pass(self, node: Node, engines: Iterable[str]) -> None:
        """Leave a node behind, in which those engines take part."""
        if isinstance(node, Loop | If) and node.control:
            for engine in self._open.keys() - self._loaded:
                self._open[engine].append(node.control)
        for engine, reads in self._open.items():
            ending = self.ending(engine, node)
            kept = [read for read in reads if read.name not in ending]
            self._open[engine] = [] if engine in engines else kept

    def enter(self, engines: Iterable[str]) -> tuple[Loop | While | If, list[Bodies]]:
        """Come to the next loop or if, with those engines; return what they run inside."""
        node = self.body.pop(0) if self.body else None
        if node is None or isinstance(node, Instr):
            raise Refused("the order has a loop or an if here, and the program has not")
        kind, name = type(node).__name__.lower(), "" if isinstance(node, If) else node.iteration
        value = node.trip if isinstance(node, Loop) else node.condition
        found = {engine: self.next(engine, kind, node.at) for engine in dict.fromkeys(engines)}
        for engine, step in found.items():
            if (step.name, step.value) != (name, value):
                raise Refused(f"{engine} does not run this {kind} as the program does", node.at)
            if node.control and engine not in self._loaded:
                raise Refused(f"{engine} does not load {node.control.name} here", node.at)
        self._pass(node, found)
        self._loaded.clear()
        which = range(2 if isinstance(node, If) else 1)
        return node, [{e: step.bodies[i] for e, step in found.items()} for i in which]

    def end(self) -> None:
        """Come to the end of the block: nothing is left, and all have read `again`."""
        for what in [*self.body, *(step for steps in self.engines.values() for step in steps)]:
            raise Refused("the order leaves this out", what.at)
        if self._again and self._loaded != self.engines.keys():
            raise Refused(f"some engine does not load {self._again.name} again", self._again.at)


def _written(node: Node) -> set[str]:
    return {a.buffer for n in walk((node,)) if isinstance(n, Instr) for a in n.writes}


def _read(control: ControlRead) -> set[str]:
    return {access.buffer for access in control.reads}


def steps_in(steps: Iterable[Step]) -> Iterator[Step]:
    """Yield every step, those inside others too."""
    for step in steps:
        yield step
        for body in step.bodies:
            yield from steps_in(body)
