"""Where in a row of registers an index is, if the row is cut into blocks of one width.

(6 * i + j + 2) % 72, blocks of 6      ->      block (i + 1) % 12 for 4 <= j < 10, number unknown
(6 * i + 8) % 72                       ->      block (i + 1) % 12, number 2
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from headway.ir.expr import Binary, Expr, Iteration
from headway.passes._polynomial import Polynomial, Product


class Place(NamedTuple):
    """A block, and the number of an element in it; None = that is known at run time only."""

    block: Expr
    number: int | None


def place(index: Expr, width: int, last: Mapping[str, int]) -> Place:
    """Return the place of an index that is never below 0. The block is exact in any case."""
    if isinstance(index, int):
        return Place(*divmod(index, width))
    whole, modulus = index, 0
    match index:
        case Binary("%", inner, int() as size) if size > 0 and size % width == 0:
            whole, modulus = inner, size
        case _:
            pass
    terms = Polynomial.of(whole).terms
    least, most = _bounds(((p, f) for p, f in terms if not p or f % width), last)
    if least is None or most is None or least // width != most // width:
        return Place(Binary("//", index, width), None)
    blocks = frozenset((p, f // width) for p, f in terms if p and f % width == 0)
    block = (Polynomial(blocks) + Polynomial.of(least // width)).expression()
    if modulus:
        block = _modulo(block, modulus // width)
    return Place(block, least % width if least == most else None)


def _modulo(block: Expr, count: int) -> Expr:
    if count == 1:
        return 0
    return block % count if isinstance(block, int) else Binary("%", block, count)


def _bounds(
    terms: Iterable[tuple[Product, int]], last: Mapping[str, int]
) -> tuple[int, int] | tuple[None, None]:
    """Return the least and the largest value of a sum, if both are known."""
    least = most = 0
    for product, factor in terms:
        largest = _largest(product, last)
        if largest is None:
            return None, None
        ends = (factor, factor) if not product else sorted((0, factor * largest))
        least, most = least + ends[0], most + ends[1]
    return least, most


def _largest(product: Product, last: Mapping[str, int]) -> int | None:
    """Return the largest value of a product whose least value is 0."""
    match product:
        case ():
            return 1
        case (Iteration(loop=loop),):
            return last.get(loop)
        case (Binary("%", _, int() as size),) if size > 0:
            return size - 1
        case _:
            return None
