"""Registers that only count, computed from iterations and inputs where they are read.

    shadow.q := shadow.q + 2             threshold.1 := 2 * i + 1
    threshold.1 := shadow.q - 1    ->    mm waits q >= threshold.1
    mm waits q >= threshold.1

Exact: the value is the same at every read. A register stays if its value has no such form where it
is read, or one that takes more than a few operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from headway.ir.expr import Binary, Expr, Iteration, leaves
from headway.passes._mentions import Mentions
from headway.passes._polynomial import Polynomial, Sum
from headway.passes._rewrite import with_values
from headway.sync.program import (
    Assign,
    EngineProgram,
    Exec,
    Load,
    Register,
    RegisterRef,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncWhile,
    Threshold,
    Wait,
    Waits,
)
from headway.sync.rewrite import Body

Value = Polynomial | None
"""What a register holds; None = no form is known."""

MOST_OPERATIONS = 6
MOST_FACTORS = 256
"""Of a value that is followed: in a nest its length grows with the square of the depth."""


class NoFormError(Exception):
    """The register is read where no form of its value is known."""


def computed(
    engine: EngineProgram, register: str, mentions: Mentions | None = None
) -> EngineProgram | None:
    """Return an engine program without that register; None if it cannot do without.

    `mentions` spares looking through the program again for the next register.
    """
    form = Form(register, mentions or Mentions())
    try:
        body, _ = form.body(engine.body, Polynomial.of(0))
    except NoFormError:
        return None
    names = {r.name for r in engine.registers} - {register}
    new = (Register(name) for name in form.computed if name not in names)
    kept = tuple(r for r in engine.registers if r.name != register)
    return replace(engine, body=body, registers=(*kept, *new))


class Form:
    """Follows the value of one register through an engine program."""

    def __init__(self, register: str, mentions: Mentions) -> None:
        self.computed: dict[str, None] = {}
        self._mentions = mentions
        self._steps: dict[int, Value] = {}  # by the loop
        self._sums: dict[int, tuple[Polynomial, Sum]] = {}  # by the value, which is kept alive
        self._register = RegisterRef(register)

    def body(self, nodes: Body, value: Value) -> tuple[Body, Value]:
        """Return nodes that do not use the register, and its value behind them."""
        out: list[SyncNode] = []
        start = 0
        for place in self._places(nodes):
            out += nodes[start:place]
            out += self._without(nodes[place], value)
            value = self.after(nodes[place], value)
            start = place + 1
        return (*out, *nodes[start:]), value

    def _places(self, nodes: Body) -> Sequence[int]:
        """Return which nodes have to do with the register."""
        return self._mentions.places(nodes).get(self._register.name, ())

    # The value behind a node

    def _behind(self, nodes: Body, value: Value) -> Value:
        for place in self._places(nodes):
            value = self.after(nodes[place], value)
        return value

    def after(self, node: SyncNode, value: Value) -> Value:
        """Return what the register holds behind a node that names it, if it holds that before."""
        match node:
            case Assign() if node.register == self._register:
                return _followed(_substituted(node.value, self._register, value))
            case SyncLoop():
                step = self.step(node)
                trip = _substituted(node.trip, self._register, value)
                return _followed(value + step * trip) if value and step and trip else None
            case SyncWhile():
                step = self.step(node)
                return value if step and not step.terms else None
            case SyncIf():
                then, orelse = self._behind(node.then, value), self._behind(node.orelse, value)
                return then if then == orelse else None
            case _:
                return value

    def step(self, node: SyncLoop | SyncWhile) -> Value:
        """Return what each iteration adds, if that is always the same."""
        if id(node) not in self._steps:
            self._steps[id(node)] = self._found_step(node)
        return self._steps[id(node)]

    def _found_step(self, node: SyncLoop | SyncWhile) -> Value:
        entry = Polynomial.of(self._register)
        end = self._behind(node.body, entry)
        if end is None or (end - entry).names(self._register):
            return None
        step = end - entry
        return None if step.names(Iteration(node.iteration)) else step

    # Nodes without the register

    def _assigned(self, node: Assign, value: Value) -> Assign:
        number = self._added(node.value)
        if number is not None and value is not None and isinstance(node.register.index, int):
            return Assign(node.register, self._sum(value).plus(number), node.at)
        new = self._replaced(node, value)
        assert isinstance(new, Assign)
        return replace(new, value=Polynomial.of(new.value).expression())

    def _added(self, expr: Expr) -> int | None:
        """Return the number that an expression adds to the register, if it does nothing else."""
        match expr:
            case RegisterRef():
                return 0 if expr == self._register else None
            case Binary("+", RegisterRef() as left, int() as number):
                return number if left == self._register else None
            case Binary("-", RegisterRef() as left, int() as number):
                return -number if left == self._register else None
            case _:
                return None

    def _sum(self, value: Polynomial) -> Sum:
        found = self._sums.get(id(value))
        if found is None:
            found = self._sums[id(value)] = (value, value.sum())
        return found[1]

    def _without(self, node: SyncNode, value: Value) -> Iterator[SyncNode]:
        match node:
            case Assign() if node.register.name == self._register.name:
                if node.register != self._register:
                    raise NoFormError
            case Assign() if self._reads(node.value):
                self._expression(value)  # no longer than what is worth it
                yield self._assigned(node, value)
            case Exec() | Waits() | Load():
                before, waits = self._settled(node.waits, value)
                yield from before
                yield replace(node, waits=waits)
            case SyncLoop() | SyncWhile():
                yield from self._loop(node, value)
            case SyncIf():
                before, load = self._load(node.load, value)
                yield from before
                then, orelse = self.body(node.then, value)[0], self.body(node.orelse, value)[0]
                if then or orelse or load:
                    yield self._replaced(replace(node, then=then, orelse=orelse, load=load), value)
            case _:
                yield self._replaced(node, value)

    def _loop(self, node: SyncLoop | SyncWhile, value: Value) -> Iterator[SyncNode]:
        step = self.step(node)
        is_same = isinstance(node, SyncLoop) or (step is not None and not step.terms)
        before, load = self._load(node.load, value if is_same else None)  # a while loads again
        if isinstance(node, SyncWhile) and (before or self._reads(node.condition)):
            raise NoFormError  # it is read again at every test
        yield from before
        first = node.first if isinstance(node, SyncLoop) else 0
        begun = Polynomial.of(Iteration(node.iteration)) - Polynomial.of(first)
        body, _ = self.body(node.body, value + step * begun if value and step else None)
        if body or load:
            yield self._replaced(replace(node, body=body, load=load), value)

    def _load(self, load: Load | None, value: Value) -> tuple[list[Assign], Load | None]:
        if load is None:
            return [], None
        before, waits = self._settled(load.waits, value)
        return before, replace(load, waits=waits)

    def _replaced(self, node: SyncNode, value: Value) -> SyncNode:
        def rule(expr: Expr) -> Expr | None:
            return self._expression(value) if expr == self._register else None

        return with_values(node, rule)

    def _settled(
        self, waits: tuple[Wait, ...], value: Value
    ) -> tuple[list[Assign], tuple[Wait, ...]]:
        """Return waits that do not use the register, and what computes their thresholds."""
        before: list[Assign] = []
        kept: list[Wait] = []
        for wait in waits:
            register = wait.threshold.register
            if register == self._register:
                expr = self._expression(value, wait.threshold.offset)
                if isinstance(expr, int):
                    kept.append(replace(wait, threshold=Threshold(None, expr)))
                    continue
                register = self._computed(len(before) + 1)
                before.append(Assign(register, expr, wait.at))
                wait = replace(wait, threshold=Threshold(register))
            elif register and self._reads(register):
                raise NoFormError
            kept.append(wait)
        return before, tuple(kept)

    def _computed(self, number: int) -> RegisterRef:
        name = f"{self._register.name}.{number}"
        self.computed[name] = None
        return RegisterRef(name)

    def _expression(self, value: Value, more: int = 0) -> Expr:
        """Return an expression of a value and a number more, if it is not too long."""
        if value is None:
            raise NoFormError
        expr = self._sum(value).plus(more)
        if operations(expr) > MOST_OPERATIONS:
            raise NoFormError
        return expr

    def _reads(self, expr: Expr) -> bool:
        return any(
            isinstance(leaf, RegisterRef) and leaf.name == self._register.name
            for leaf in leaves(expr)
        )


def _followed(value: Value) -> Value:
    """Return a value; None for one that is so long that nothing is computed from it."""
    is_short = value and sum(len(product) for product, _ in value.terms) <= MOST_FACTORS
    return value if is_short else None


def _substituted(expr: Expr, register: RegisterRef, value: Value) -> Value:
    """Return an expression with a value for a register; None if it needs others."""
    used = {leaf for leaf in leaves(expr) if isinstance(leaf, RegisterRef)}
    if not used:
        return Polynomial.of(expr)
    if used != {register} or value is None:
        return None
    form = Polynomial.of(expr)
    rest = form - Polynomial.of(register)
    return None if rest.names(register) else rest + value


def operations(expr: Expr) -> int:
    """Return how many operators an expression has."""
    if not isinstance(expr, Binary):
        return 0
    return 1 + operations(expr.left) + operations(expr.right)
