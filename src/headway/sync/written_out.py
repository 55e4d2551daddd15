"""Loops written out in engine programs, and in the sequential program likewise.

An engine program may issue instructions at fixed iterations of the loops around them, as
straight-line code. A program with these loops written out does the same, and each instruction of an
engine program is one of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace

from headway.ir.expr import Binary, Expr, Iteration
from headway.ir.program import Loop
from headway.ir.walk import deep_nests, instructions
from headway.ir.written_out import Copy, value_at, written_out
from headway.sync.program import (
    Assign,
    EngineProgram,
    Exec,
    RegisterRef,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    Threshold,
    Wait,
    Waits,
    walk_sync,
)
from headway.sync.rewrite import rewritten

Rule = Callable[[Exec], Exec]


def likewise(sync: SyncProgram) -> SyncProgram:
    """Return a verified program with its loops written out; itself if no engine does so.

    First iterations in front of their loops are put back into them first. Where they stand
    elsewhere, that is all that is done.
    """
    engines = tuple(map(_put_back, sync.engines))
    if any(new is not old for new, old in zip(engines, sync.engines, strict=True)):
        sync = replace(sync, engines=engines)
    loops: defaultdict[str, set[str]] = defaultdict(set)
    for engine in sync.engines:
        if _begins_outside(engine):
            return sync
        for node in walk_sync(engine.body):
            if isinstance(node, Exec) and node.turns:
                loops[node.instr].update(iteration for iteration, _ in node.turns)
    if not loops:
        return sync

    def is_chosen(loop: Loop) -> bool:
        return any(loop.iteration in loops[instr.name] for instr in instructions(loop.body))

    program, copies = written_out(sync.program, is_chosen)
    names = {copy: name for name, copy in copies.items()}

    def rule(node: Exec) -> Exec:
        name = names[Copy(node.instr, node.turns)] if node.turns else node.instr
        return Exec(name, node.waits, node.at)

    engines = tuple(issuing(engine, rule) for engine in sync.engines)
    return replace(sync, program=program, engines=engines)


def in_iteration(node: SyncNode, iteration: str, number: int) -> SyncNode:
    """Return an instruction, waits or an assignment of a loop in one of its iterations.

    Waits that are the same there are one. Other nodes are returned as they are.
    """
    values = {iteration: number}

    def register(ref: RegisterRef) -> RegisterRef:
        return replace(ref, index=value_at(ref.index, values))

    def value(expr: Expr) -> Expr:
        match expr:
            case RegisterRef():
                return register(expr)
            case Binary(operator, left, right):
                left, right = value(left), value(right)
                is_nothing = operator in ("+", "-") and right == 0
                return left if is_nothing else value_at(Binary(operator, left, right), {})
            case _:
                return value_at(expr, values)

    def wait(found: Wait) -> Wait:
        ref, offset = found.threshold.register, found.threshold.offset
        return replace(found, threshold=Threshold(register(ref), offset)) if ref else found

    def once(waits: tuple[Wait, ...]) -> tuple[Wait, ...]:
        return tuple(dict.fromkeys(map(wait, waits)))

    match node:
        case Exec():
            turns = ((iteration, number), *node.turns)
            return replace(node, waits=once(node.waits), turns=turns)
        case Waits():
            return replace(node, waits=once(node.waits))
        case Assign():
            return replace(node, register=register(node.register), value=value(node.value))
        case _:
            return node


def _put_back(engine: EngineProgram) -> EngineProgram:
    """Return an engine program in which loops that begin outside do inside what is done there.

    if n != 0 {                        loop i n {
      add at i 0 waits B >= 1            if i == 0 {
      loop i n - 1 at 1 {          ->      wait B >= 1
        add                              }
      }                                  add
    }                                  }
    """
    if not _begins_outside(engine):
        return engine
    with deep_nests():
        return replace(engine, body=rewritten(engine.body, _with_first))


def _begins_outside(engine: EngineProgram) -> bool:
    return any(isinstance(node, SyncLoop) and node.first for node in walk_sync(engine.body))


def _with_first(node: SyncNode) -> tuple[SyncNode]:
    match node:
        case SyncIf(Binary("!=", trip, 0), (*first, SyncLoop(first=1) as loop), (), None) if (
            loop.trip == Binary("-", trip, 1) and loop.load is None
        ):
            body = _merged(first, loop)
            return (replace(loop, trip=trip, body=body, first=0),) if body else (node,)
        case _:
            return (node,)


def _merged(first: list[SyncNode], loop: SyncLoop) -> tuple[SyncNode, ...]:
    """Return one body for a loop and its first iteration; nothing if they do not fit."""
    is_first = Binary("==", Iteration(loop.iteration), 0)
    body: list[SyncNode] = []
    others = [(node, _bare(in_iteration(node, loop.iteration, 0))) for node in loop.body]
    for node in first:
        at = next((at for at, (_, bare) in enumerate(others) if bare == _bare(node)), None)
        if at is None:
            if isinstance(node, Exec):
                return ()
            body.append(SyncIf(is_first, (node,)))
            continue
        body += (SyncIf(is_first, (), (other,)) for other, _ in others[:at])
        other = others[at][0]
        if isinstance(node, Exec) and isinstance(other, Exec):
            body += _issued(node, other, loop.iteration)
        else:
            body.append(other)
        del others[: at + 1]
    if any(isinstance(other, Exec) for other, _ in others):
        return ()
    return (*body, *(SyncIf(is_first, (), (other,)) for other, _ in others))


def _issued(first: Exec, other: Exec, iteration: str) -> Iterator[SyncNode]:
    """Yield an instruction with the waits that it has in the first iteration and in the others."""
    at_first = [in_iteration(Waits((wait,)), iteration, 0) for wait in other.waits]
    own: list[SyncNode] = [Waits((wait,)) for wait in first.waits]
    more = [wait for wait, alone in zip(first.waits, own, strict=True) if alone not in at_first]
    less = [wait for wait, alone in zip(other.waits, at_first, strict=True) if alone not in own]
    if more or less:
        is_first = Binary("==", Iteration(iteration), 0)
        yield SyncIf(is_first, _alone(more), _alone(less))
    yield replace(other, waits=tuple(wait for wait in other.waits if wait not in less))


def _alone(waits: list[Wait]) -> tuple[Waits, ...]:
    return (Waits(tuple(waits)),) if waits else ()


def _bare(node: SyncNode) -> SyncNode:
    return replace(node, waits=()) if isinstance(node, Exec) else node


def issuing(engine: EngineProgram, rule: Rule) -> EngineProgram:
    """Return an engine program that issues what `rule` says in place of each instruction."""

    def issued(node: SyncNode) -> tuple[SyncNode]:
        return (rule(node) if isinstance(node, Exec) else node,)

    with deep_nests():
        return replace(engine, body=rewritten(engine.body, issued))
