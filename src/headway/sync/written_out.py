"""Loops written out in engine programs, and in the sequential program likewise.

An engine program may issue instructions at fixed iterations of the loops around them, as
straight-line code. A program with these loops written out does the same, and each instruction of an
engine program is one of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace

from headway.ir.program import Loop
from headway.ir.walk import deep_nests, instructions
from headway.ir.written_out import Copy, written_out
from headway.sync.program import EngineProgram, Exec, SyncNode, SyncProgram, walk_sync
from headway.sync.rewrite import rewritten

Rule = Callable[[Exec], Exec]


def likewise(sync: SyncProgram) -> SyncProgram:
    """Return a verified program with its loops written out; itself if no engine does so."""
    loops: defaultdict[str, set[str]] = defaultdict(set)
    for engine in sync.engines:
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


def issuing(engine: EngineProgram, rule: Rule) -> EngineProgram:
    """Return an engine program that issues what `rule` says in place of each instruction."""

    def issued(node: SyncNode) -> tuple[SyncNode]:
        return (rule(node) if isinstance(node, Exec) else node,)

    with deep_nests():
        return replace(engine, body=rewritten(engine.body, issued))
