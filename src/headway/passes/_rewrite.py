"""Rewriting the nodes of an engine program, and the values in their expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

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
    Wait,
    Waits,
)

Body = tuple[SyncNode, ...]


def rewritten(body: Iterable[SyncNode], rule: Callable[[SyncNode], Iterable[SyncNode]]) -> Body:
    """Replace each node by what `rule` gives for it, once its bodies have been rewritten."""
    return tuple(new for node in body for new in rule(_inside(node, rule)))


def _inside(node: SyncNode, rule: Callable[[SyncNode], Iterable[SyncNode]]) -> SyncNode:
    match node:
        case SyncLoop() | SyncWhile():
            return replace(node, body=rewritten(node.body, rule))
        case SyncIf():
            then, orelse = rewritten(node.then, rule), rewritten(node.orelse, rule)
            return replace(node, then=then, orelse=orelse)
        case _:
            return node


Rule = Callable[[Expr], Expr | None]
"""What an expression becomes; None = the same, with the rule applied to its parts."""


def mapped(expr: Expr, rule: Rule) -> Expr:
    """Return an expression with other parts."""
    new = rule(expr)
    if new is not None:
        return new
    if isinstance(expr, Binary):
        return Binary(expr.operator, mapped(expr.left, rule), mapped(expr.right, rule))
    if isinstance(expr, Input) and expr.index is not None:
        return Input(expr.name, mapped(expr.index, rule))
    if isinstance(expr, RegisterRef):
        return RegisterRef(expr.name, mapped(expr.index, rule))
    return expr


def with_values(node: SyncNode, rule: Rule) -> SyncNode:
    """Return a node with other values in its own expressions: not in those of its bodies."""
    match node:
        case Exec() | Waits() | Load():
            return replace(node, waits=_waits(node.waits, rule))
        case Assign():
            return Assign(_register(node.register, rule), mapped(node.value, rule), node.at)
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
    return tuple(_wait(wait, rule) for wait in waits)


def _wait(wait: Wait, rule: Rule) -> Wait:
    register = wait.threshold.register
    if register is None:
        return wait
    return replace(wait, threshold=replace(wait.threshold, register=_register(register, rule)))


def _register(register: RegisterRef, rule: Rule) -> RegisterRef:
    new = mapped(register, rule)
    assert isinstance(new, RegisterRef), "only a register takes the place of one that is set"
    return new
