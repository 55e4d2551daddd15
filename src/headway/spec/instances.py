"""The sequential reference: the instances of a program, in the order in which they take effect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from headway.errors import Diagnostic, InvalidInput, Location, OverLimit
from headway.ir.atoms import Atoms
from headway.ir.expr import Expr, Inputs, evaluate
from headway.ir.program import (
    Access,
    ControlRead,
    If,
    Instr,
    Loop,
    Node,
    Program,
    While,
    control_counter,
)
from headway.ir.walk import branches, deep_nests, engines_inside

MAX_INSTANCES = 2_000_000
"""Instances of a run, which are all kept in memory: about 1 GB."""


class Cell(NamedTuple):
    """A piece of memory: accesses conflict if they share a cell and one of them writes."""

    buffer: str
    slot: int
    atom: int


class Instance(NamedTuple):
    """One execution of an instruction, or of a control read by one engine."""

    node: Instr | ControlRead
    engine: str
    counter: str
    position: int  # its number, from 1, among the instances of its counter
    iteration: tuple[int, ...]  # of the enclosing loops, outermost first
    reads: tuple[Cell, ...]
    writes: tuple[Cell, ...]

    def __str__(self) -> str:
        return f"{self.node.name}[{','.join(map(str, self.iteration))}]"


Readers = Callable[[Loop | While | If], Iterable[str]]


def readers_inside(node: Loop | While | If) -> Iterable[str]:
    """Return the engines that cannot go on without the decision: those with work inside."""
    return frozenset[str]().union(*(engines_inside(part) for part in branches(node)))


def instances(
    program: Program,
    inputs: Inputs,
    readers: Readers = readers_inside,
    limit: int = MAX_INSTANCES,
) -> list[Instance]:
    """Unroll a program for given inputs.

    `readers` names the engines that load a control value that lies in memory.
    Raise InvalidInput on a missing input, a negative trip count, a slot that does not exist, or
    more than `limit` instances and iterations (a loop that does not end).
    """
    unrolled = _Unrolled(program, inputs, readers, limit)
    with deep_nests():
        unrolled.run(program.body)
    return unrolled.instances


class _Unrolled:
    def __init__(self, program: Program, inputs: Inputs, readers: Readers, limit: int) -> None:
        self.instances: list[Instance] = []
        self._program = program
        self._inputs = inputs
        self._readers = readers
        self._left = limit
        self._limit = limit
        self._atoms = Atoms(program)
        self._slots = {buffer.name: buffer.slots for buffer in program.buffers}
        self._iterations: dict[str, int] = {}
        self._position: defaultdict[str, int] = defaultdict(int)

    def run(self, body: tuple[Node, ...]) -> None:
        for node in body:
            match node:
                case Instr():
                    self._add(node, node.engine, node.counter, node.reads, node.writes)
                case Loop():
                    self._loop(node)
                case While():
                    self._while(node)
                case If():
                    self._control(node)
                    self.run(node.then if self._value(node.condition, node.at) else node.orelse)

    def _loop(self, node: Loop) -> None:
        self._control(node)
        trip = self._value(node.trip, node.at)
        if trip < 0:
            raise negative_trip(node, trip)
        self._count(node.at, 0, ahead=trip * (1 + sum(isinstance(x, Instr) for x in node.body)))
        for i in range(trip):
            self._turn(node, i)
        self._iterations.pop(node.iteration, None)

    def _while(self, node: While) -> None:
        turn = 0
        while True:
            self._iterations[node.iteration] = turn
            self._control(node)
            if not self._value(node.condition, node.at):
                break
            self._turn(node, turn)
            turn += 1
        self._iterations.pop(node.iteration, None)

    def _turn(self, node: Loop | While, number: int) -> None:
        self._count(node.at)
        self._iterations[node.iteration] = number
        self.run(node.body)

    def _control(self, node: Loop | While | If) -> None:
        if node.control is None:
            return
        readers = frozenset(self._readers(node))
        for engine in self._program.hosts:
            if engine in readers:
                counter = control_counter(engine)
                self._add(node.control, engine, counter, node.control.reads, ())

    def _add(
        self,
        node: Instr | ControlRead,
        engine: str,
        counter: str,
        reads: tuple[Access, ...],
        writes: tuple[Access, ...],
    ) -> None:
        self._count(node.at)
        self._position[counter] += 1
        self.instances.append(
            Instance(
                node,
                engine,
                counter,
                self._position[counter],
                tuple(self._iterations.values()),
                self._cells(node, reads),
                self._cells(node, writes),
            )
        )

    def _cells(self, node: Instr | ControlRead, accesses: Sequence[Access]) -> tuple[Cell, ...]:
        return tuple(
            Cell(access.buffer, slot, atom)
            for access in accesses
            for slot in (self._slot(node, access),)
            for atom in self._atoms.of(access)
        )

    def _slot(self, node: Instr | ControlRead, access: Access) -> int:
        slot = self._value(access.slot, node.at)
        if 0 <= slot < self._slots[access.buffer]:
            return slot
        slots = self._slots[access.buffer]
        raise no_slot(node, access.buffer, slot, slots, self._iterations)

    def _value(self, expr: Expr, at: Location | None) -> int:
        return evaluate(expr, self._iterations, self._inputs, at=at)

    def _count(self, at: Location | None, amount: int = 1, ahead: int = 0) -> None:
        """Count instances and iterations; `ahead` of here there are at least so many more."""
        self._left -= amount
        if self._left < ahead:
            raise over_limit(self._limit, at)


def negative_trip(node: Loop, trip: int) -> InvalidInput:
    """Return the error of a loop that would run less than zero times."""
    return InvalidInput(
        Diagnostic(
            f"loop {node.iteration!r} would run {trip} times",
            node.at,
            rule="a trip count is 0 or more",
            help=f"check the run-time inputs of {str(node.trip)!r}",
        )
    )


def no_slot(
    node: Instr | ControlRead, buffer: str, slot: int, slots: int, iterations: Mapping[str, int]
) -> InvalidInput:
    """Return the error of an access to a slot that its buffer does not have."""
    where = ", ".join(f"{name} = {value}" for name, value in iterations.items())
    return InvalidInput(
        Diagnostic(
            f"{node.name!r} accesses slot {slot} of {buffer!r}"
            + (f" where {where}" if where else ""),
            node.at,
            rule=f"{buffer!r} has slots 0 to {slots - 1}",
            help=f"give the buffer more slots, or write '% {slots}'",
        )
    )


def over_limit(limit: int, at: Location | None) -> OverLimit:
    """Return the error of a program that is too long to be unrolled; `at` is a place in it."""
    return OverLimit(
        Diagnostic(
            f"more than {limit:,} instances and iterations",
            at,
            rule="a program ends, and is small enough to be unrolled",
            help="check the trip counts and conditions, or choose smaller inputs",
        )
    )
