"""Expressions and numbers as C."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from headway.ir.expr import Binary, Expr, Input, Iteration

CALLS: Mapping[str, str] = {
    "//": "floor_div",
    "%": "floor_mod",
    "min": "lesser",
    "max": "greater",
}
SIGNS: Mapping[str, str] = {"and": "&&", "or": "||"}


def expression(expr: Expr, iteration: Callable[[str], str], prefix: str) -> str:
    """Return C for the value of an expression in 64 bits; `iteration` names that of a loop."""
    match expr:
        case int():
            return number(expr)
        case Iteration():
            return f"(int64_t){iteration(expr.loop)}"
        case Input():
            if expr.index is None:
                return input_name(prefix, expr.name)
            index = expression(expr.index, iteration, prefix)
            return element(prefix, expr.name, index)
        case Binary():
            left = expression(expr.left, iteration, prefix)
            right = expression(expr.right, iteration, prefix)
            return combined(expr.operator, left, right)
        case _:
            raise TypeError(expr)


def combined(operator: str, left: str, right: str) -> str:
    """Return C for an operator applied to two values of 64 bits."""
    if operator in CALLS:
        return f"{CALLS[operator]}({left}, {right})"
    return f"({left} {SIGNS.get(operator, operator)} {right})"


def number(value: int) -> str:
    """Return C for a number."""
    return f"INT64_C({value})" if value >= 0 else f"(-INT64_C({-value}))"


def input_name(prefix: str, name: str) -> str:
    """Return the C name of a run-time input."""
    return f"{prefix}input_{identifier(name)}"


def element(prefix: str, name: str, index: str) -> str:
    """Return C for an element of a run-time input that is a list."""
    row = input_name(prefix, name)
    return f"element({row}, sizeof {row} / sizeof *{row} - 1, {index})"


def identifier(name: str) -> str:
    """Return a C identifier for a name; different names have different ones."""
    return name.replace("_", "__").replace(".", "_d")
