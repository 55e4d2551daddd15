"""Loops written out: short ones, as long as the program does not become much longer.

Iterations of a loop that always runs as often differ in what they have to wait for. Written out,
each has waits of its own, with thresholds that the compiler counts, and there is no loop to count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from headway.errors import InvalidInput
from headway.ir.program import Instr, Node, Program
from headway.ir.walk import branches, deep_nests, instructions
from headway.ir.written_out import Copy, WrittenOut, lengths, written_out
from headway.sync.program import EngineProgram, Exec
from headway.sync.written_out import issuing

Compile = Callable[[Program], Iterable[EngineProgram]]

LONGEST = 64
"""Instructions of a loop that is written out, all its iterations together."""

FACTOR, FREE = 2, 2_000
"""A program may become so many times as long; and up to so many instructions in any case."""


def with_copies(program: Program, compiled: Compile) -> tuple[EngineProgram, ...]:
    """Return engine programs of `program`, compiled from it with its short loops written out."""
    written, copies = _written_out(program)
    if not copies:
        return tuple(compiled(program))

    def as_before(node: Exec) -> Exec:
        instr, turns = copies.get(node.instr, Copy(node.instr, ()))
        return Exec(instr, node.waits, node.at, turns)

    return tuple(issuing(engine, as_before) for engine in compiled(written))


def _written_out(program: Program) -> WrittenOut:
    """Return a program with its short loops written out: shorter ones if that is too much."""
    known = lengths(program)
    with deep_nests():
        before, longest = _size(program.body, known, 0), LONGEST
        most = max(FACTOR * before, FREE)
        while longest > 1 and _size(program.body, known, longest) > most:
            longest //= 2
        if _size(program.body, known, longest) == before:
            return WrittenOut(program, {})
    try:
        found = written_out(program, lambda loop: known.get(id(loop), longest + 1) <= longest)
    except InvalidInput:
        return WrittenOut(program, {})  # a subscript divides by zero: maybe no run comes there
    return found if _is_inside(found) else WrittenOut(program, {})


def _is_inside(written: WrittenOut) -> bool:
    """Tell whether the slots of copies exist: those of code where no run comes need not."""
    slots = {buffer.name: buffer.slots for buffer in written.program.buffers}
    return all(
        0 <= access.slot < slots[access.buffer]
        for instr in instructions(written.program.body)
        if instr.name in written.copies
        for access in (*instr.reads, *instr.writes)
        if isinstance(access.slot, int)
    )


def _size(body: tuple[Node, ...], known: Mapping[int, int], longest: int) -> int:
    """Return the instructions of a body once its loops of that length are written out."""
    size = 0
    for node in body:
        if isinstance(node, Instr):
            size += 1
        elif known.get(id(node), longest + 1) <= longest:
            size += known[id(node)]
        else:
            size += sum(_size(inside, known, longest) for inside in branches(node))
    return size
