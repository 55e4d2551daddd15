"""Between which numbers the value of an expression lies, for all inputs."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import NamedTuple

from headway.ir.expr import Binary, Expr


class Range(NamedTuple):
    """All numbers from `least` to `most`, both included."""

    least: float
    most: float


ANYTHING = Range(-inf, inf)
TRUTH = Range(0, 1)

Known = Callable[[Expr], Range]
"""What is known of the value of an expression for another reason than its parts."""


def bounds(expr: Expr, known: Known = lambda _: ANYTHING) -> Range:
    """Return a range in which the value of an expression surely lies."""
    if isinstance(expr, int):
        return Range(expr, expr)
    found = known(expr)
    if isinstance(expr, Binary):
        computed = _combined(expr.operator, bounds(expr.left, known), bounds(expr.right, known))
        return Range(max(found.least, computed.least), min(found.most, computed.most))
    return found


def _combined(operator: str, a: Range, b: Range) -> Range:
    match operator:
        case "+":
            return Range(a.least + b.least, a.most + b.most)
        case "-":
            return Range(a.least - b.most, a.most - b.least)
        case "*":
            products = [_times(x, y) for x in a for y in b]
            return Range(min(products), max(products))
        case "//":
            return _quotient(a, b)
        case "%":
            return _remainder(a, b)
        case "min":
            return Range(min(a.least, b.least), min(a.most, b.most))
        case "max":
            return Range(max(a.least, b.least), max(a.most, b.most))
        case _:  # comparisons, `and` and `or`
            return TRUTH


def _times(a: float, b: float) -> float:
    return 0 if 0 in (a, b) else a * b


def _quotient(a: Range, b: Range) -> Range:
    """Division rounds towards minus infinity, so that it keeps the sign of what is divided."""
    if b.least <= 0:
        return ANYTHING
    least = _divided(a.least, b.most if a.least >= 0 else b.least)
    return Range(least, _divided(a.most, b.least if a.most >= 0 else b.most))


def _divided(a: float, b: float) -> float:
    if abs(a) == inf:
        return a
    return a // b if b < inf else min(0, max(-1, a))


def _remainder(a: Range, b: Range) -> Range:
    """The remainder of a division has the sign of the divisor."""
    if b.least <= 0:
        return ANYTHING
    if a.least >= 0 and a.most < b.least:
        return a
    return Range(0, b.most - 1)
