"""Do two slot expressions name the same slot, at one and the same point of the iterations?

In     two slot expressions of one buffer, both with the current values of the enclosing iterations
Out    SAME, APART or UNKNOWN
Exact  SAME and APART are; UNKNOWN is the conservative answer for expressions of different shape
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from headway.ir.expr import Binary, Expr, affine


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


@lru_cache(maxsize=65536)
def form(slot: Expr) -> Form:
    """Return the normal form of a slot expression."""
    inner, modulus = slot, 0
    if isinstance(slot, Binary) and slot.operator == "%" and isinstance(slot.right, int):
        inner, modulus = slot.left, slot.right
    found = affine(inner)
    if found is None or modulus < 0:
        return Form(slot, 0, 0)
    return Form(found.terms, found.offset % modulus if modulus else found.offset, modulus)


def relation(left: Expr, right: Expr) -> Relation:
    """Compare two slot expressions under equal values of all iterations and inputs."""
    a, b = form(left), form(right)
    if a == b:
        return Relation.SAME
    if a.terms == b.terms and a.modulus == b.modulus:
        return Relation.APART
    return Relation.UNKNOWN
