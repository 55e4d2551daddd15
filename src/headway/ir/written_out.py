"""Loops written out: their iterations one after the other, as straight-line code.

In     a program, and which of its loops to write out: they contain instructions and such loops only
Out    a program that does the same, and which instance each of its new instructions is
Cost   linear in the result

    loop k 2 {                              tensor flip.0 writes(b[0])
      tensor flip writes(b[k % 2])    ->    tensor flip.1 writes(b[1])
    }
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from headway.ir.atoms import at_slot
from headway.ir.expr import Binary, Expr, Input, Iteration, evaluate
from headway.ir.program import If, Instr, Loop, Node, Program, While
from headway.ir.walk import branches, deep_nests, instructions

Turns = tuple[tuple[str, int], ...]
"""Iterations of loops that are written out, by the names of the loops, from the outside."""


class Copy(NamedTuple):
    """An instruction as it was, in these iterations of the loops that were around it."""

    instr: str
    turns: Turns


class WrittenOut(NamedTuple):
    """A program without some loops. `copies` says what its new instructions were."""

    program: Program
    copies: Mapping[str, Copy]


def lengths(program: Program) -> dict[int, int]:
    """Return by `id` each loop that may be written out, with its instructions once it is.

    It runs a fixed number of times, at least once, and contains instructions and such loops.
    Regions and instructions that are silent are left as they are.
    """
    found: dict[int, int] = {}

    def length(node: Node) -> int | None:
        if isinstance(node, Instr):
            return None if node.silent or node.fused else 1
        inside = [[length(inner) for inner in body] for body in branches(node)]
        if not isinstance(node, Loop) or not isinstance(node.trip, int) or node.control:
            return None
        if node.trip < 1:
            return None  # nothing would be left of it, and who reads the result looks for it
        counts = [count for count in inside[0] if count is not None]
        if len(counts) < len(node.body):
            return None
        found[id(node)] = node.trip * sum(counts)
        return found[id(node)]

    with deep_nests():
        for node in program.body:
            length(node)
    return found


def trips_around(program: Program) -> dict[str, dict[str, int]]:
    """Return for each instruction the loops around it that may be written out, with their trips."""
    found: dict[str, dict[str, int]] = {}
    may_be = lengths(program)

    def visit(nodes: tuple[Node, ...], around: dict[str, int]) -> None:
        for node in nodes:
            if isinstance(node, Instr):
                found[node.name] = around
            elif isinstance(node, Loop) and isinstance(node.trip, int) and id(node) in may_be:
                visit(node.body, {**around, node.iteration: node.trip})
            else:
                for inside in branches(node):
                    visit(inside, {})

    with deep_nests():
        visit(program.body, {})
    return found


def written_out(program: Program, is_chosen: Callable[[Loop], bool]) -> WrittenOut:
    """Return a program in which the loops that are chosen are written out."""
    writing = _Writing(program, is_chosen)
    with deep_nests():
        body = writing.body(program.body)
    return WrittenOut(replace(program, body=body), writing.copies)


class _Writing:
    def __init__(self, program: Program, is_chosen: Callable[[Loop], bool]) -> None:
        self.copies: dict[str, Copy] = {}
        self._is_chosen = is_chosen
        self._taken = {instr.name for instr in instructions(program.body)}

    def body(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(new for node in nodes for new in self._node(node))

    def _node(self, node: Node) -> Iterator[Node]:
        match node:
            case Loop() if self._is_chosen(node):
                yield from self._turns(node, ())
            case Loop() | While():
                yield replace(node, body=self.body(node.body))
            case If():
                yield replace(node, then=self.body(node.then), orelse=self.body(node.orelse))
            case Instr():
                yield node

    def _turns(self, loop: Loop, around: Turns) -> Iterator[Node]:
        assert isinstance(loop.trip, int), "a loop that is written out runs a fixed number of times"
        for number in range(loop.trip):
            turns = (*around, (loop.iteration, number))
            for node in loop.body:
                if isinstance(node, Loop):
                    yield from self._turns(node, turns)
                else:
                    assert isinstance(node, Instr), "nothing else is inside"
                    yield self._instr(node, turns)

    def _instr(self, node: Instr, turns: Turns) -> Instr:
        name = ".".join((node.name, *(str(number) for _, number in turns)))
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        self.copies[name] = Copy(node.name, turns)
        values = dict(turns)
        reads, writes = (
            tuple(at_slot(access, value_at(access.slot, values)) for access in accesses)
            for accesses in (node.reads, node.writes)
        )
        return replace(node, name=name, reads=reads, writes=writes)


def value_at(expr: Expr, values: Mapping[str, int]) -> Expr:
    """Return an expression with these iterations known, computed as far as it is static."""
    match expr:
        case Iteration(name):
            return values.get(name, expr)
        case Input(name, index) if index is not None:
            return Input(name, value_at(index, values))
        case Binary(operator, left, right):
            new = Binary(operator, value_at(left, values), value_at(right, values))
            is_static = isinstance(new.left, int) and isinstance(new.right, int)
            return evaluate(new, {}, {}) if is_static else new
        case _:
            return expr
