"""What a signal shows: the accesses of its instruction, and of silent ones before it.

In     a program in which a silent instruction has a signal of its counter behind it, in its body
       and before anything that may have to wait for it (see `headway.passes.cover_silent`)
Out    for each instruction for which they differ from its own: the accesses that its signal shows
Keeps  who waits for that signal waits for all of them, and for no later signal than required
Cost   linear
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from headway.ir.program import Access, Instr, Node, Program
from headway.ir.walk import branches, instructions, walk

Shown = tuple[tuple[Access, ...], tuple[Access, ...]]
"""Reads and writes."""

NOTHING: Shown = ((), ())


def shown(program: Program) -> dict[str, Shown]:
    """Return what signals show, by the name of their instruction, where that is special."""
    if not any(instr.silent for instr in instructions(program.body)):
        return {}
    bodies = [program.body, *(part for node in walk(program.body) for part in branches(node))]
    return dict(pair for body in bodies for pair in _of_body(body))


def _of_body(body: tuple[Node, ...]) -> Iterator[tuple[str, Shown]]:
    unseen: defaultdict[str, Shown] = defaultdict(lambda: NOTHING)
    for node in body:
        if not isinstance(node, Instr):
            unseen.clear()
        elif node.silent:
            unseen[node.counter] = _with(unseen[node.counter], node)
            yield node.name, NOTHING
        elif node.counter in unseen:
            yield node.name, _with(unseen.pop(node.counter), node)


def _with(before: Shown, instr: Instr) -> Shown:
    reads, writes = before
    return (*reads, *instr.reads), (*writes, *instr.writes)
