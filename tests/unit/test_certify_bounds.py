"""A range holds every value that an expression can have, and is as small as its parts allow."""

from itertools import product
from math import inf
from random import Random

import pytest

from headway.certify.bounds import ANYTHING, Range, bounds
from headway.errors import InvalidInput
from headway.ir.expr import OPERATORS, Binary, Expr, Input, Iteration, evaluate

i, j, n = Iteration("i"), Iteration("j"), Input("n")


def known(expr: Expr) -> Range:
    return {i: Range(0, 3), j: Range(0, inf)}.get(expr, ANYTHING)


@pytest.mark.parametrize(
    ("expr", "least", "most"),
    [
        (7, 7, 7),
        (i, 0, 3),
        (n, -inf, inf),
        (Binary("+", i, 2), 2, 5),
        (Binary("-", 1, i), -2, 1),
        (Binary("-", 1, j), -inf, 1),
        (Binary("*", -2, i), -6, 0),
        (Binary("*", i, j), 0, inf),
        (Binary("*", 0, n), 0, 0),
        (Binary("//", Binary("-", i, 3), 2), -2, 0),
        (Binary("//", Binary("-", 0, j), 2), -inf, 0),
        (Binary("//", i, Binary("+", j, 1)), 0, 3),
        (Binary("//", i, n), -inf, inf),
        (Binary("%", i, 8), 0, 3),
        (Binary("%", n, 8), 0, 7),
        (Binary("%", i, n), -inf, inf),
        (Binary("min", n, 3), -inf, 3),
        (Binary("max", n, i), 0, inf),
        (Binary("<", n, 3), 0, 1),
        (Binary("and", n, i), 0, 1),
    ],
)
def test_range_of_an_expression(expr: Expr, least: float, most: float):
    assert bounds(expr, known) == (least, most)


def test_what_is_known_of_a_whole_expression_counts_too():
    trip = Binary("-", n, 1)
    assert bounds(trip, lambda e: Range(0, inf) if e == trip else ANYTHING) == (0, inf)


def drawn(random: Random, depth: int) -> Expr:
    if depth == 0 or random.random() < 0.2:
        return random.choice([i, j, random.randint(-4, 4)])
    return Binary(random.choice(OPERATORS), drawn(random, depth - 1), drawn(random, depth - 1))


def test_every_value_lies_in_the_range():
    random = Random(0)
    held = 0
    for _ in range(2_000):
        expr = drawn(random, 3)
        least, most = bounds(expr, known)
        for at_i, at_j in product(range(4), (0, 1, 2, 9)):
            try:
                value = evaluate(expr, {"i": at_i, "j": at_j}, {})
            except InvalidInput:  # a division by zero
                continue
            assert least <= value <= most, f"{expr} at i={at_i} j={at_j}"
            held += 1
    assert held > 20_000
