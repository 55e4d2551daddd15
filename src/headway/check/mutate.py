"""Mutants of synchronized programs: one small mistake each. They show what the judge catches.

In     a synchronized program
Out    for each kind of mistake and each place where it can be made, a program that makes it
Skips  a barrier that does not drain: draining is part of what `Barrier` means, so that mistake
       cannot be written down
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from headway.ir.walk import deep_nests
from headway.sync.program import (
    Assign,
    Barrier,
    EngineProgram,
    Exec,
    Load,
    Register,
    RegisterRef,
    SetFlag,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    TakeFlag,
    Threshold,
    Wait,
    Waits,
    sync_branches,
)

Body = tuple[SyncNode, ...]
Waiting = Exec | Load | Waits


class Mutant(NamedTuple):
    """A program with one mistake; `kind` is one of `KINDS`."""

    kind: str
    engine: str
    program: SyncProgram


def mutants(sync: SyncProgram, kinds: Iterable[str] | None = None) -> Iterator[Mutant]:
    """Yield every mutant of those kinds (all kinds if None), engine by engine."""
    with deep_nests():
        for engine in sync.engines:
            for kind in KINDS if kinds is None else kinds:
                for body in KINDS[kind](engine):
                    yield Mutant(kind, engine.engine, _with(sync, replace(engine, body=body)))


def _with(sync: SyncProgram, changed: EngineProgram) -> SyncProgram:
    engines = (changed if e.engine == changed.engine else e for e in sync.engines)
    return replace(sync, engines=tuple(engines))


Change = Callable[[SyncNode], Iterable[Body]]
"""What may stand in place of a node: any number of mistakes, each a row of nodes."""


def _everywhere(body: Body, change: Change) -> Iterator[Body]:
    """Yield the body once for every change of a node at any depth."""
    for i, node in enumerate(body):
        for nodes in (*change(node), *_inside(node, change)):
            yield (*body[:i], *nodes, *body[i + 1 :])


def _inside(node: SyncNode, change: Change) -> Iterator[Body]:
    if isinstance(node, SyncLoop | SyncWhile | SyncIf) and node.load:
        for loads in change(node.load):  # a load stays a load; only its waits change
            if len(loads) == 1 and isinstance(loads[0], Load):
                yield (replace(node, load=loads[0]),)
    match node:
        case SyncLoop() | SyncWhile():
            yield from ((replace(node, body=body),) for body in _everywhere(node.body, change))
        case SyncIf():
            yield from ((replace(node, then=b),) for b in _everywhere(node.then, change))
            yield from ((replace(node, orelse=b),) for b in _everywhere(node.orelse, change))
        case _:
            pass


def _each_wait(mistake: Callable[[Wait], tuple[Wait, ...]]) -> Change:
    def change(node: SyncNode) -> Iterator[Body]:
        if isinstance(node, Waiting):
            for i, wait in enumerate(node.waits):
                waits = (*node.waits[:i], *mistake(wait), *node.waits[i + 1 :])
                yield (replace(node, waits=waits),)

    return change


def _shifted(by: int) -> Callable[[Wait], tuple[Wait, ...]]:
    def shift(wait: Wait) -> tuple[Wait, ...]:
        threshold = Threshold(wait.threshold.register, wait.threshold.offset + by)
        return (replace(wait, threshold=threshold),)

    return shift


def _dropped(*kinds: type[SyncNode]) -> Change:
    def change(node: SyncNode) -> Iterator[Body]:
        if isinstance(node, kinds):
            yield ()

    return change


def _changing(change: Change) -> Callable[[EngineProgram], Iterator[Body]]:
    return lambda engine: _everywhere(engine.body, change)


def _moved(engine: EngineProgram) -> Iterator[Body]:
    """Move one wait behind its instruction, to stand before what comes next."""

    def change(node: SyncNode) -> Iterator[Body]:
        if isinstance(node, Exec | Load):
            for i, wait in enumerate(node.waits):
                others = (*node.waits[:i], *node.waits[i + 1 :])
                yield (replace(node, waits=others), Waits((wait,)))

    return _everywhere(engine.body, change)


def _reset(engine: EngineProgram) -> Iterator[Body]:
    """Reset one row of registers, which the body of a loop sets, where the loop begins."""

    def change(node: SyncNode) -> Iterator[Body]:
        if isinstance(node, SyncLoop | SyncWhile):
            set_inside = _assigned(node.body)
            for register in engine.registers:
                if register.name in set_inside:
                    yield (*_zero(register), node)

    return _everywhere(engine.body, change)


def _zero(register: Register) -> Iterator[SyncNode]:
    for i in range(register.size):
        yield Assign(RegisterRef(register.name, i), 0)


def _assigned(body: Body) -> frozenset[str]:
    found: set[str] = set()
    for node in body:
        if isinstance(node, Assign):
            found.add(node.register.name)
        for branch in sync_branches(node):
            found |= _assigned(branch)
    return frozenset(found)


KINDS: dict[str, Callable[[EngineProgram], Iterator[Body]]] = {
    "wait-deleted": _changing(_each_wait(lambda wait: ())),
    "threshold-raised": _changing(_each_wait(_shifted(1))),
    "threshold-lowered": _changing(_each_wait(_shifted(-1))),
    "wait-moved": _moved,
    "assign-dropped": _changing(_dropped(Assign)),
    "register-reset": _reset,
    "instruction-dropped": _changing(_dropped(Exec)),
    "barrier-dropped": _changing(_dropped(Barrier)),
    "set-dropped": _changing(_dropped(SetFlag)),
    "take-dropped": _changing(_dropped(TakeFlag)),
}
"""Kinds of mistakes, with what makes them in the program of one engine."""
