"""Lower expressions: the address of a value in memory, and the rows that compute it."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from headway.code import rows as op
from headway.code.rows import Rows
from headway.errors import Diagnostic, InvalidInput, Location
from headway.ir.expr import (
    Binary,
    Expr,
    Input,
    Inputs,
    Iteration,
    Leaf,
    OutsideList,
    evaluate,
    leaves,
)
from headway.sync.problems import no_element
from headway.sync.program import RegisterRef

BINARY = {
    "==": op.EQ,
    "!=": op.NE,
    "<": op.LT,
    "<=": op.LE,
    ">": op.GT,
    ">=": op.GE,
    "+": op.ADD,
    "-": op.SUB,
    "*": op.MUL,
    "//": op.DIV,
    "%": op.MOD,
    "min": op.MIN,
    "max": op.MAX,
}


class Shared:
    """Memory that all engines share: constants and inputs, each placed once."""

    def __init__(self, code: Rows, inputs: Inputs) -> None:
        self.inputs = inputs
        self._code = code
        self._constants: dict[int, int] = {}
        self._lists: dict[str, int] = {}

    def constant(self, value: int) -> int:
        """Return the address of a constant."""
        if value not in self._constants:
            self._constants[value] = self._code.place([value])
        return self._constants[value]

    def row(self, name: str, values: list[int]) -> int:
        """Return the address of an input that is a list."""
        if name not in self._lists:
            self._lists[name] = self._code.place(values)
        return self._lists[name]


class Values:
    """Lowers the expressions of one engine. `registers` are address and size by name."""

    def __init__(
        self, code: Rows, shared: Shared, registers: Mapping[str, tuple[int, int]]
    ) -> None:
        self.iterations: dict[str, int] = {}
        self._code = code
        self._shared = shared
        self._registers = registers
        self._loop: Location | None = None
        self._at: Location | None = None
        self._whole: Expr = 0
        self._known: dict[Expr, int] = {}

    @contextmanager
    def scope(self) -> Generator[None]:
        """Forget at the end what is computed inside: it may not have been."""
        known, self._known = self._known, dict(self._known)
        yield
        self._known = known

    def lower(
        self, expr: Expr, loop: Location | None, at: Location | None, into: int | None = None
    ) -> int:
        """Return the address of `expr`; with `into`, that address. `loop` and `at` are places."""
        self._loop, self._at, self._whole = loop, at, expr
        if into is not None and isinstance(expr, Binary) and expr.operator in BINARY:
            return self._binary(expr, into)
        value = self._value(expr)
        if into is None:
            return value
        self._emit(op.MOVE, into, value)
        return into

    def assign(
        self, register: RegisterRef, value: Expr, loop: Location | None, at: Location | None
    ) -> None:
        """Set a register to the value of an expression."""
        base, size = self._registers[register.name]
        index = register.index
        if isinstance(index, int) and 0 <= index < size:
            self.lower(value, loop, at, into=base + index)
            return
        place = self.lower(index, loop, at)
        if not is_below(index, size):
            self.check(place, size, lambda i: no_element(register.name, size, i, at))
        result = self.lower(value, loop, at)
        self._code.emit(loop, op.STORE, base, result, place)

    def check(self, index: int, size: int, fail: op.Fail) -> None:
        """Emit a test that the value at `index` is a place in a row of `size`."""
        self._code.fails[self._emit(op.CHECK, index, size)] = fail

    def _emit(self, operation: int, *operands: int) -> int:
        return self._code.emit(self._loop, operation, *operands)

    def _new(self) -> int:
        return self._code.place([0])

    def _value(self, expr: Expr) -> int:
        match expr:
            case int():
                return self._shared.constant(int(expr))
            case Iteration():
                return self.iterations[expr.loop]
            case Binary() | Input():
                return self._once(expr)
            case RegisterRef():
                return self._register(expr)
            case Leaf():
                raise TypeError(f"unknown kind of value: {expr}")

    def _once(self, expr: Binary | Input) -> int:
        """Lower a value that stays the same as long as the iterations do, unless it is known."""
        if expr in self._known:
            return self._known[expr]
        if isinstance(expr, Input):
            address = self._input(expr)
        elif expr.operator in BINARY:
            address = self._binary(expr, self._new())
        else:
            address = self._logic(expr)
        if not any(isinstance(leaf, RegisterRef) for leaf in leaves(expr)):
            self._known[expr] = address
        return address

    def _binary(self, expr: Binary, into: int) -> int:
        left, right = self._value(expr.left), self._value(expr.right)
        row = self._emit(BINARY[expr.operator], into, left, right)
        if expr.operator in ("//", "%"):
            problem = Diagnostic(f"division by zero in {str(self._whole)!r}", self._at)
            self._code.fails[row] = lambda _: InvalidInput(problem)
        return into

    def _logic(self, expr: Binary) -> int:
        """Lower `and`, `or`: the right side is computed only if the left one does not decide."""
        zero, result = self._shared.constant(0), self._new()
        left = self._value(expr.left)
        self._emit(op.NE, result, left, zero)
        decided = self._emit(op.ZERO, left, 0)
        if expr.operator == "or":
            needed, decided = decided, self._emit(op.JUMP, 0)
            self._code.land(needed, 2, len(self._code))
        with self.scope():
            self._emit(op.NE, result, self._value(expr.right), zero)
        self._code.land(decided, 1 if expr.operator == "or" else 2, len(self._code))
        return result

    def _input(self, expr: Input) -> int:
        value = self._shared.inputs.get(expr.name)
        if expr.index is None:
            if isinstance(value, int):
                return self._shared.constant(int(value))
            return self._missing(expr)
        index = self._value(expr.index)
        if value is None or isinstance(value, int):
            return self._missing(Input(expr.name, 0))
        values = list(value)
        if not is_below(expr.index, len(values)):
            self._check_element(expr.name, index, len(values))
        return self._fetch(self._shared.row(expr.name, values), index)

    def _missing(self, expr: Input) -> int:
        """Emit a row that stops: the input does not fit, which matters only if it is needed."""
        inputs = self._shared.inputs

        def fail(_: int) -> Exception:
            try:
                evaluate(expr, {}, inputs)
            except InvalidInput as error:
                return error
            raise AssertionError(f"{expr} is there after all")

        zero = self._shared.constant(0)
        self.check(zero, 0, fail)
        return zero

    def _register(self, expr: RegisterRef) -> int:
        base, size = self._registers[expr.name]
        if isinstance(expr.index, int) and 0 <= expr.index < size:
            return base + expr.index
        index = self._value(expr.index)
        if not is_below(expr.index, size):
            self._check_element(expr.name, index, size)
        return self._fetch(base, index)

    def _fetch(self, base: int, index: int) -> int:
        result = self._new()
        self._emit(op.FETCH, result, base, index)
        return result

    def _check_element(self, name: str, index: int, size: int) -> None:
        at = self._at
        self.check(index, size, lambda asked: OutsideList(name, size, asked, at))


def is_below(expr: Expr, size: int) -> bool:
    """Tell whether `expr` is in 0 to size - 1 for sure (conservative)."""
    if not isinstance(expr, Binary) or expr.operator != "%":
        return False
    return isinstance(expr.right, int) and 0 < expr.right <= size
