"""Bodies of a sequential program, and programs with other ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from headway.ir.program import If, Instr, Node

Body = tuple[Node, ...]


def with_bodies(node: Node, change: Callable[[Body], Body]) -> Node:
    """Return a node with its bodies changed; an instruction has none."""
    match node:
        case Instr():
            return node
        case If():
            return replace(node, then=change(node.then), orelse=change(node.orelse))
        case _:
            return replace(node, body=change(node.body))
