"""Rewriting the nodes of an engine program, from the inside out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from headway.sync.program import SyncIf, SyncLoop, SyncNode, SyncWhile

Body = tuple[SyncNode, ...]


def rewritten(body: Iterable[SyncNode], rule: Callable[[SyncNode], Iterable[SyncNode]]) -> Body:
    """Replace each node by what `rule` gives for it, once its bodies have been rewritten."""

    def inside(part: Body) -> Body:
        return rewritten(part, rule)

    return tuple(new for node in body for new in rule(with_bodies(node, inside)))


def with_bodies(node: SyncNode, change: Callable[[Body], Body]) -> SyncNode:
    """Return a node with what `change` makes of each of its bodies."""
    match node:
        case SyncLoop() | SyncWhile():
            return replace(node, body=change(node.body))
        case SyncIf():
            return replace(node, then=change(node.then), orelse=change(node.orelse))
        case _:
            return node
