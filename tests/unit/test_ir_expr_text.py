"""Expressions are written with no more parentheses than they need, and read back equal."""

import random

import pytest

from headway.errors import SyntaxProblem
from headway.ir import parse
from headway.ir.expr import OPERATORS, Binary, Expr, Input, Iteration, evaluate
from headway.ir.expr_text import MAX_DEPTH, expression_text, is_too_big
from headway.ir.program import If, Loop


def read(text: str) -> Expr:
    (loop,) = parse(f"program @p {{ input n input m[] loop i 2 {{ if {text} {{ A a }} }} }}").body
    assert isinstance(loop, Loop)
    (node,) = loop.body
    assert isinstance(node, If)
    return node.condition


def value(text: str, i: int = 0, n: int = 0) -> int:
    return evaluate(read(text), {"i": i}, {"n": n, "m": [3, 5]})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 + 3 * 4", 14),
        ("2 - 3 - 4", -5),
        ("2 - (3 - 4)", 3),
        ("17 // 5 // 2", 1),
        ("17 // (5 // 2)", 8),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("- -3", 3),
        ("2 * -3", -6),
        ("-(2 + 3)", -5),
        ("1 or 0 and 0", 1),
        ("(1 or 0) and 0", 0),
        ("1 < 2 and 3 >= 4", 0),
        ("1 + 1 == 2", 1),
        ("3 != 3", 0),
        ("min(2, max(3, 1)) + 1", 3),
        ("m[0] + m[1 - 0]", 8),
    ],
)
def test_operators_bind_as_usual(text: str, expected: int) -> None:
    assert value(text) == expected


def test_a_name_is_the_iteration_of_a_loop_or_an_input() -> None:
    assert read("i") == Iteration("i")
    assert read("n") == Input("n")
    assert read("m[i % 2]") == Input("m", Binary("%", Iteration("i"), 2))
    assert value("i - 1 + n", i=5, n=3) == 7


@pytest.mark.parametrize(
    "text",
    [
        "i - (n - 1)",
        "(i + n) * 2",
        "i + n * 2",
        "(i or n) and 1",
        "(i < n) == 1",
        "i - -1",
        "-1 * i",
        "0 - i",
        "min(i + 1, max(n, 2)) % 3",
        "m[i // 2] - 1",
    ],
)
def test_text_has_no_more_parentheses_than_it_needs(text: str) -> None:
    assert expression_text(read(text)) == text


def some_expression(rng: random.Random, depth: int) -> Expr:
    if depth == 0 or rng.random() < 0.2:
        leaves: list[Expr] = [rng.randint(-9, 9), Iteration("i"), Input("n")]
        return rng.choice(leaves)
    if rng.random() < 0.1:
        return Input("m", some_expression(rng, depth - 1))
    left, right = some_expression(rng, depth - 1), some_expression(rng, depth - 1)
    operator = rng.choice(OPERATORS)
    if operator in ("//", "%") and right == 0:
        return left
    return Binary(operator, left, right)


@pytest.mark.parametrize("seed", range(60))
def test_random_expression_is_read_back_equal(seed: int) -> None:
    expr = Binary("+", Iteration("i"), some_expression(random.Random(seed), 6))
    assert read(expression_text(expr)) == expr


@pytest.mark.parametrize("nest", ["left", "right", "index"])
def test_deepest_expression_is_read_back_equal(nest: str) -> None:
    expr: Expr = Iteration("i")
    for level in range(MAX_DEPTH):
        operator = ("or", "-", "<", "%")[level % 4]
        if nest == "index":
            expr = Input("m", expr) if level % 2 else Binary(operator, expr, 2)
        else:
            expr = Binary(operator, expr, 2) if nest == "left" else Binary(operator, 2, expr)
    assert not is_too_big(expr)
    assert read(expression_text(expr)) == expr
    assert evaluate(expr, {"i": 0}, {"m": [0] * 9, "n": 1}) is not None
    assert is_too_big(Binary("+", 1, expr))


def test_expression_that_shares_its_parts_is_judged_in_no_time() -> None:
    expr: Expr = Iteration("i")
    for _ in range(MAX_DEPTH):
        expr = Binary("+", expr, expr)
    assert is_too_big(expr)


@pytest.mark.parametrize(
    "text", ["(" * 10_000, "1 + " * 10_000 + "1", "-" * 10_000 + "1", "m[" * 10_000, "min(" * 999]
)
def test_endless_expression_is_refused(text: str) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        read(text)
    assert caught.value.diagnostics[0].message == (
        "an expression has at most 50 levels and 1,000 parts"
    )
