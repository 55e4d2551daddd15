"""Random programs by seed: what the property tests and `headway fuzz` feed to the judge.

Nests to depth 5 with static and run-time trip counts, zero among them, that may depend on outer
iterations; ifs and whiles; rotating buffers with strides and two indices; boxes that overlap in
part; queues and pipelined engines; optionally control values that lie in memory, bands (slots of
which some instructions touch several next to each other) and walks (nests that touch each slot of
a buffer once, in some order), as kernels have them that cut matrices into tiles.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from headway.errors import InvalidInput
from headway.ir.expr import Binary, Expr, Input, Iteration
from headway.ir.program import (
    Access,
    Buffer,
    ControlRead,
    Engine,
    If,
    InputDecl,
    Instr,
    Loop,
    Node,
    Program,
    Queue,
    Takes,
    While,
)
from headway.ir.walk import deep_nests
from headway.spec import instances, required

MAX_DEPTH = 5
"""Loops and ifs inside each other."""
LIST_LENGTH = 7
"""Elements of an input that is a list."""
BAND = 2
"""Slots in a row that one instruction accesses, where buffers are accessed in bands."""
LATENCIES = (1, 5, 10, 20, 50)


@dataclass(frozen=True, slots=True)
class Shape:
    """How large and how odd a random program is; `silent` and what follows it are shares.

    `relapses` is that of the while loops whose condition would hold again after it has ended them.
    """

    instructions: int = 16
    instances: int = 1000
    control_in_memory: bool = False
    silent: float = 0
    fused: float = 0
    bands: float = 0
    walks: float = 0
    relapses: float = 0


class Case(NamedTuple):
    """A random program with inputs that fit it."""

    seed: int
    program: Program
    inputs: dict[str, int | list[int]]


def generate(seed: int, shape: Shape | None = None) -> Case:
    """Return the program of a seed; the same for ever, on every machine."""
    shape = shape or Shape()
    for attempt in range(100):
        dice = random.Random(f"{seed}/{attempt}")
        case = _Generator(seed, dice, shape).case()
        if _is_worth_it(case, shape):
            return case
    raise AssertionError(f"seed {seed} gives no program of at most {shape.instances} instances")


def _is_worth_it(case: Case, shape: Shape) -> bool:
    """Tell whether a program is short enough and has something to wait for."""
    try:
        short = instances(case.program, case.inputs, limit=shape.instances)
    except InvalidInput:
        return False
    return bool(short) and any(needed for _, needed in required(case.program, case.inputs))


def with_random_durations(program: Program, dice: random.Random) -> Program:
    """Return a bound program whose instructions take other times, 1 to 1,000 ns.

    What is pipelined starts its next instruction somewhere within the latency. Whole numbers keep
    every sum of times exact.
    """
    pipelined = {x.name for x in (*program.engines, *program.queues) if x.pipelined}

    def rolled(node: Node) -> Node:
        match node:
            case Instr():
                latency = dice.randint(1, 10) * dice.choice((1, 10, 100))
                occupancy = dice.randint(1, latency) if node.counter in pipelined else latency
                return replace(node, cost=Takes(latency, occupancy))
            case Loop() | While():
                return replace(node, body=tuple(map(rolled, node.body)))
            case If():
                then, orelse = map(rolled, node.then), map(rolled, node.orelse)
                return replace(node, then=tuple(then), orelse=tuple(orelse))

    with deep_nests():
        return replace(program, body=tuple(map(rolled, program.body)))


class _Generator:
    def __init__(self, seed: int, dice: random.Random, shape: Shape) -> None:
        self.seed, self.dice, self.shape = seed, dice, shape
        self.left = dice.randint(2, shape.instructions)
        self.names = 0
        self.inputs: dict[str, int | list[int]] = {}
        self.engines = tuple(
            Engine(name, dice.random() < 0.3) for name in "ABC"[: dice.randint(2, 3)]
        )
        self.queues = tuple(
            Queue(f"Q{i}", dice.choice(self.engines).name, dice.random() < 0.4)
            for i in range(dice.randint(0, 2))
        )
        self.buffers = tuple(self._buffer(name) for name in "abcd"[: dice.randint(1, 4)])

    def case(self) -> Case:
        body = self._body(1, ())
        while self.left > 0:
            body += self._body(1, ())
        inputs = tuple(InputDecl(n, isinstance(v, list)) for n, v in self.inputs.items())
        name = f"seed_{self.seed}"
        program = Program(name, body, inputs, self.engines, self.queues, self.buffers)
        return Case(self.seed, program, self.inputs)

    def _buffer(self, name: str) -> Buffer:
        shape = self.dice.choice(((), (), (), (16,), (4, 8)))
        slots = (4, 6) if self.shape.bands or self.shape.walks else (1, 1, 2, 2, 3)
        return Buffer(name, self.dice.choice(slots), shape)

    def _body(self, depth: int, loops: tuple[str, ...]) -> tuple[Node, ...]:
        found = (self._node(depth, loops) for _ in range(self.dice.randint(1, 3)) if self.left > 0)
        return tuple(self._with_regions(list(found))) if self.shape.fused else tuple(found)

    def _with_regions(self, nodes: list[Node]) -> Iterator[Node]:
        """Fuse some instructions with the one before on their engine, if that is of one counter."""
        last: dict[str, Instr] = {}
        for node in nodes:
            if isinstance(node, Instr):
                before = last.get(node.engine)
                if before and before.counter == node.counter:
                    node = replace(node, fused=self.dice.random() < self.shape.fused)
                last[node.engine] = node
            else:
                last.clear()
            yield node

    def _node(self, depth: int, loops: tuple[str, ...]) -> Node:
        kinds: tuple[Callable[[int, tuple[str, ...]], Node], ...] = (
            self._loop,
            self._loop,
            self._if,
            self._while,
        )
        if self.shape.walks and depth < MAX_DEPTH and self.dice.random() < self.shape.walks:
            return self._walk(loops)
        if depth <= MAX_DEPTH and self.dice.random() < 0.45:
            return self.dice.choice(kinds)(depth, loops)
        return self._instr(loops)

    def _instr(self, loops: tuple[str, ...]) -> Instr:
        self.left -= 1
        dice = self.dice
        queue = dice.choice(self.queues) if self.queues and dice.random() < 0.35 else None
        engine = queue.host if queue else dice.choice(self.engines).name
        counter = queue or next(e for e in self.engines if e.name == engine)
        latency = dice.choice(LATENCIES)
        occupancy = dice.randint(1, latency) if counter.pipelined else latency
        reads = self._accesses(dice.choice((0, 1, 1, 2)), loops)
        writes = self._accesses(dice.choice((0, 1, 1)), loops)
        name = self._name("x")
        queue_name = queue.name if queue else None
        silent = self.shape.silent > 0 and dice.random() < self.shape.silent
        return Instr(name, engine, queue_name, reads, writes, Takes(latency, occupancy), silent)

    def _accesses(self, count: int, loops: tuple[str, ...]) -> tuple[Access, ...]:
        return tuple(access for _ in range(count) for access in self._touched(loops))

    def _touched(self, loops: tuple[str, ...]) -> tuple[Access, ...]:
        """Return one access, or accesses to all slots of a band: a tile that is cut into parts."""
        access = self._access(loops)
        slots = next(b.slots for b in self.buffers if b.name == access.buffer)
        if not self.shape.bands or slots % BAND or self.dice.random() >= self.shape.bands:
            return (access,)
        turn = self._slot(slots // BAND, loops)
        first = Binary("*", turn, BAND)
        places = (first, *(Binary("+", first, number) for number in range(1, BAND)))
        return tuple(replace(access, slot=place) for place in places)

    def _access(self, loops: tuple[str, ...]) -> Access:
        buffer = self.dice.choice(self.buffers)
        box = None
        if buffer.shape and self.dice.random() < 0.7:
            box = tuple(self._interval(extent, loops) for extent in buffer.shape)
        return Access(buffer.name, self._slot(buffer.slots, loops), box)

    def _interval(self, extent: int, loops: tuple[str, ...]) -> tuple[Expr, Expr]:
        low = self.dice.randrange(extent)
        high = self.dice.randint(low + 1, extent)
        if loops and self.dice.random() < 0.1:  # a run-time bound: touches the whole slot
            return Binary("%", Iteration(loops[-1]), high), high
        return low, high

    def _slot(self, slots: int, loops: tuple[str, ...]) -> Expr:
        if slots == 1:
            return 0
        if not loops or self.dice.random() < 0.2:
            return self.dice.randrange(slots)
        slot: Expr = self._scaled(self.dice.choice(loops))
        if self.dice.random() < 0.2:
            slot = Binary("+", slot, self._scaled(self.dice.choice(loops)))
        if self.dice.random() < 0.4:
            slot = Binary("+", slot, self.dice.randint(1, 3))
        return Binary("%", slot, slots)

    def _scaled(self, loop: str) -> Expr:
        stride = self.dice.choice((1, 1, 1, 2))
        return Iteration(loop) if stride == 1 else Binary("*", stride, Iteration(loop))

    def _loop(self, depth: int, loops: tuple[str, ...]) -> Loop:
        name = self._name("i")
        trip: Expr = self.dice.choice((1, 2, 2, 3, 4))
        control = None
        if self.dice.random() < 0.6:
            trip = self._table(3, loops)
            control = self._control(loops)
        elif loops and self.dice.random() < 0.3:
            trip = Binary("+", Iteration(loops[-1]), self.dice.randint(0, 1))
        return Loop(name, trip, self._body(depth + 1, (*loops, name)), control)

    def _walk(self, loops: tuple[str, ...]) -> Node:
        """Return a nest that touches each slot of a buffer once, in some order."""
        buffer = self.dice.choice(self.buffers)
        inner = self.dice.choice([n for n in range(1, buffer.slots + 1) if buffer.slots % n == 0])
        outer, name = self._name("i"), self._name("i")
        slot = Binary("+", Binary("*", Iteration(outer), inner), Iteration(name))
        body: tuple[Node, ...] = ()
        while not body or (self.left > 0 and self.dice.random() < 0.3):
            body += (self._touching(Access(buffer.name, slot), (*loops, outer, name)),)
        nest = [(outer, buffer.slots // inner), (name, inner)]
        self.dice.shuffle(nest)
        for loop, trip in nest:
            body = (Loop(loop, trip, body),)
        return body[0]

    def _touching(self, access: Access, loops: tuple[str, ...]) -> Instr:
        instr = self._instr(loops)
        if self.dice.random() < 0.4:
            return replace(instr, reads=(*instr.reads, access))
        return replace(instr, writes=(*instr.writes, access))

    def _while(self, depth: int, loops: tuple[str, ...]) -> While:
        name = self._name("t")
        condition: Expr
        if self.shape.relapses and self.dice.random() < self.shape.relapses:
            condition = self._relapse(name)
        else:
            condition = Binary("<", Iteration(name), self._table(3, loops))
        control = self._control(loops)
        return While(name, condition, self._body(depth + 1, (*loops, name)), control)

    def _relapse(self, loop: str) -> Expr:
        """Return a condition that fails within four turns and may hold in later ones."""
        name, turns = self._name("n"), self.dice.randint(0, 3)
        later = [self.dice.randint(0, 1) for _ in range(LIST_LENGTH - turns - 1)]
        self.inputs[name] = [*[1] * turns, 0, *later]
        return Input(name, Binary("%", Iteration(loop), LIST_LENGTH))

    def _if(self, depth: int, loops: tuple[str, ...]) -> If:
        condition = self._table(1, loops)
        control = self._control(loops)
        then = self._body(depth + 1, loops)
        orelse = self._body(depth + 1, loops) if self.dice.random() < 0.5 else ()
        return If(condition, then, orelse, control)

    def _control(self, loops: tuple[str, ...]) -> ControlRead | None:
        if not self.shape.control_in_memory or self.dice.random() < 0.5:
            return None
        return ControlRead(self._name("load"), (self._access(loops),))

    def _table(self, most: int, loops: tuple[str, ...]) -> Expr:
        """Return a run-time value from 0 to `most` that may depend on the outer iterations."""
        name = self._name("n")
        if not loops or self.dice.random() < 0.4:
            self.inputs[name] = self.dice.randint(0, most)
            return Input(name)
        self.inputs[name] = [self.dice.randint(0, most) for _ in range(LIST_LENGTH)]
        index: Expr = Iteration(loops[-1])
        for loop in loops[:-1]:
            index = Binary("+", Binary("*", 3, Iteration(loop)), index)
        return Input(name, Binary("%", index, LIST_LENGTH))

    def _name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"
