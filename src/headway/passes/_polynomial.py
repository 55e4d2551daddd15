"""Sums of products of iterations and inputs: enough to compare the values of registers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from headway.ir.expr import Binary, Expr, leaves

Product = tuple[Expr, ...]
"""What is multiplied, in the order of its text; () is 1."""


class Sum(NamedTuple):
    """A polynomial as an expression without its number, and that."""

    rest: Expr
    number: int

    def plus(self, more: int) -> Expr:
        """Return an expression of the sum and a number: the same as that of the polynomial."""
        number = self.number + more
        if isinstance(self.rest, int):
            return self.rest + number
        if not number:
            return self.rest
        return Binary("+", self.rest, number) if number > 0 else Binary("-", self.rest, -number)


@dataclass(frozen=True)
class Polynomial:
    """The sum of `factor * product`; no factor is 0."""

    terms: frozenset[tuple[Product, int]]

    @classmethod
    def of(cls, expr: Expr) -> Polynomial:
        """Return the polynomial of an expression; what is neither sum nor product is one value."""
        if isinstance(expr, int):
            return _collected([((), expr)])
        if isinstance(expr, Binary) and expr.operator in ("+", "-", "*"):
            left, right = cls.of(expr.left), cls.of(expr.right)
            if expr.operator == "*":
                return left * right
            return left + right if expr.operator == "+" else left - right
        return cls(frozenset({((expr,), 1)}))

    def __add__(self, other: Polynomial) -> Polynomial:
        return _collected([*self.terms, *other.terms])

    def __sub__(self, other: Polynomial) -> Polynomial:
        return _collected([*self.terms, *((p, -factor) for p, factor in other.terms)])

    def __mul__(self, other: Polynomial) -> Polynomial:
        return _collected(
            (tuple(sorted(a + b, key=str)), m * n) for a, m in self.terms for b, n in other.terms
        )

    def names(self, value: Expr) -> bool:
        """Tell whether a value appears in it, in an index or inside another value too."""
        parts = (part for product, _ in self.terms for part in product)
        return any(leaf == value for part in parts for leaf in leaves(part))

    def substituted(self, value: Expr, new: Polynomial) -> Polynomial | None:
        """Return it with something else for a value; None if that appears inside another value."""
        found = Polynomial.of(0)
        for product, factor in self.terms:
            term = Polynomial.of(factor)
            for part in product:
                if part != value and any(leaf == value for leaf in leaves(part)):
                    return None
                term *= new if part == value else Polynomial.of(part)
            found += term
        return found

    def expression(self) -> Expr:
        """Return an expression with that value: products first, the number last."""
        return self.sum().plus(0)

    def sum(self) -> Sum:
        """Return it in two parts, to which numbers are quickly added."""
        number = sum(factor for product, factor in self.terms if not product)
        terms = [term for term in self.terms if term[0]]
        terms.sort(key=lambda term: (-len(term[0]), -term[1], str(term[0])))
        found: Expr | None = None
        for product, factor in terms:
            if found is None:
                found = _product(product, factor)
            elif factor < 0:
                found = Binary("-", found, _product(product, -factor))
            else:
                found = Binary("+", found, _product(product, factor))
        return Sum(0 if found is None else found, number)


def _collected(terms: Iterable[tuple[Product, int]]) -> Polynomial:
    found: dict[Product, int] = {}
    for product, factor in terms:
        found[product] = found.get(product, 0) + factor
    return Polynomial(frozenset((product, factor) for product, factor in found.items() if factor))


def _product(product: Product, factor: int) -> Expr:
    found: Expr | None = None if factor == 1 and product else factor
    for value in product:
        found = value if found is None else Binary("*", found, value)
    return factor if found is None else found
