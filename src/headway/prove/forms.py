"""Linear forms over what a program knows at run time, for counts and for slots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headway.ir.expr import Binary, Expr, Iteration, Leaf, leaves


@dataclass(frozen=True, slots=True)
class Form:
    """`sum(factor * atom) + number`; an atom is an iteration, an input, or what is not linear."""

    terms: tuple[tuple[Expr, int], ...] = ()
    number: int = 0

    def plus(self, other: Form | int, factor: int = 1) -> Form:
        """Return `self + factor * other`."""
        if isinstance(other, int):
            return Form(self.terms, self.number + factor * other)
        if not other.terms:
            return Form(self.terms, self.number + factor * other.number)
        terms = dict(self.terms)
        for atom, n in other.terms:
            terms[atom] = terms.get(atom, 0) + factor * n
        return form(terms, self.number + factor * other.number)

    def of(self, atom: Expr) -> int:
        """Return the factor of an atom."""
        return dict(self.terms).get(atom, 0)

    def with_value(self, atom: Expr, value: Form) -> Form:
        """Return the form with a value in place of an atom."""
        factor = self.of(atom)
        return self.plus(Form(((atom, factor),)), -1).plus(value, factor) if factor else self

    def modulo(self, slots: int) -> Form:
        """Return the form with factors and number from 0 to `slots` - 1."""
        return form({atom: n % slots for atom, n in self.terms}, self.number % slots)

    def hides(self, iteration: str) -> bool:
        """Tell whether the iteration stands inside an atom that is not the iteration itself."""
        here = Iteration(iteration)
        return any(a != here and here in set(leaves(a)) for a, _ in self.terms)

    def __str__(self) -> str:
        parts = [f"{n} * {a}" if n != 1 else f"{a}" for a, n in self.terms]
        return " + ".join([*parts, str(self.number)] if self.number or not parts else parts)


ZERO = Form()


def form(terms: Mapping[Expr, int], number: int = 0) -> Form:
    """Return a form in its one normal shape: no factor is 0, atoms are sorted."""
    kept = ((atom, n) for atom, n in terms.items() if n)
    return Form(tuple(sorted(kept, key=lambda term: str(term[0]))), number)


def linear(expr: Expr, slots: int = 0) -> Form:
    """Return the form of an expression (exact); with `slots`, what it is modulo `slots`."""
    found = _scaled(expr, 1, slots)
    return found.modulo(slots) if slots else found


def _scaled(expr: Expr, factor: int, slots: int) -> Form:
    if isinstance(expr, int):
        return Form((), factor * expr)
    if isinstance(expr, Leaf):
        return form({expr: factor})
    left, right = expr.left, expr.right
    if expr.operator in ("+", "-"):
        sign = factor if expr.operator == "+" else -factor
        return _scaled(left, factor, slots).plus(_scaled(right, sign, slots))
    if expr.operator == "*":
        a, b = linear(left), linear(right)
        if not a.terms:
            return _scaled(right, factor * a.number, slots)
        if not b.terms:
            return _scaled(left, factor * b.number, slots)
    if expr.operator == "%" and isinstance(right, int) and right > 0:
        inside = linear(left)
        if not inside.terms:
            return Form((), factor * (inside.number % right))
        if slots and factor * right % slots == 0:  # (x % 2) * 4 is 4 * x modulo 8
            return _scaled(left, factor, slots)
    return form({expr: factor})


def span(expr: Expr) -> tuple[int, int] | None:
    """Return bounds of an expression that hold for all inputs, or None (conservative)."""
    if isinstance(expr, int):
        return expr, expr
    if not isinstance(expr, Binary):
        return None
    if expr.operator == "%" and isinstance(expr.right, int) and expr.right > 0:
        return 0, expr.right - 1
    left, right = span(expr.left), span(expr.right)
    if left is None or right is None:
        return None
    if expr.operator == "+":
        return left[0] + right[0], left[1] + right[1]
    if expr.operator == "*" and min(left[0], right[0]) >= 0:
        return left[0] * right[0], left[1] * right[1]
    return None
