"""Other values in the expressions of a sequential program."""

from __future__ import annotations

from dataclasses import replace
from math import lcm

from headway.ir.atoms import at_slot
from headway.ir.expr import Binary, Expr, Input, Iteration
from headway.ir.program import Access, ControlRead, If, Instr, Loop, Node, While
from headway.passes._polynomial import Polynomial
from headway.passes._rewrite import Rule, mapped


def with_values(node: Node, rule: Rule) -> Node:
    """Return a node of a sequential program with other values in all its expressions."""
    match node:
        case Instr():
            reads, writes = _accesses(node.reads, rule), _accesses(node.writes, rule)
            return replace(node, reads=reads, writes=writes)
        case Loop():
            body, trip = tuple(with_values(x, rule) for x in node.body), mapped(node.trip, rule)
            return replace(node, trip=trip, body=body, control=_control(node.control, rule))
        case While():
            body = tuple(with_values(x, rule) for x in node.body)
            condition, control = mapped(node.condition, rule), _control(node.control, rule)
            return replace(node, condition=condition, body=body, control=control)
        case If():
            then = tuple(with_values(x, rule) for x in node.then)
            orelse = tuple(with_values(x, rule) for x in node.orelse)
            condition, control = mapped(node.condition, rule), _control(node.control, rule)
            return If(condition, then, orelse, control, node.at)


def _control(control: ControlRead | None, rule: Rule) -> ControlRead | None:
    return replace(control, reads=_accesses(control.reads, rule)) if control else None


def _accesses(accesses: tuple[Access, ...], rule: Rule) -> tuple[Access, ...]:
    return tuple(at_slot(access, mapped(access.slot, rule)) for access in accesses)


def shifted(iteration: str, by: Expr, step: int) -> Rule:
    """Return the rule that makes iteration i the iteration `by + i`, where `step` divides `by`.

    Modulo a divisor of `step` it stays the same, so that a rotating buffer is still seen as one.
    """

    def rule(expr: Expr) -> Expr | None:
        if expr == Iteration(iteration):
            return Binary("+", by, expr)
        if isinstance(expr, Binary) and expr.operator == "%" and is_polynomial(expr.left):
            if isinstance(expr.right, int) and expr.right > 0 and step % expr.right == 0:
                return expr
        return None

    return rule


def fixed(iteration: str, by: Expr, number: int, step: int) -> Rule:
    """Return the rule that makes iteration i the iteration `by + number`; else as `shifted`."""

    def rule(expr: Expr) -> Expr | None:
        if expr == Iteration(iteration):
            return Binary("+", by, number) if number else by
        if not isinstance(expr, Binary) or expr.operator != "%" or not is_polynomial(expr.left):
            return None
        if isinstance(expr.right, int) and expr.right > 0 and step % expr.right == 0:
            left = mapped(expr.left, lambda x: number if x == Iteration(iteration) else None)
            form = Polynomial.of(left).expression()
            return form % expr.right if isinstance(form, int) else Binary("%", form, expr.right)
        return None

    return rule


def is_polynomial(expr: Expr) -> bool:
    """Tell whether a value is a sum of products of whole numbers, iterations and inputs."""
    if isinstance(expr, Binary):
        whole = expr.operator in ("+", "-", "*")
        return whole and is_polynomial(expr.left) and is_polynomial(expr.right)
    return isinstance(expr, int | Iteration) or (isinstance(expr, Input) and expr.index is None)


def period(nodes: tuple[Node, ...], limit: int) -> int:
    """Return the least common multiple of what subscripts are taken modulo of, if it is small."""
    moduli: set[int] = set()

    def note(expr: Expr) -> None:
        if isinstance(expr, Binary) and expr.operator == "%" and isinstance(expr.right, int):
            moduli.add(max(1, expr.right))

    for node in nodes:
        with_values(node, note)
    found = lcm(*moduli)
    return found if found <= limit else 1


def as_inputs(names: frozenset[str]) -> Rule:
    """Return the rule that takes iterations of these names for inputs."""

    def rule(expr: Expr) -> Expr | None:
        return Input(expr.loop) if isinstance(expr, Iteration) and expr.loop in names else None

    return rule


def as_iterations(names: frozenset[str]) -> Rule:
    """Return the rule that takes inputs of these names for iterations."""

    def rule(expr: Expr) -> Expr | None:
        return Iteration(expr.name) if isinstance(expr, Input) and expr.name in names else None

    return rule
