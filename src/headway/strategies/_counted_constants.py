"""Registers that are never set are 0: thresholds and captures that add to them become constants.

mm waits q >= shadow.q + 3        ->      mm waits q >= 3
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from headway.ir.expr import Binary, Expr
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


def with_constants(body: tuple[SyncNode, ...], zero: Set[str]) -> tuple[SyncNode, ...]:
    """Return the body without the registers named in `zero`, none of which it sets."""
    return tuple(_node(node, zero) for node in body)


def _node(node: SyncNode, zero: Set[str]) -> SyncNode:
    match node:
        case Exec() | Waits():
            return replace(node, waits=_waits(node.waits, zero)) if node.waits else node
        case Load():
            return _load(node, zero)
        case Assign():
            return replace(node, value=_value(node.value, zero))
        case SyncLoop() | SyncWhile():
            load = node.load and _load(node.load, zero)
            return replace(node, body=with_constants(node.body, zero), load=load)
        case SyncIf():
            then, orelse = with_constants(node.then, zero), with_constants(node.orelse, zero)
            load = node.load and _load(node.load, zero)
            return replace(node, then=then, orelse=orelse, load=load)
        case _:
            return node


def _load(load: Load, zero: Set[str]) -> Load:
    return replace(load, waits=_waits(load.waits, zero))


def _waits(waits: tuple[Wait, ...], zero: Set[str]) -> tuple[Wait, ...]:
    return tuple(_wait(wait, zero) for wait in waits)


def _wait(wait: Wait, zero: Set[str]) -> Wait:
    register = wait.threshold.register
    if register is None or register.name not in zero:
        return wait
    return replace(wait, threshold=Threshold(None, wait.threshold.offset))


def _value(expr: Expr, zero: Set[str]) -> Expr:
    if isinstance(expr, RegisterRef) and expr.name in zero:
        return 0
    if not isinstance(expr, Binary):
        return expr
    left, right = _value(expr.left, zero), _value(expr.right, zero)
    if expr.operator == "+" and 0 in (left, right):
        return left if right == 0 else right
    return Binary(expr.operator, left, right)
