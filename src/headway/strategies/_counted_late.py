"""Control values that an engine needs only to count are loaded as late as possible.

An engine without work inside a loop or if may need its trip count or condition to know how many
signals come from it. What the engine does next, and what does not ask for that number, must not
wait until the value is there (H4).

    load l waits B >= 1                        x
    shadow.A := shadow.A + n          ->       load l waits B >= 1
    x                                          shadow.A := shadow.A + n
    y waits A >= shadow.A                      y waits A >= shadow.A

The load stays before everything that may overwrite the value, on any engine, so that no engine can
wait for a load that stands behind something that waits for that engine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headway.analysis.steps import AnyStep, Step, Steps
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
    walk_sync,
)


@dataclass(frozen=True, slots=True)
class Late:
    """Nodes from a load on that may come later, and the places that the load reads."""

    nodes: tuple[SyncNode, ...]
    places: frozenset[int]

    def is_overwritten_by(self, step: AnyStep, steps: Steps) -> bool:
        """Tell whether a step may write what the load reads."""
        if isinstance(step, Step):
            return any(touch.place in self.places for touch in step.writes)
        return any(
            writers and steps.place_of(cell) in self.places
            for cell, (writers, _) in step.cells.items()
        )

    def must_precede(self, nodes: Sequence[SyncNode]) -> bool:
        """Tell whether later nodes need what these do, or load something themselves."""
        if not nodes:
            return False
        if any(isinstance(node, Load) for node in walk_sync(tuple(nodes))):
            return True
        reads, writes = _registers(self.nodes)
        later_reads, later_writes = _registers(nodes)
        return bool(writes & (later_reads | later_writes) or reads & later_writes)


def late(nodes: list[SyncNode], step: AnyStep, engine: int) -> tuple[list[SyncNode], Late | None]:
    """Take apart what an engine writes for a loop or if: what has to stay, and what may be late."""
    if isinstance(step, Step):
        return nodes, None
    loads = [load for load in step.loads if load.engine == engine and load.is_idle]
    first = next((i for i, node in enumerate(nodes) if _is_loading(node)), None)
    if not loads or first is None:
        return nodes, None
    places = frozenset(touch.place for load in loads for touch in load.reads)
    return nodes[:first], Late(tuple(nodes[first:]), places)


def _is_loading(node: SyncNode) -> bool:
    if isinstance(node, SyncLoop | SyncWhile | SyncIf):
        return node.load is not None
    return isinstance(node, Load)


def _registers(nodes: Iterable[SyncNode]) -> tuple[set[str], set[str]]:
    """Return the names of the registers that nodes read and write."""
    reads: set[str] = set()
    writes: set[str] = set()
    for node in walk_sync(tuple(nodes)):
        match node:
            case Assign():
                writes.add(node.register.name)
                reads |= _read(node.value) | _read(node.register.index)
            case Exec() | Waits() | Load():
                for wait in node.waits:
                    reads |= _read(wait.threshold.register or 0)
            case _:
                pass  # trip counts and conditions of a program read no registers
    return reads, writes


def _read(expr: Expr) -> set[str]:
    return {leaf.name for leaf in leaves(expr) if isinstance(leaf, RegisterRef)}
