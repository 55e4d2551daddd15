"""Write a program as a module of HIVM, the language that AscendNPU-IR synchronizes.

Programs are of three engines, its pipes: `mte2` loads (writes one slot), `vector` adds (reads one
or two, writes one), `mte3` stores (reads one). A rotating buffer is used in one loop, and its slot
is the number of the loop's run modulo the slots, counted through all loops around it: that is how
a `multi_buffer` of HIVM rotates. Trip counts are inputs or numbers, conditions are inputs.
"""

from __future__ import annotations

from collections.abc import Iterator

from headway.errors import Diagnostic, UnsupportedByTarget
from headway.ir.expr import Expr, Input, Iteration, leaves
from headway.ir.program import Access, If, Instr, Loop, Node, Program
from headway.ir.walk import accesses, branches, walk

ON_CHIP = "memref<16xf16, #hivm.address_space<ub>>"
GLOBAL = "memref<16xf16, #hivm.address_space<gm>>"
SIZE = 64
"""Bytes from the address of a slot to the next."""

PIPES = {"mte2": "PIPE_MTE2", "vector": "PIPE_V", "mte3": "PIPE_MTE3"}


def exported(program: Program) -> str:
    """Return the module. Raise UnsupportedByTarget on what it cannot say."""
    return "\n".join(_Writer(program).module()) + "\n"


def addresses(program: Program) -> dict[int, tuple[str, int]]:
    """Return which slot of which buffer lies at which address."""
    slots = ((buffer.name, slot) for buffer in program.buffers for slot in range(buffer.slots))
    return {SIZE * number: place for number, place in enumerate(slots)}


def _unsupported(what: str) -> UnsupportedByTarget:
    return UnsupportedByTarget(
        Diagnostic(f"{what} cannot be exported to HIVM", rule="see headway.peers.export")
    )


class _Writer:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.address = {place: number for number, place in addresses(program).items()}
        self.slots = {buffer.name: buffer.slots for buffer in program.buffers}
        self.rotating = self._rotating()
        self.numbers: dict[int, str] = {}
        self.conditions = {
            str(node.condition) for node in walk(program.body) if isinstance(node, If)
        }

    def module(self) -> Iterator[str]:
        body = list(self.body(self.program.body, 2))
        arguments = [f"%source: {GLOBAL}", f"%sink: {GLOBAL}"]
        for decl in self.program.inputs:
            kind = "i1" if decl.name in self.conditions else "index"
            arguments.append(f"%in_{decl.name}: {kind}")
        yield "module {"
        yield f"  func.func @program({', '.join(arguments)}) {{"
        yield "    %zero = arith.constant 0 : index"
        yield "    %one = arith.constant 1 : index"
        for place, number in self.address.items():
            yield f"    %a{number} = arith.constant {number} : i64"
            if place[0] not in self.rotating:
                yield f"    %s{number} = hivm.hir.pointer_cast(%a{number}) : {ON_CHIP}"
        for trip, name in self.numbers.items():
            yield f"    {name} = arith.constant {trip} : index"
        yield from body
        yield "    return"
        yield "  }"
        yield "}"

    def body(self, nodes: tuple[Node, ...], depth: int) -> Iterator[str]:
        pad = "  " * depth
        for node in nodes:
            if isinstance(node, Instr):
                yield pad + self.instruction(node)
            elif isinstance(node, Loop) and node.control is None:
                bounds = f"%zero to {self.trip(node.trip)} step %one"
                yield f"{pad}scf.for %{node.iteration} = {bounds} {{"
                yield from self.casts(node, pad + "  ")
                yield from self.body(node.body, depth + 1)
                yield f"{pad}}}"
            elif isinstance(node, If) and isinstance(node.condition, Input):
                yield f"{pad}scf.if %in_{node.condition.name} {{"
                yield from self.body(node.then, depth + 1)
                if node.orelse:
                    yield f"{pad}}} else {{"
                    yield from self.body(node.orelse, depth + 1)
                yield f"{pad}}}"
            else:
                raise _unsupported(f"a {type(node).__name__.lower()} like this")

    def trip(self, trip: Expr) -> str:
        if isinstance(trip, Input):
            return f"%in_{trip.name}"
        if isinstance(trip, int):
            return self.numbers.setdefault(trip, f"%trip{trip}")
        raise _unsupported(f"the trip count {trip}")

    def casts(self, loop: Loop, pad: str) -> Iterator[str]:
        """Yield what makes the buffers rotate that rotate in this loop."""
        inside = {access.buffer for access in accesses(loop.body)}
        for buffer, iteration in self.rotating.items():
            if iteration == loop.iteration and buffer in inside:
                slots = range(self.slots[buffer])
                parts = ", ".join(f"%a{self.address[buffer, slot]}" for slot in slots)
                yield f"{pad}%r_{buffer} = hivm.hir.pointer_cast({parts}) : {ON_CHIP}"
                mark = f"{{hivm.multi_buffer = {len(slots)} : i32}}"
                yield f"{pad}annotation.mark %r_{buffer} {mark} : {ON_CHIP}"

    def instruction(self, instr: Instr) -> str:
        reads = [self.value(access) for access in instr.reads]
        writes = [self.value(access) for access in instr.writes]
        match instr.engine, len(reads), len(writes):
            case "mte2", 0, 1:
                return f"hivm.hir.load ins(%source : {GLOBAL}) outs({writes[0]} : {ON_CHIP})"
            case "mte3", 1, 0:
                return f"hivm.hir.store ins({reads[0]} : {ON_CHIP}) outs(%sink : {GLOBAL})"
            case "vector", 1 | 2, 1:
                pair = f"{reads[0]}, {reads[-1]} : {ON_CHIP}, {ON_CHIP}"
                return f"hivm.hir.vadd ins({pair}) outs({writes[0]} : {ON_CHIP})"
            case _:
                raise _unsupported(f"instruction {instr.name!r}")

    def value(self, access: Access) -> str:
        if any(isinstance(leaf, Iteration) for leaf in leaves(access.slot)):
            return f"%r_{access.buffer}"
        if isinstance(access.slot, int) and access.buffer not in self.rotating:
            return f"%s{self.address[access.buffer, access.slot]}"
        raise _unsupported(f"the slot {access.slot} of {access.buffer!r}")

    def _rotating(self) -> dict[str, str]:
        """Return the innermost iteration in the slots of each buffer that rotates."""
        depth = {node.iteration: level for node, level in _levels(self.program.body)}
        found: dict[str, str] = {}
        for access in accesses(self.program.body):
            names = [leaf.loop for leaf in leaves(access.slot) if isinstance(leaf, Iteration)]
            if names:
                found[access.buffer] = max(names, key=depth.__getitem__)
        return found


def _levels(body: tuple[Node, ...], level: int = 0) -> Iterator[tuple[Loop, int]]:
    for node in body:
        if isinstance(node, Loop):
            yield node, level
        for branch in branches(node):
            yield from _levels(branch, level + 1)
