"""Which registers each node of an engine program names: asked often, found once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headway.ir.expr import Binary, Expr, Iteration
from headway.sync.program import (
    Assign,
    Exec,
    Load,
    RegisterRef,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncWhile,
    Waits,
    sync_branches,
)
from headway.sync.rewrite import Body

Names = frozenset[str]

NOBODY: Names = frozenset()


def reads(*exprs: Expr | None) -> Names:
    """Return the names of the registers in expressions."""
    found: set[str] = set()
    for expr in exprs:
        if expr is not None:
            _collect(expr, found)
    return frozenset(found) if found else NOBODY


def _collect(expr: Expr, found: set[str]) -> None:
    if isinstance(expr, int | Iteration):
        return
    if isinstance(expr, Binary):
        _collect(expr.left, found)
        _collect(expr.right, found)
        return
    if isinstance(expr, RegisterRef):
        found.add(expr.name)
    for part in expr.parts():
        _collect(part, found)


class Mentions:
    """Remembers nodes by identity, and keeps them alive."""

    def __init__(self) -> None:
        self._own: dict[int, tuple[SyncNode, Names]] = {}
        self._all: dict[int, tuple[SyncNode, Names]] = {}
        self._places: dict[int, tuple[Body, dict[str, list[int]]]] = {}

    def read(self, node: SyncNode) -> Names:
        """Return the registers that a node reads; those of its bodies do not count."""
        found = self._own.get(id(node))
        if found is None:
            found = self._own[id(node)] = (node, _read(node))
        return found[1]

    def inside(self, node: SyncNode) -> Names:
        """Return the registers that a node or something inside it reads or sets."""
        found = self._all.get(id(node))
        if found is None:
            names = self.read(node)
            if isinstance(node, Assign):
                names |= {node.register.name}
            for part in sync_branches(node):
                names = names.union(*map(self.inside, part))
            found = self._all[id(node)] = (node, names)
        return found[1]

    def places(self, body: Body) -> Mapping[str, Sequence[int]]:
        """Return for each register which nodes of a body name it or hold one that does."""
        found = self._places.get(id(body))
        if found is None:
            places: dict[str, list[int]] = {}
            for number, node in enumerate(body):
                for name in self.inside(node):
                    places.setdefault(name, []).append(number)
            found = self._places[id(body)] = (body, places)
        return found[1]


def _read(node: SyncNode) -> Names:
    match node:
        case Exec() if not node.waits:
            return NOBODY
        case Assign():
            return reads(node.value, node.register.index)
        case Exec() | Waits() | Load():
            return reads(*(wait.threshold.register for wait in node.waits))
        case SyncLoop():
            return reads(node.trip) | _loaded(node.load)
        case SyncWhile() | SyncIf():
            return reads(node.condition) | _loaded(node.load)
        case _:
            return NOBODY


def _loaded(load: Load | None) -> Names:
    return _read(load) if load else NOBODY
