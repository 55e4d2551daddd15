"""What a proof may take for granted of rows of registers: that what is asked for is there.

In     a synchronized program
Out    a Refused, if an index may lie outside its row
Keeps  an index is inside if its range is, or if the program itself accesses the slot of that index
       in a buffer that is no longer than the row: inputs for which no such slot is there do not
       fit the program
Cost   linear in the engine programs
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import inf

from headway.certify.bounds import ANYTHING, Known, Range, bounds
from headway.certify.statement import Refused
from headway.ir.expr import Expr, Iteration, leaves
from headway.ir.program import Loop, Program, While
from headway.ir.walk import accesses, walk
from headway.sync.iterations import last_iterations
from headway.sync.program import (
    Assign,
    Exec,
    Load,
    RegisterRef,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    Waits,
    walk_sync,
)

Slots = Mapping[Expr, int]
"""By index, the length of the shortest buffer of which the program accesses that slot."""


def refuse_outside(sync: SyncProgram) -> None:
    """Raise Refused unless every register of a row that is named is there, for all inputs."""
    slots = _slots(sync.program)
    for engine in sync.engines:
        sizes = {register.name: register.size for register in engine.registers}
        inside = _iterations(last_iterations(engine))
        for node in walk_sync(engine.body):
            for ref in _references(node):
                least, most = bounds(ref.index, inside)
                size = sizes.get(ref.name, 1)
                if not (least >= 0 and most < size) and slots.get(ref.index, inf) > size:
                    why = f"{ref} may lie outside its row of {size}, for all that is known"
                    raise Refused(why, node.at)


def _iterations(last: Mapping[str, int]) -> Known:
    def known(expr: Expr) -> Range:
        return Range(0, last.get(expr.loop, inf)) if isinstance(expr, Iteration) else ANYTHING

    return known


def _slots(program: Program) -> Slots:
    sizes = {buffer.name: buffer.slots for buffer in program.buffers}
    loops = Counter(node.iteration for node in walk(program.body) if isinstance(node, Loop | While))
    found: dict[Expr, int] = {}
    for access in accesses(program.body):
        names = (leaf.loop for leaf in leaves(access.slot) if isinstance(leaf, Iteration))
        if all(loops[name] == 1 for name in names):  # else it is the slot of one of several loops
            size = sizes[access.buffer]
            found[access.slot] = min(size, found.get(access.slot, size))
    return found


def _references(node: SyncNode) -> Iterator[RegisterRef]:
    match node:
        case Assign():
            yield node.register
            yield from _inside(node.value)
        case Exec() | Waits() | Load():
            yield from (w.threshold.register for w in node.waits if w.threshold.register)
        case SyncLoop():
            yield from _inside(node.trip)
        case SyncWhile() | SyncIf():
            yield from _inside(node.condition)
        case _:
            pass


def _inside(expr: Expr) -> Iterator[RegisterRef]:
    return (leaf for leaf in leaves(expr) if isinstance(leaf, RegisterRef))
