"""What programs built in Python compute with: integer expressions, and places in buffers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from headway.errors import InvalidProgram
from headway.ir.expr import Binary, Expr, Input
from headway.ir.program import Access, Buffer


class Value:
    """A number that is known at run time: an input, an iteration, or computed from them.

    `+ - * // % == != < <= > >=` build expressions, and so do `&` (and) and `|` (or).
    """

    __slots__ = ("expr",)

    def __init__(self, expr: Expr) -> None:
        self.expr = expr

    def __repr__(self) -> str:
        return f"Value({self.expr})"

    def __bool__(self) -> NoReturn:
        raise InvalidProgram(
            f"the value of '{self.expr}' is known at run time only; "
            "use b.when(...) for `if`, and & and | for `and` and `or`"
        )

    def __add__(self, other: Number) -> Value:
        return Value(Binary("+", self.expr, expression(other)))

    def __radd__(self, other: int) -> Value:
        return Value(Binary("+", other, self.expr))

    def __sub__(self, other: Number) -> Value:
        return Value(Binary("-", self.expr, expression(other)))

    def __rsub__(self, other: int) -> Value:
        return Value(Binary("-", other, self.expr))

    def __mul__(self, other: Number) -> Value:
        return Value(Binary("*", self.expr, expression(other)))

    def __rmul__(self, other: int) -> Value:
        return Value(Binary("*", other, self.expr))

    def __floordiv__(self, other: Number) -> Value:
        return Value(Binary("//", self.expr, expression(other)))

    def __rfloordiv__(self, other: int) -> Value:
        return Value(Binary("//", other, self.expr))

    def __mod__(self, other: Number) -> Value:
        return Value(Binary("%", self.expr, expression(other)))

    def __rmod__(self, other: int) -> Value:
        return Value(Binary("%", other, self.expr))

    def __neg__(self) -> Value:
        return Value(Binary("-", 0, self.expr))

    def __eq__(self, other: Any) -> Any:
        return Value(Binary("==", self.expr, expression(other)))

    def __ne__(self, other: Any) -> Any:
        return Value(Binary("!=", self.expr, expression(other)))

    def __lt__(self, other: Number) -> Value:
        return Value(Binary("<", self.expr, expression(other)))

    def __le__(self, other: Number) -> Value:
        return Value(Binary("<=", self.expr, expression(other)))

    def __gt__(self, other: Number) -> Value:
        return Value(Binary(">", self.expr, expression(other)))

    def __ge__(self, other: Number) -> Value:
        return Value(Binary(">=", self.expr, expression(other)))

    def __and__(self, other: Number) -> Value:
        return Value(Binary("and", self.expr, expression(other)))

    def __or__(self, other: Number) -> Value:
        return Value(Binary("or", self.expr, expression(other)))


Number = Value | int


def expression(number: Number) -> Expr:
    """Return the expression of a number. Raise InvalidProgram if it is not one."""
    if isinstance(number, Value):
        return number.expr
    if type(number) is int:
        return number
    raise InvalidProgram(f"{number!r} is not a whole number or a value of the program")


def minimum(left: Number, right: Number) -> Value:
    """Return the smaller of two numbers."""
    return Value(Binary("min", expression(left), expression(right)))


def maximum(left: Number, right: Number) -> Value:
    """Return the larger of two numbers."""
    return Value(Binary("max", expression(left), expression(right)))


@dataclass(frozen=True, slots=True)
class ListRef:
    """A run-time input that is a list; an index gives a value."""

    name: str

    def __getitem__(self, index: Number) -> Value:
        return Value(Input(self.name, expression(index)))


@dataclass(frozen=True, slots=True)
class SlotRef:
    """One slot of a buffer; slices, one for each dimension, give the part inside them."""

    buffer: Buffer
    slot: Expr = 0

    def __getitem__(self, slices: slice | tuple[slice, ...]) -> Access:
        parts = slices if isinstance(slices, tuple) else (slices,)
        return Access(self.buffer.name, self.slot, tuple(map(self._interval, range(99), parts)))

    def _interval(self, dimension: int, part: slice) -> tuple[Expr, Expr]:
        if part.step is not None:
            raise InvalidProgram(f"a box of buffer {self.buffer.name!r} has no step")
        low = 0 if part.start is None else expression(part.start)
        if part.stop is not None:
            return low, expression(part.stop)
        if dimension >= len(self.buffer.shape):
            name = self.buffer.name
            raise InvalidProgram(f"buffer {name!r} has no extent in dimension {dimension}")
        return low, self.buffer.shape[dimension]

    def access(self) -> Access:
        """Return the access of the whole slot."""
        return Access(self.buffer.name, self.slot)


@dataclass(frozen=True, slots=True)
class BufferRef:
    """A buffer; an index gives one of its slots. By itself it stands for slot 0."""

    buffer: Buffer

    def __getitem__(self, slot: Number) -> SlotRef:
        return SlotRef(self.buffer, expression(slot))

    def access(self) -> Access:
        """Return the access of the whole slot 0."""
        return Access(self.buffer.name)


Place = BufferRef | SlotRef | Access
