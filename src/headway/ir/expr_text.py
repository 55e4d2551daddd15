"""How tightly operators bind and how deep an expression may nest: for readers and printers."""

from __future__ import annotations

from collections.abc import Iterable

from headway.ir.expr import Binary, Expr, Leaf

COMPARISON = 3
PRECEDENCE = {
    "or": 1,
    "and": 2,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), COMPARISON),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "//", "%"), 5),
}
"""Binary operators that stand between their operands; a larger number binds more tightly."""

MAX_DEPTH = 50
MAX_PARTS = 1000
"""Limits of an expression: far beyond any program, and safe for every recursion over it."""

TOO_BIG = f"an expression has at most {MAX_DEPTH} levels and {MAX_PARTS:,} parts"


def is_too_big(expr: Expr) -> bool:
    """Tell whether `expr` breaks a limit. Exact; parts that occur twice count twice."""
    parts, stack = 0, [(expr, 0)]
    while stack:
        node, level = stack.pop()
        parts += 1
        if level > MAX_DEPTH or parts > MAX_PARTS:
            return True
        if isinstance(node, Binary):
            stack += ((node.left, level + 1), (node.right, level + 1))
        elif isinstance(node, Leaf):
            stack += ((part, level + 1) for part in node.parts())
    return False


def expression_text(expr: Expr, floor: int = 0) -> str:
    """Return `expr` as text, in parentheses if it binds less tightly than `floor`."""
    if isinstance(expr, int):
        return format(expr, "d")
    if isinstance(expr, Leaf):
        return str(expr)
    if expr.operator in ("min", "max"):
        return f"{expr.operator}({expression_text(expr.left)}, {expression_text(expr.right)})"
    rank = PRECEDENCE[expr.operator]
    left = expression_text(expr.left, rank + (rank == COMPARISON))
    text = f"{left} {expr.operator} {expression_text(expr.right, rank + 1)}"
    return f"({text})" if rank < floor else text


def box_text(box: Iterable[tuple[Expr, Expr]]) -> str:
    """Return the intervals of a box as text."""
    parts = (f"{expression_text(low)}:{expression_text(high)}" for low, high in box)
    return f"[{', '.join(parts)}]"
