"""How an engine program follows the sequential program: where it stands, and what comes next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from headway.errors import Location
from headway.ir.expr import Binary, Expr
from headway.ir.program import ControlRead, If, Instr, Loop, Node, While
from headway.ir.walk import instructions
from headway.prove.facts import Facts
from headway.prove.forms import Form
from headway.sync.program import (
    Assign,
    Exec,
    Load,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncWhile,
    Waits,
    walk_sync,
)


class Undecided(Exception):
    """The walk cannot go on: the reason, and the place."""

    def __init__(self, reason: str, at: Location | None) -> None:
        super().__init__(reason)
        self.reason, self.at = reason, at


@dataclass(slots=True)
class Cursor:
    """Where an engine stands in a block of its program."""

    nodes: tuple[SyncNode, ...] = ()
    at: int = 0

    def find(self, node: Node | ControlRead) -> int | None:
        """Return where the engine runs a node of the program, if that comes next."""
        for i in range(self.at, len(self.nodes)):
            if runs(self.nodes[i], node):
                return i
            if not is_local(self.nodes[i]):
                return None
        return None

    def next_shared(self) -> SyncNode | None:
        """Return the next node that is not local to the engine."""
        return next((node for node in self.nodes[self.at :] if not is_local(node)), None)


Cursors = dict[str, Cursor]


class Case(NamedTuple):
    """How often a loop has run: `trip` is `least`, or at least that."""

    trip: Form
    least: int
    is_exact: bool

    def decides(self, condition: Expr, facts: Facts) -> bool | None:
        """Tell whether a condition `trip > n` holds; None if that is open."""
        if not isinstance(condition, Binary) or condition.operator != ">":
            return None
        if not isinstance(condition.right, int) or facts.form(condition.left) != self.trip:
            return None
        if self.least > condition.right:
            return True
        return False if self.is_exact else None


def is_local(node: SyncNode) -> bool:
    """Tell whether a node concerns its engine only."""
    if isinstance(node, SyncIf) and node.load is None:
        return all(is_local(inner) for inner in (*node.then, *node.orelse))
    return isinstance(node, Assign | Waits)


def runs(node: SyncNode, program_node: Node | ControlRead) -> bool:
    """Tell whether a node of an engine program is a node of the sequential program."""
    match node, program_node:
        case Exec(), Instr():
            return node.instr == program_node.name
        case Load(), ControlRead():
            return node.control == program_node.name
        case SyncLoop(), Loop():
            same = (node.iteration, node.trip) == (program_node.iteration, program_node.trip)
        case SyncWhile(), While():
            a, b = (
                (node.iteration, node.condition),
                (program_node.iteration, program_node.condition),
            )
            same = a == b
        case SyncIf(), If():
            same = node.condition == program_node.condition
        case _:
            return False
    inside = {instr.name for instr in instructions((program_node,))}
    return same and all(n.instr in inside for n in walk_sync((node,)) if isinstance(n, Exec))


def asked_trips(cursor: Cursor, trip: Form, facts: Facts) -> Iterator[int]:
    """Yield every n of a condition `trip > n` in what an engine does next on its own."""
    for node in cursor.nodes[cursor.at :]:
        if not is_local(node):
            return
        for inner in walk_sync((node,)):
            condition = inner.condition if isinstance(inner, SyncIf) else 0
            if isinstance(condition, Binary) and condition.operator == ">":
                if isinstance(condition.right, int) and facts.form(condition.left) == trip:
                    yield condition.right
