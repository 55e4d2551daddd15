"""Sums of products of names, and what is known of their values.

A form is a sum of integers times products of atoms. An atom is the text of a name, or of an
operation that is no sum or product.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from math import gcd, inf
from typing import NamedTuple

from headway.ir.expr import Binary, Expr, evaluate
from headway.ir.names import NAME

Form = tuple[tuple[tuple[str, ...], int], ...]
FORMS = 2**16
"""How many results on forms are kept."""
OPERATIONS: dict[str, Binary] = {}
"""What the atoms are that are operations."""


def any_of(sets: Iterable[int]) -> int:
    """Return what is in any of the sets of bits."""
    found = 0
    for bits in sets:
        found |= bits
    return found


def form(terms: Mapping[tuple[str, ...], int]) -> Form:
    """Return a form in its one shape: sorted, and no factor is 0."""
    return tuple(sorted((atoms, n) for atoms, n in terms.items() if n))


@lru_cache(FORMS)
def plus(a: Form, b: Form, factor: int = 1) -> Form:
    """Return `a + factor * b`."""
    terms = defaultdict(int, a)
    for atoms, n in b:
        terms[atoms] += factor * n
    return form(terms) if b else a


@lru_cache(FORMS)
def times(a: Form, b: Form) -> Form:
    """Return `a * b`."""
    terms: defaultdict[tuple[str, ...], int] = defaultdict(int)
    for left, m in a:
        for right, n in b:
            terms[tuple(sorted(left + right))] += m * n
    return form(terms)


def constant(f: Form | None) -> int | None:
    """Return the value of a form without atoms; None if it has some."""
    if f is None or len(f) > 1 or (f and f[0][0]):
        return None
    return f[0][1] if f else 0


@cache
def linear(expr: Expr) -> Form:
    """Return an expression as a form."""
    if isinstance(expr, int):
        return form({(): expr})
    if isinstance(expr, Binary):
        if expr.operator in ("+", "-"):
            return plus(linear(expr.left), linear(expr.right), 1 if expr.operator == "+" else -1)
        if expr.operator == "*":
            return times(linear(expr.left), linear(expr.right))
        OPERATIONS[str(expr)] = expr
    return (((str(expr),), 1),)


@cache
def names(atom: str) -> frozenset[str]:
    """Return what is named in an atom."""
    return frozenset(re.findall(NAME, atom, re.ASCII))


@lru_cache(FORMS)
def is_about(f: Form, name: str) -> bool:
    """Tell whether a form names something."""
    return any(name in names(atom) for atoms, _ in f for atom in atoms)


def substituted(f: Form, value: Callable[[str], Form | None]) -> Form | None:
    """Return a form with others in place of its atoms; None if one of them has no value."""
    result: Form = ()
    for atoms, n in f:
        product = linear(n)
        for atom in atoms:
            other = value(atom)
            if other is None:
                return None
            product = times(product, other)
        result = plus(result, product)
    return result


class Number(NamedTuple):
    """A number that is `rest` modulo `modulus` (0: it is `rest`), and at least `least`."""

    rest: int = 0
    modulus: int = 1
    least: float = -inf

    def plus(self, other: Number) -> Number:
        """Return what is known of the sum."""
        modulus = gcd(self.modulus, other.modulus)
        return known(self.rest + other.rest, modulus, self.least + other.least)

    def times(self, other: Number) -> Number:
        """Return what is known of the product."""
        (a, m, low), (b, n, base) = self, other
        return known(
            a * b, gcd(m * b, n * a, m * n), low * base if low >= 0 and base >= 0 else -inf
        )

    def both(self, other: Number) -> Number | None:
        """Return what is known if both are so; None if that cannot be."""
        if known(self.rest - other.rest, gcd(self.modulus, other.modulus)).rest:
            return None
        fine = max(self, other, key=lambda n: (n.modulus == 0, n.modulus))
        least = max(self.least, other.least)
        return None if not fine.modulus and fine.rest < least else fine._replace(least=least)

    def says(self, other: Number) -> bool:
        """Tell whether this follows all that another number says."""
        divides = self.modulus % other.modulus == 0 if other.modulus else self.modulus == 0
        same = known(self.rest - other.rest, other.modulus).rest == 0
        return divides and same and self.least >= other.least


def known(rest: int, modulus: int = 0, least: float = -inf) -> Number:
    """Return a number in its one shape."""
    return Number(rest % modulus, modulus, least) if modulus else Number(rest, 0, rest)


def operated(expr: Binary, value: Callable[[Form], Number]) -> Number:
    """Return what is known of an operation that is no sum or product."""
    a, b = value(linear(expr.left)), value(linear(expr.right))
    if expr.operator in ("%", "//") and b.modulus == b.rest == 0:
        return Number()  # no run goes on behind a division by zero
    if a.modulus == b.modulus == 0:
        return known(evaluate(Binary(expr.operator, a.rest, b.rest), {}, {}))
    if expr.operator == "%" and b.modulus == 0 < b.rest:
        rest = a.rest % gcd(a.modulus, b.rest)
        return known(rest, 0 if a.modulus % b.rest == 0 else gcd(a.modulus, b.rest), 0)
    if expr.operator in ("<", "<=", ">", ">=", "==", "!="):
        gap = value(plus(linear(expr.left), linear(expr.right), -1))
        if gap.modulus == 0 or gap.least > 0:
            sign = gap.rest if gap.modulus == 0 else 1
            return known(evaluate(Binary(expr.operator, sign, 0), {}, {}))
    return Number()
