"""Rewriting the values in the expressions of an engine program.

What does not change stays the object it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import is_

from headway.ir.expr import Binary, Expr, Input
from headway.sync.program import (
    Assign,
    Exec,
    Load,
    RegisterRef,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncWhile,
    Threshold,
    Wait,
    Waits,
)

Rule = Callable[[Expr], Expr | None]
"""What an expression becomes; None = the same, with the rule applied to its parts."""


def mapped(expr: Expr, rule: Rule) -> Expr:
    """Return an expression with other parts."""
    new = rule(expr)
    if new is not None:
        return new
    if isinstance(expr, Binary):
        left, right = mapped(expr.left, rule), mapped(expr.right, rule)
        is_same = left is expr.left and right is expr.right
        return expr if is_same else Binary(expr.operator, left, right)
    if isinstance(expr, Input) and expr.index is not None:
        index = mapped(expr.index, rule)
        return expr if index is expr.index else Input(expr.name, index)
    if isinstance(expr, RegisterRef):
        index = mapped(expr.index, rule)
        return expr if index is expr.index else RegisterRef(expr.name, index)
    return expr


def renaming(names: Mapping[str, str]) -> Rule:
    """Return a rule that gives registers, none of them a row, other names."""

    def rename(expr: Expr) -> Expr | None:
        if isinstance(expr, RegisterRef) and expr.name in names:
            return RegisterRef(names[expr.name])
        return None

    return rename


def with_values(node: SyncNode, rule: Rule) -> SyncNode:
    """Return a node with other values in its own expressions: not in those of its bodies."""
    match node:
        case Exec() | Waits() | Load():
            waits = _waits(node.waits, rule)
            return node if waits is node.waits else replace(node, waits=waits)
        case Assign():
            register, value = _register(node.register, rule), mapped(node.value, rule)
            is_same = register is node.register and value is node.value
            return node if is_same else Assign(register, value, node.at)
        case SyncLoop():
            return replace(node, trip=mapped(node.trip, rule), load=_sync_load(node.load, rule))
        case SyncWhile() | SyncIf():
            load = _sync_load(node.load, rule)
            return replace(node, condition=mapped(node.condition, rule), load=load)
        case _:
            return node


def _sync_load(load: Load | None, rule: Rule) -> Load | None:
    return replace(load, waits=_waits(load.waits, rule)) if load else None


def _waits(waits: tuple[Wait, ...], rule: Rule) -> tuple[Wait, ...]:
    new = tuple([_wait(wait, rule) for wait in waits])
    return waits if all(map(is_, new, waits)) else new


def _wait(wait: Wait, rule: Rule) -> Wait:
    register = wait.threshold.register
    if register is None:
        return wait
    new = _register(register, rule)
    if new is register:
        return wait
    return Wait(wait.counter, Threshold(new, wait.threshold.offset), wait.at)


def _register(register: RegisterRef, rule: Rule) -> RegisterRef:
    new = mapped(register, rule)
    assert isinstance(new, RegisterRef), "only a register takes the place of one that is set"
    return new
