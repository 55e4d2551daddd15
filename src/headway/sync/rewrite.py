"""Rewriting the nodes of an engine program, from the inside out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from headway.sync.program import SyncIf, SyncLoop, SyncNode, SyncWhile

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
