"""Random valid programs that use every form of the language."""

import random

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
    Work,
)

SLOTS, EXTENT = 4, 64


class RandomProgram:
    """Makes one program from one seed."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        self._steps = 0

    def program(self) -> Program:
        pipelined = self._rng.random() < 0.5
        body = (self._instr(()), *self._body((), 3))
        return Program(
            f"random-{self._steps}",
            body,
            (InputDecl("n"), InputDecl("m", is_list=True)),
            (Engine("A", pipelined), Engine("B.0"), Engine("unused")),
            (Queue("Q", "A"), Queue("loop", "B.0", pipelined)),
            (Buffer("b", SLOTS, (EXTENT, 2 * EXTENT), "sbuf"), Buffer("input", SLOTS)),
        )

    def _name(self) -> str:
        self._steps += 1
        return self._rng.choice(("load.{}", "x{}", "_{}", "exec.a.{}")).format(self._steps)

    def _body(self, around: tuple[str, ...], depth: int) -> tuple[Node, ...]:
        return tuple(self._node(around, depth) for _ in range(self._rng.randint(0, 3)))

    def _node(self, around: tuple[str, ...], depth: int) -> Node:
        kind = self._rng.randint(0, 5) if depth else 0
        iteration = f"i{len(around)}"
        inside = (*around, iteration)
        if kind == 1:
            trip: Expr = self._rng.choice((0, 3, self._expr(around, 2)))
            trip = max(trip, 0) if isinstance(trip, int) else trip
            return Loop(iteration, trip, self._body(inside, depth - 1), self._control(around))
        if kind == 2:
            condition = Binary("<", Iteration(iteration), self._expr(around, 2))
            body = self._body(inside, depth - 1)
            return While(iteration, condition, body, self._control(around))
        if kind == 3:
            then, orelse = self._body(around, depth - 1), self._body(around, depth - 1)
            return If(self._expr(around, 3), then, orelse, self._control(around))
        return self._instr(around)

    def _control(self, around: tuple[str, ...]) -> ControlRead | None:
        if self._rng.random() < 0.6:
            return None
        return ControlRead(self._name(), (self._access(around),))

    def _instr(self, around: tuple[str, ...]) -> Instr:
        engine, own = self._rng.choice((("A", "Q"), ("B.0", "loop")))
        queue = self._rng.choice((None, own))
        reads = tuple(self._access(around) for _ in range(self._rng.randint(0, 2)))
        writes = tuple(self._access(around) for _ in range(self._rng.randint(0, 2)))
        return Instr(self._name(), engine, queue, reads, writes, self._cost())

    def _cost(self) -> Takes | Work | None:
        rng = self._rng
        return rng.choice(
            (
                None,
                Takes(rng.choice((0, 5, 2.5, 1e-7, 1e22)), rng.choice((0, 1, 2.5))),
                Takes(10, 10),
                Work("dma", 0, rng.randint(0, 9), "float32", rng.choice(("", "load", "copy"))),
                Work("nisa.exp", rng.randint(0, 2048), dtype="bfloat16"),
            )
        )

    def _access(self, around: tuple[str, ...]) -> Access:
        slot: Expr = self._rng.randrange(SLOTS)
        if around and self._rng.random() < 0.5:
            slot = Binary("%", self._expr(around, 2), SLOTS)
        if self._rng.random() < 0.5:
            return Access("input", slot)
        low = self._rng.randrange(EXTENT)
        high: Expr = self._rng.randint(low + 1, EXTENT)
        if around and self._rng.random() < 0.3:
            high = Binary("+", Iteration(around[-1]), 1)
        return Access("b", slot, ((low, high), (low, 2 * EXTENT)))

    def _expr(self, around: tuple[str, ...], depth: int) -> Expr:
        rng = self._rng
        leaves: list[Expr] = [Input("n"), Input("m", 1), *map(Iteration, around)]
        if depth == 0:
            return rng.choice(leaves)
        operator = rng.choice(("or", "and", "==", "<", ">=", "+", "-", "*", "//", "%", "min"))
        right = rng.randint(1, 9) if rng.random() < 0.5 else self._expr(around, depth - 1)
        return Binary(operator, self._expr(around, depth - 1), right)
