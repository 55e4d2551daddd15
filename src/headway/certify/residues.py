"""Which residues of numbers have to be known, so that places in rows and slots of buffers are.

Nothing here has to be right for a proof to be: it says what the search tells apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import gcd, lcm

from headway.certify.numbers import OPERATIONS, Form, form, linear
from headway.ir.expr import Binary, Expr


def modulos(expr: Expr) -> Iterator[tuple[Expr, int]]:
    """Yield what an expression takes modulo a number."""
    if isinstance(expr, Binary):
        if expr.operator == "%" and isinstance(expr.right, int) and expr.right > 0:
            yield expr.left, expr.right
        yield from modulos(expr.left)
        yield from modulos(expr.right)


def remainders(expr: Expr, slots: int) -> Iterator[tuple[Form, int]]:
    """Yield what has to be known for an expression to be known modulo `slots`."""
    terms: dict[tuple[str, ...], int] = {}
    for atoms, n in linear(expr):
        inner = [OPERATIONS[atom] for atom in atoms if atom in OPERATIONS]
        turning = [(o.left, o.right) for o in inner if o.operator == "%"]
        for left, right in turning:
            if isinstance(right, int) and right > 0:
                yield from remainders(left, right)
        if atoms and n % slots and not turning:
            terms[atoms] = n
    if terms:
        yield form(terms), slots


def without_constant(f: Form) -> Form:
    """Return a form without its constant."""
    return tuple((atoms, n) for atoms, n in f if atoms)


def together(around: Mapping[Form, int], wanted: Iterable[tuple[Form, int]]) -> dict[Form, int]:
    """Return few residues that all those follow from: of single names, where one stands alone."""
    found: dict[Form, int] = {}
    rest = list(dict.fromkeys([*around.items(), *wanted]))
    while True:
        left: list[tuple[Form, int]] = []
        for f, slots in rest:
            others: dict[tuple[str, ...], int] = {}
            for atoms, n in f:
                single, new = form({atoms: 1}), slots // gcd(n, slots)
                if len(f) == 1 or (single in found and found[single] % new == 0):
                    found[single] = lcm(found.get(single, 1), new)
                else:
                    others[atoms] = n
            if others:
                left.append((form(others), slots))
        if left == rest:
            break
        rest = left
    for f, slots in rest:
        found[f] = lcm(found.get(f, 1), slots)
    return found
