"""A wait for the same position in every iteration is done once, in front of the loop.

    loop k 8 {                                          wait V >= access.V.sums
      mm waits V >= access.V.sums, Q >= shadow.Q + 1    loop k 8 {
      shadow.Q := shadow.Q + 1                    ->      mm waits Q >= shadow.Q + 1
    }                                                     shadow.Q := shadow.Q + 1
                                                        }

Only waits of the first instruction that an engine issues in a loop are moved: what comes after them
is that instruction still, so that nothing is late. Where the loop may not run nobody may wait, so
that the waits stay.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from headway.ir.expr import Expr, Iteration, leaves
from headway.sync.program import Assign, Exec, SyncLoop, SyncNode, Wait, Waits, walk_sync
from headway.sync.rewrite import Body


def hoisted(loop: SyncLoop) -> Body:
    """Return a loop with the waits that it repeats in front of it."""
    if loop.load or not isinstance(loop.trip, int) or loop.trip < 2:
        return (loop,)  # a load would come first; a single iteration repeats nothing
    written = {node.register.name for node in walk_sync(loop.body) if isinstance(node, Assign)}
    body, waits = _taken(loop.body, written, loop.iteration)
    return (Waits(waits), replace(loop, body=body)) if waits else (loop,)


def _taken(body: Body, written: Set[str], iteration: str) -> tuple[Body, tuple[Wait, ...]]:
    """Take the waits out that come before the first instruction and never change."""
    kept: list[SyncNode] = []
    waits: list[Wait] = []
    for number, node in enumerate(body):
        if isinstance(node, Exec | Waits):
            fixed = [wait for wait in node.waits if _is_fixed(wait, written, iteration)]
            waits += fixed
            left = tuple(wait for wait in node.waits if wait not in fixed)
            if left or isinstance(node, Exec):
                kept.append(replace(node, waits=left) if fixed else node)
        else:
            kept.append(node)
        if not isinstance(node, Assign | Waits):
            return (*kept, *body[number + 1 :]), tuple(dict.fromkeys(waits))
    return tuple(kept), tuple(dict.fromkeys(waits))


def _is_fixed(wait: Wait, written: Set[str], iteration: str) -> bool:
    """Tell whether a threshold is the same in every iteration (exact)."""
    register = wait.threshold.register
    if register is None:
        return True
    return register.name not in written and not _reads(register.index, iteration)


def _reads(expr: Expr, iteration: str) -> bool:
    return any(isinstance(leaf, Iteration) and leaf.loop == iteration for leaf in leaves(expr))
