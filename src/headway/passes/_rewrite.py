"""Rewriting the nodes of an engine program, of any depth."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from headway.ir.expr import Binary, Expr, Input, Leaf
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


Renaming = Callable[[RegisterRef], RegisterRef]


def with_registers(node: SyncNode, rename: Renaming) -> SyncNode:
    """Return a node with other registers in its waits, its load and its expressions."""
    match node:
        case Exec() | Waits() | Load():
            return replace(node, waits=tuple(_wait(wait, rename) for wait in node.waits))
        case Assign():
            return replace(node, register=rename(node.register), value=_expr(node.value, rename))
        case SyncLoop() | SyncWhile() | SyncIf():
            load = node.load
            waits = tuple(_wait(wait, rename) for wait in load.waits) if load else ()
            return replace(node, load=replace(load, waits=waits) if load else None)
        case _:
            return node


def _wait(wait: Wait, rename: Renaming) -> Wait:
    register = wait.threshold.register
    if register is None:
        return wait
    return replace(wait, threshold=Threshold(rename(register), wait.threshold.offset))


def _expr(expr: Expr, rename: Renaming) -> Expr:
    if isinstance(expr, RegisterRef):
        return rename(RegisterRef(expr.name, _expr(expr.index, rename)))
    if isinstance(expr, Binary):
        return Binary(expr.operator, _expr(expr.left, rename), _expr(expr.right, rename))
    if isinstance(expr, Input) and expr.index is not None:
        return Input(expr.name, _expr(expr.index, rename))
    assert isinstance(expr, int | Leaf)
    return expr
