"""Integer expressions of a program: slots, trip counts, conditions.

An expression is an int, a leaf (the iteration of an enclosing loop, a run-time input) or a binary
operation. `//` and `%` round towards minus infinity, comparisons and `and`/`or` give 0 or 1.
Later layers add leaves of their own by subclassing `Leaf`: `headway.sync` adds registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from headway.errors import Diagnostic, InvalidInput, Location, counted

OPERATORS = ("or", "and", "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "//", "%", "min", "max")

Iterations = Mapping[str, int]
Inputs = Mapping[str, int | Sequence[int]]
Registers = Mapping[str, list[int]]


class Leaf:
    """A value that is looked up at run time."""

    __slots__ = ()

    def source(self) -> str:
        """Python source of the look-up in `it`, `inputs` or `registers`."""
        raise NotImplementedError

    def parts(self) -> tuple[Expr, ...]:
        """Return the expressions inside this leaf."""
        return ()


@dataclass(frozen=True, slots=True)
class Iteration(Leaf):
    """The number of the current iteration, from 0, of the enclosing loop named `loop`."""

    loop: str

    def source(self) -> str:
        return f"it[{self.loop!r}]"

    def __str__(self) -> str:
        return self.loop


@dataclass(frozen=True, slots=True)
class Input(Leaf):
    """A run-time input; with `index`, one element of an input that is a list."""

    name: str
    index: Expr | None = None

    def source(self) -> str:
        if self.index is None:
            return f"scalar(inputs, {self.name!r})"
        return f"element(inputs, {self.name!r}, {source(self.index)})"

    def parts(self) -> tuple[Expr, ...]:
        return () if self.index is None else (self.index,)

    def __str__(self) -> str:
        return self.name if self.index is None else f"{self.name}[{self.index}]"


@dataclass(frozen=True, slots=True)
class Binary:
    """`left operator right`, with an operator of `OPERATORS`."""

    operator: str
    left: Expr
    right: Expr

    def __str__(self) -> str:
        if self.operator in ("min", "max"):
            return f"{self.operator}({self.left}, {self.right})"
        return f"{_operand(self.left)} {self.operator} {_operand(self.right)}"


Expr = int | Leaf | Binary


def _operand(expr: Expr) -> str:
    bare = isinstance(expr, Leaf) or (isinstance(expr, int) and expr >= 0)
    return str(expr) if bare or _is_call(expr) else f"({expr})"


def _is_call(expr: Expr) -> bool:
    return isinstance(expr, Binary) and expr.operator in ("min", "max")


def leaves(expr: Expr) -> Iterator[Leaf]:
    """Yield every leaf of `expr`, those inside indices too."""
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, Binary):
            stack += (node.left, node.right)
        elif isinstance(node, Leaf):
            yield node
            stack += node.parts()


def source(expr: Expr) -> str:
    """Return Python source that computes `expr` from `it`, `inputs` and `registers`."""
    if isinstance(expr, int):
        return f"({expr})"
    if isinstance(expr, Leaf):
        return expr.source()
    left, right = source(expr.left), source(expr.right)
    if expr.operator in ("min", "max"):
        return f"{expr.operator}({left}, {right})"
    if expr.operator in ("and", "or"):
        return f"int(bool({left}) {expr.operator} bool({right}))"
    return f"int({left} {expr.operator} {right})"


Evaluator = Callable[[Iterations, Inputs, Registers], int]


def _scalar(inputs: Inputs, name: str) -> int:
    value = inputs.get(name)
    if isinstance(value, int):
        return value
    raise InvalidInput(_missing(name, "a number", value))


class OutsideList(InvalidInput):
    """An element was asked for that a list or a row of registers does not have."""

    def __init__(self, name: str, size: int, index: int, at: Location | None = None) -> None:
        self.asked = (name, size, index)
        message = f"{name!r} has {counted(size, 'element')} and element {index} was asked for"
        help = "make it longer, or index it modulo its length"
        super().__init__(Diagnostic(message, at, help=help))


def element(values: Sequence[int], index: int, name: str) -> int:
    """Return `values[index]`; a place outside the list is InvalidInput, never a wrap-around."""
    if 0 <= index < len(values):
        return values[index]
    raise OutsideList(name, len(values), index)


def _element(inputs: Inputs, name: str, index: int) -> int:
    value = inputs.get(name)
    if value is None or isinstance(value, int):
        raise InvalidInput(_missing(name, "a list of numbers", value))
    return element(value, index, name)


def _missing(name: str, wanted: str, value: object) -> Diagnostic:
    state = "is missing" if value is None else f"is {value!r}"
    example = "3" if wanted == "a number" else "2,0,1"
    return Diagnostic(
        f"run-time input {name!r} {state}; the program needs {wanted}",
        help=f"--input {name}={example}",
    )


_NAMES: dict[str, Any] = {"scalar": _scalar, "element": _element, "at": element}


@lru_cache(maxsize=65536)
def evaluator(expr: Expr) -> Evaluator:
    """Return a function `(iterations, inputs, registers) -> value` of `expr`.

    Every name in the generated source is quoted, so no text of a program is ever executed.
    """
    return eval(f"lambda it, inputs, registers: {source(expr)}", dict(_NAMES))


def evaluate(
    expr: Expr,
    iterations: Iterations,
    inputs: Inputs,
    registers: Registers | None = None,
    at: Location | None = None,
) -> int:
    """Compute `expr`. Raise InvalidInput where a value is missing or a divisor 0."""
    if isinstance(expr, int):
        return expr
    try:
        return evaluator(expr)(iterations, inputs, registers or {})
    except OutsideList as error:
        raise OutsideList(*error.asked, at) from None
    except ZeroDivisionError:
        raise InvalidInput(Diagnostic(f"division by zero in {str(expr)!r}", at)) from None


@dataclass(frozen=True, slots=True)
class Affine:
    """`sum(coefficient * iteration(loop)) + offset`; terms sorted by loop, no zero coefficient."""

    terms: tuple[tuple[str, int], ...]
    offset: int

    def __str__(self) -> str:
        return " + ".join([f"{c}*{loop}" for loop, c in self.terms] + [str(self.offset)])


def affine(expr: Expr) -> Affine | None:
    """Return `expr` as an affine function of iterations, or None if it is not (exact)."""
    if isinstance(expr, int):
        return Affine((), expr)
    if isinstance(expr, Iteration):
        return Affine(((expr.loop, 1),), 0)
    if not isinstance(expr, Binary) or expr.operator not in ("+", "-", "*"):
        return None
    left, right = affine(expr.left), affine(expr.right)
    if left is None or right is None:
        return None
    if expr.operator == "*":
        return _scaled(left, right)
    return _sum(left, right, 1 if expr.operator == "+" else -1)


def _sum(left: Affine, right: Affine, sign: int) -> Affine:
    terms = dict(left.terms)
    for loop, coefficient in right.terms:
        terms[loop] = terms.get(loop, 0) + sign * coefficient
    kept = tuple(sorted((loop, c) for loop, c in terms.items() if c))
    return Affine(kept, left.offset + sign * right.offset)


def _scaled(left: Affine, right: Affine) -> Affine | None:
    if left.terms and right.terms:
        return None
    factor, other = (left.offset, right) if not left.terms else (right.offset, left)
    terms = tuple((loop, c * factor) for loop, c in other.terms if factor)
    return Affine(terms, other.offset * factor)
