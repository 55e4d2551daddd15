"""Write the first iteration of a loop out where only that one has to wait.

In     engine programs
Out    the same; a loop in which a wait asks for the same position in every iteration begins with an
       iteration of its own, and the others are without that wait
Keeps  what each instance has waited for: a counter only grows, so that a wait says as much later on
Cost   linear in the engine programs

    loop k n {                                    if n != 0 {
      mm waits V >= access.V.sums, Q >= s + 1       mm at k 0 waits V >= access.V.sums, Q >= s + 1
      s := s + 1                            ->      s := s + 1
    }                                               loop k n - 1 at 1 {
                                                      mm waits Q >= s + 1
                                                      s := s + 1
                                                    }
                                                  }

Only innermost loops are, and short ones, so that a program becomes twice as long at most. The `if`
takes the place of what the loop would do to go on once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from headway.ir.expr import Binary, Expr, Iteration, leaves
from headway.ir.walk import deep_nests
from headway.passes._mentions import reads
from headway.passes.drop_dead_registers import swept
from headway.sync.program import (
    Assign,
    EngineProgram,
    Exec,
    RegisterRef,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    Wait,
    Waits,
)
from headway.sync.rewrite import Body, rewritten
from headway.sync.written_out import in_iteration
from headway.targets.target import Target

LONGEST = 64
"""Nodes of a loop that is begun outside."""


def is_short(loop: SyncLoop) -> bool:
    """Tell whether a loop is one for which this is done: innermost, short, straight-line code.

    Its trip count is known only in the run: one that is always 0 has no first iteration.
    """
    return (
        loop.load is None
        and not loop.first
        and any(True for _ in leaves(loop.trip))
        and len(loop.body) <= LONGEST
        and all(isinstance(node, Exec | Waits | Assign) for node in loop.body)
    )


class _Fixed:
    """Which thresholds of a loop are the same in all its iterations (exact where it says so)."""

    def __init__(self, loop: SyncLoop) -> None:
        assigns = (node for node in loop.body if isinstance(node, Assign))
        self._written = {node.register.name for node in assigns}
        self._iteration = Iteration(loop.iteration)
        self._fixed: set[RegisterRef] = set()  # what is set in this iteration to what never changes

    def assign(self, node: Assign) -> None:
        """Note an assignment."""
        name = node.register.name
        self._fixed = {register for register in self._fixed if register.name != name}
        if self._is_free(node.value) and node.register.index == 0:
            self._fixed.add(node.register)

    def __call__(self, wait: Wait) -> bool:
        """Tell whether a wait that comes now always asks for the same."""
        register = wait.threshold.register
        return register is None or register in self._fixed or self._is_free(register)

    def _is_free(self, expr: Expr) -> bool:
        used = set(leaves(expr))
        return self._iteration not in used and self._written.isdisjoint(reads(expr))


def _others(loop: SyncLoop) -> Body:
    """Return the body of a loop as it is after the first iteration."""
    is_fixed = _Fixed(loop)
    body: list[SyncNode] = []
    for node in loop.body:
        if isinstance(node, Assign):
            is_fixed.assign(node)
        if isinstance(node, Exec | Waits):
            waits = tuple(wait for wait in node.waits if not is_fixed(wait))
            if len(waits) < len(node.waits):
                if isinstance(node, Waits) and not waits:
                    continue
                node = replace(node, waits=waits)
        body.append(node)
    return tuple(body)


def _peeled(node: SyncNode) -> Iterator[SyncNode]:
    if not isinstance(node, SyncLoop) or not is_short(node):
        yield node
        return
    others = _others(node)
    if others == node.body:
        yield node
        return
    first = (in_iteration(inside, node.iteration, 0) for inside in node.body)
    rest = replace(node, trip=Binary("-", node.trip, 1), body=others, first=1)
    yield SyncIf(Binary("!=", node.trip, 0), (*first, rest), (), None, node.at)


@dataclass(frozen=True, slots=True)
class PeelLoops:
    """Begin loops outside where only the first iteration waits for something."""

    name: str = "peel-loops"
    description: str = "write out the first iteration of a loop if only that one has to wait"

    def apply(self, sync: SyncProgram, target: Target) -> SyncProgram:
        """Return the engine programs. Never refuses a program."""
        with deep_nests():
            return replace(sync, engines=tuple(map(_of_engine, sync.engines)))


def _of_engine(engine: EngineProgram) -> EngineProgram:
    body = rewritten(engine.body, _peeled)
    return engine if body == engine.body else swept(replace(engine, body=body))


PASS = PeelLoops()
