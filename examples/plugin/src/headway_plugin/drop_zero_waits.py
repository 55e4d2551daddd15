"""Drop waits for nothing.

In     engine programs
Out    the same without waits whose threshold is a constant of 0 or less: they hold at once
Keeps  what every instance waits for
Cost   linear

    mm waits a >= 0, b >= 2        ->      mm waits b >= 2
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from headway.sync.program import (
    EngineProgram,
    Exec,
    Load,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    Wait,
    Waits,
)
from headway.targets import Target

Body = tuple[SyncNode, ...]


@dataclass(frozen=True, slots=True)
class DropZeroWaits:
    """Drops waits for nothing."""

    name: str = "drop-zero-waits"
    description: str = "drop waits whose threshold is 0 or less"

    def apply(self, sync: SyncProgram, target: Target) -> SyncProgram:
        """Return the engine programs with fewer waits. Never refuses a program."""
        return replace(sync, engines=tuple(map(_engine, sync.engines)))


def _engine(engine: EngineProgram) -> EngineProgram:
    return replace(engine, body=_body(engine.body))


def _body(nodes: Body) -> Body:
    return tuple(part for node in nodes for part in _node(node))


def _node(node: SyncNode) -> Iterator[SyncNode]:
    match node:
        case Waits():
            if kept := _needed(node.waits):
                yield replace(node, waits=kept)
        case Exec() | Load():
            yield replace(node, waits=_needed(node.waits))
        case SyncLoop() | SyncWhile():
            yield replace(node, body=_body(node.body), load=_load(node.load))
        case SyncIf():
            then, orelse = _body(node.then), _body(node.orelse)
            yield replace(node, then=then, orelse=orelse, load=_load(node.load))
        case _:
            yield node


def _load(load: Load | None) -> Load | None:
    return load and replace(load, waits=_needed(load.waits))


def _needed(waits: tuple[Wait, ...]) -> tuple[Wait, ...]:
    return tuple(w for w in waits if w.threshold.register or w.threshold.offset > 0)


PASS = DropZeroWaits()
