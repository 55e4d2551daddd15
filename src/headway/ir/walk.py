"""Walks over the tree of a program, of any depth."""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

from headway.ir.expr import Expr
from headway.ir.program import Access, ControlRead, If, Instr, Loop, Node, While


def branches(node: Node) -> tuple[tuple[Node, ...], ...]:
    """Return the bodies of a node: none of an instruction, one of a loop, two of an if."""
    match node:
        case Loop() | While():
            return (node.body,)
        case If():
            return (node.then, node.orelse)
        case Instr():
            return ()


def walk(body: tuple[Node, ...]) -> Iterator[Node]:
    """Yield every node in textual order, without recursion."""
    stack = [iter(body)]
    while stack:
        for node in stack[-1]:
            yield node
            if type(node) is not Instr:
                stack += [iter(part) for part in reversed(branches(node))]
                break
        else:
            stack.pop()


def instructions(body: tuple[Node, ...]) -> Iterator[Instr]:
    """Yield every instruction in textual order."""
    return (node for node in walk(body) if type(node) is Instr)


def control_reads(body: tuple[Node, ...]) -> Iterator[ControlRead]:
    """Yield every control read in textual order."""
    for node in walk(body):
        if not isinstance(node, Instr) and node.control:
            yield node.control


def accesses(body: tuple[Node, ...]) -> Iterator[Access]:
    """Yield every access in textual order: reads, writes and control reads."""
    for node in walk(body):
        if isinstance(node, Instr):
            yield from node.reads
            yield from node.writes
        elif node.control:
            yield from node.control.reads


def control(node: Loop | While | If) -> Expr:
    """Return the expression that decides: a trip count or a condition."""
    return node.trip if isinstance(node, Loop) else node.condition


def regions(body: Sequence[Node]) -> Iterator[tuple[Node, ...]]:
    """Yield the nodes of a body in order, those of a region that stand together at once."""
    found: list[Node] = []
    for node in body:
        if found and not (isinstance(node, Instr) and node.fused):
            yield tuple(found)
            found = []
        found.append(node)
    if found:
        yield tuple(found)


def engines_inside(body: tuple[Node, ...]) -> frozenset[str]:
    """Return the engines that issue an instruction somewhere in `body`."""
    return frozenset(instr.engine for instr in instructions(body))


_DEPTH = 100_000


@contextmanager
def deep_nests() -> Generator[None]:
    """Let recursive walks go as deep as any program nests.

    Calls between Python functions do not use the machine's stack since Python 3.11.
    """
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEPTH))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@contextmanager
def no_collection() -> Generator[None]:
    """Keep the garbage collector from looking again and again at a tree while it grows.

    Afterwards all objects count as old, as if it had looked at them once.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():  # else they would thaw what the caller has frozen
                gc.freeze()
                gc.unfreeze()
            gc.enable()
