"""Whole numbers that may depend on loops: an int, or an affine function of enclosing iterations.

A loop is named by its level, the number of loops around it in the recorded trace, so that equal
numbers in different iterations of an outer loop are equal values here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headway.frontends.nki.places import is_asked_by_kernel, problem

Terms = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Sym:
    """`const + sum(factor * iteration(level))`; terms are sorted by level, not empty, not zero."""

    const: int
    terms: Terms

    def __add__(self, other: object) -> Number:
        return _combined(self, other, 1) if isinstance(other, int | Sym) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: object) -> Number:
        return _combined(self, other, -1) if isinstance(other, int | Sym) else NotImplemented

    def __rsub__(self, other: int) -> Number:
        return _combined(-self, other, 1)

    def __neg__(self) -> Sym:
        return Sym(-self.const, tuple((level, -factor) for level, factor in self.terms))

    def __mul__(self, factor: object) -> Number:
        if not isinstance(factor, int):
            return NotImplemented
        return number(self.const * factor, tuple((v, f * factor) for v, f in self.terms))

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Number:
        if any(part % divisor for part in (self.const, *(f for _, f in self.terms))):
            raise self._concrete()
        return number(self.const // divisor, tuple((v, f // divisor) for v, f in self.terms))

    def __mod__(self, divisor: object) -> int:
        raise self._concrete()

    def __eq__(self, other: object) -> bool:
        """Compare as values; a kernel that compares with a number makes a decision."""
        if isinstance(other, Sym):
            return self.const == other.const and self.terms == other.terms
        if isinstance(other, int) and is_asked_by_kernel():
            raise self._concrete()
        return False

    def __index__(self) -> int:
        raise self._concrete()

    def __bool__(self) -> bool:
        raise self._concrete()

    def __lt__(self, other: object) -> bool:
        raise self._concrete()

    __le__ = __gt__ = __ge__ = __lt__

    def _concrete(self) -> Exception:
        return problem(
            "the index of a device loop is used where its value must be known",
            rule="a device loop is traced once: its index may be added to and multiplied",
            help="write this loop with range if it should be unrolled",
        )


Number = int | Sym


def number(const: int, terms: Terms) -> Number:
    """Return a number; an int if it depends on nothing."""
    kept = tuple((level, factor) for level, factor in terms if factor)
    return Sym(const, kept) if kept else const


def iteration(level: int) -> Sym:
    """Return the iteration number, from 0, of the loop at a level."""
    return Sym(0, ((level, 1),))


def const_of(value: Number) -> int:
    """Return the part of a number that depends on no loop."""
    return value if isinstance(value, int) else value.const


def terms_of(value: Number) -> Terms:
    """Return the part of a number that depends on loops."""
    return () if isinstance(value, int) else value.terms


def substituted(value: Number, values: Mapping[int, int]) -> Number:
    """Put numbers in the place of the levels in `values`; other levels stay."""
    if isinstance(value, int):
        return value
    const = value.const
    rest: list[tuple[int, int]] = []
    for level, factor in value.terms:
        if level in values:
            const += factor * values[level]
        else:
            rest.append((level, factor))
    return number(const, tuple(rest)) if rest else const


def _combined(left: Sym, right: Number, sign: int) -> Number:
    terms = dict(left.terms)
    for level, factor in terms_of(right):
        terms[level] = terms.get(level, 0) + sign * factor
    return number(left.const + sign * const_of(right), tuple(sorted(terms.items())))
