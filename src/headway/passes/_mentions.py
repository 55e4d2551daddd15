"""Which registers each node of an engine program names: asked often, found once."""

from __future__ import annotations

from headway.ir.expr import Expr, leaves
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

Names = frozenset[str]

NOBODY: Names = frozenset()


def reads(*exprs: Expr | None) -> Names:
    """Return the names of the registers in expressions."""
    found: set[str] = set()
    for expr in exprs:
        if type(expr) is RegisterRef and type(expr.index) is int:
            found.add(expr.name)
        elif expr is not None and type(expr) is not int:
            found.update(leaf.name for leaf in leaves(expr) if isinstance(leaf, RegisterRef))
    return frozenset(found) if found else NOBODY


class Mentions:
    """Remembers nodes by identity, and keeps them alive."""

    def __init__(self) -> None:
        self._own: dict[int, tuple[SyncNode, Names]] = {}
        self._all: dict[int, tuple[SyncNode, Names]] = {}

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


def _read(node: SyncNode) -> Names:
    match node:
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
