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
from headway.sync.rewrite import Body

Waiting = Exec | Load | Waits


class Mutant(NamedTuple):
    """A program with one mistake; `kind` is one of `KINDS`, `place` what it was made in."""

    kind: str
    engine: str
    place: str
    program: SyncProgram


def mutants(sync: SyncProgram, kinds: Iterable[str] | None = None) -> Iterator[Mutant]:
    """Yield every mutant of those kinds (all kinds if None), engine by engine."""
    with deep_nests():
        for engine in sync.engines:
            for kind in KINDS if kinds is None else kinds:
                for place, body in KINDS[kind](engine):
                    changed = _with(sync, replace(engine, body=body))
                    yield Mutant(kind, engine.engine, place, changed)


def _with(sync: SyncProgram, changed: EngineProgram) -> SyncProgram:
    engines = (changed if e.engine == changed.engine else e for e in sync.engines)
    return replace(sync, engines=tuple(engines))


Mistake = tuple[str, Body]
"""What a mistake was made in, and what stands there now."""

Change = Callable[[SyncNode], Iterable[Mistake]]
"""What may stand in place of a node: any number of mistakes."""


def _everywhere(body: Body, change: Change) -> Iterator[Mistake]:
    """Yield the body once for every change of a node at any depth."""
    for i, node in enumerate(body):
        for place, nodes in (*change(node), *_inside(node, change)):
            yield place, (*body[:i], *nodes, *body[i + 1 :])


def _inside(node: SyncNode, change: Change) -> Iterator[Mistake]:
    if isinstance(node, SyncLoop | SyncWhile | SyncIf) and node.load:
        for place, loads in change(node.load):  # a load stays a load; only its waits change
            if len(loads) == 1 and isinstance(loads[0], Load):
                yield place, (replace(node, load=loads[0]),)
    match node:
        case SyncLoop() | SyncWhile():
            for place, body in _everywhere(node.body, change):
                yield place, (replace(node, body=body),)
        case SyncIf():
            for place, body in _everywhere(node.then, change):
                yield place, (replace(node, then=body),)
            for place, body in _everywhere(node.orelse, change):
                yield place, (replace(node, orelse=body),)
        case _:
            pass


def _named(node: SyncNode) -> str:
    """Return how a node is called in a list of mistakes."""
    match node:
        case Exec():
            return node.instr
        case Load():
            return f"load {node.control}"
        case Assign():
            return f"{node.register} := {node.value}"
        case SetFlag():
            return f"set {node.flag}"
        case TakeFlag():
            return f"take {node.flag}"
        case SyncLoop():
            return f"loop {node.iteration}"
        case SyncWhile():
            return f"while {node.iteration}"
        case SyncIf():
            return f"if {node.condition}"
        case Barrier():
            return "barrier"
        case Waits():
            return "wait"


def _each_wait(mistake: Callable[[Wait], tuple[Wait, ...]]) -> Change:
    def change(node: SyncNode) -> Iterator[Mistake]:
        if isinstance(node, Waiting):
            for i, wait in enumerate(node.waits):
                waits = (*node.waits[:i], *mistake(wait), *node.waits[i + 1 :])
                is_nothing = isinstance(node, Waits) and not waits
                yield f"{_named(node)}: {wait}", () if is_nothing else (replace(node, waits=waits),)

    return change


def _shifted(by: int) -> Callable[[Wait], tuple[Wait, ...]]:
    def shift(wait: Wait) -> tuple[Wait, ...]:
        threshold = Threshold(wait.threshold.register, wait.threshold.offset + by)
        return (replace(wait, threshold=threshold),)

    return shift


def _dropped(*kinds: type[SyncNode]) -> Change:
    def change(node: SyncNode) -> Iterator[Mistake]:
        if isinstance(node, kinds):
            yield _named(node), ()

    return change


def _changing(change: Change) -> Callable[[EngineProgram], Iterator[Mistake]]:
    return lambda engine: _everywhere(engine.body, change)


def _moved(engine: EngineProgram) -> Iterator[Mistake]:
    """Move one wait behind its instruction, to stand before what comes next."""

    def change(node: SyncNode) -> Iterator[Mistake]:
        if isinstance(node, Exec | Load):
            for i, wait in enumerate(node.waits):
                others = (*node.waits[:i], *node.waits[i + 1 :])
                yield f"{_named(node)}: {wait}", (replace(node, waits=others), Waits((wait,)))

    return _everywhere(engine.body, change)


def _reset(engine: EngineProgram) -> Iterator[Mistake]:
    """Reset one row of registers, which the body of a loop sets, where the loop begins."""

    def change(node: SyncNode) -> Iterator[Mistake]:
        if isinstance(node, SyncLoop | SyncWhile):
            set_inside = _assigned(node.body)
            for register in engine.registers:
                if register.name in set_inside:
                    yield f"{register.name} before {_named(node)}", (*_zero(register), node)

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


KINDS: dict[str, Callable[[EngineProgram], Iterator[Mistake]]] = {
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
