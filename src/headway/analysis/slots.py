"""Do two slot expressions name the same slot, at one and the same point of the iterations?

In     two slot expressions of one buffer, both with the current values of the enclosing iterations
Out    SAME, APART or UNKNOWN
Exact  SAME and APART are; UNKNOWN is the conservative answer for expressions of different shape
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from headway.ir.expr import Binary, Expr, Iteration, affine


class Relation(Enum):
    """How two slot expressions relate."""

    SAME = "same"
    APART = "apart"
    UNKNOWN = "unknown"


class Form(NamedTuple):
    """`(sum of terms + offset) % modulus`; modulus 0 means none. `terms` may be an expression."""

    terms: tuple[tuple[str, int], ...] | Expr
    offset: int
    modulus: int


class Shapes:
    """Numbers for the expressions of one program, equal for equal ones: quick to compare.

    The program has to live as long.
    """

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}  # of those seen so far, by identity
        self._numbers: dict[object, int] = {}
        self._exprs: list[Expr] = []

    def of(self, expr: Expr) -> int:
        """Return the number of an expression."""
        number = self.numbers.get(id(expr))
        if number is None:
            number = self._numbers.setdefault(_shape(expr), len(self._exprs))
            if number == len(self._exprs):
                self._exprs.append(expr)
            self.numbers[id(expr)] = number
        return number

    def expr(self, number: int) -> Expr:
        """Return the first expression with a number."""
        return self._exprs[number]


def _shape(expr: Expr) -> object:
    """Return a key that is equal for equal expressions; built-in types hash quickly."""
    if type(expr) is int:
        return expr
    if type(expr) is Binary:
        right = expr.right  # most of the time an integer
        return expr.operator, _shape(expr.left), right if type(right) is int else _shape(right)
    return expr.loop if type(expr) is Iteration else expr


@lru_cache(maxsize=65536)
def form(slot: Expr) -> Form:
    """Return the normal form of a slot expression."""
    slot = _without_blocks(slot)
    inner, modulus = slot, 0
    if isinstance(slot, Binary) and slot.operator == "%" and isinstance(slot.right, int):
        inner, modulus = slot.left, slot.right
    found = affine(inner)
    if found is None or modulus < 0:
        return Form(slot, 0, 0)
    return Form(found.terms, found.offset % modulus if modulus else found.offset, modulus)


def _without_blocks(slot: Expr) -> Expr:
    """Return `(4 * i + 3) % 8` for `i % 2 * 4 + 3`: number 3 in blocks of 4, which take turns."""
    match slot:
        case Binary("+", Binary() as block, int() as number):
            pass
        case _:
            block, number = slot, 0
    match block:
        case Binary("*", Binary("%", turning, int() as blocks), int() as size):
            pass
        case Binary("*", int() as size, Binary("%", turning, int() as blocks)):
            pass
        case _:
            return slot
    if blocks < 1 or not 0 <= number < size:
        return slot
    return Binary("%", Binary("+", Binary("*", turning, size), number), blocks * size)


def relation(left: Expr, right: Expr) -> Relation:
    """Compare two slot expressions under equal values of all iterations and inputs."""
    a, b = form(left), form(right)
    if a == b:
        return Relation.SAME
    if a.terms == b.terms and a.modulus == b.modulus:
        return Relation.APART
    return Relation.UNKNOWN
