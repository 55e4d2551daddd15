"""What instructions compute, behind one small interface; and values that stand for any.

`SymbolicMemory` needs no knowledge of operations: what an instance writes is a hash of its name,
its iterations and everything that it reads. So two runs leave the same memory only if every
instance read the same values in both, and `headway.native` does the same in C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from headway.check.needs import readers
from headway.ir.expr import Inputs
from headway.ir.program import ControlRead, If, Instr, Node, Program, While
from headway.ir.walk import branches, control_reads, deep_nests, instructions
from headway.isa.memory import Addresses
from headway.isa.module import Module
from headway.spec import Instance, instances

SEED = 0x9E3779B97F4A7C15
FACTOR = 0xD6E8FEB86659FD93
MASK = 2**64 - 1


class Memory(Protocol):
    """Memory that operations are executed on."""

    def start(self, name: str, iterations: Mapping[str, int]) -> Callable[[], None]:
        """Start an instance: read what it reads. The function returned completes it: it writes."""
        ...

    def contents(self) -> object:
        """Return what is compared at the end."""
        ...


def mixed(state: int, value: int) -> int:
    """Return the hash of a hash and one more value."""
    state = ((state ^ (value & MASK)) * FACTOR) & MASK
    return state ^ (state >> 32)


class SymbolicMemory:
    """Cells of 64 bits; cell n holds n + 1 at the start.

    For each instruction there is also the sum of the hashes of its instances, so that what only
    reads is compared too.
    """

    def __init__(self, program: Program, inputs: Inputs) -> None:
        self._addresses = Addresses(program, inputs)
        self._instrs: dict[str, Instr | ControlRead] = {
            node.name: node for node in (*instructions(program.body), *control_reads(program.body))
        }
        self._number = {name: number for number, name in enumerate(self._instrs)}
        self.cells = list(range(1, self._addresses.cells + 1))
        self.seen = [0] * len(self._number)

    def start(self, name: str, iterations: Mapping[str, int]) -> Callable[[], None]:
        """Read, and return what writes the hash."""
        node = self._instrs[name]
        state = mixed(SEED, self._number[name])
        for iteration in iterations.values():
            state = mixed(state, iteration)
        for access in node.reads:
            for cell in self._addresses.of(access, iterations):
                state = mixed(state, self.cells[cell])
        self.seen[self._number[name]] = (self.seen[self._number[name]] + state) & MASK
        writes = node.writes if isinstance(node, Instr) else ()
        found = [cell for access in writes for cell in self._addresses.of(access, iterations)]

        def complete() -> None:
            for number, cell in enumerate(found):
                self.cells[cell] = mixed(state, number)

        return complete

    def contents(self) -> list[int]:
        """Return all cells, and the sums."""
        return self.cells + self.seen


def run_sequentially(module: Module, inputs: Inputs, memory: Memory) -> None:
    """Execute the instances of the sequential program in order: the reference.

    Control values are read by the engines whose streams read them. Raise InvalidInput.
    """
    loops = loops_around(module.program)
    for instance in instances(module.program, inputs, readers(module.skeleton())):
        memory.start(instance.node.name, _iterations(instance, loops))()


def _iterations(instance: Instance, loops: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    return dict(zip(loops[instance.node.name], instance.iteration, strict=True))


def loops_around(program: Program) -> dict[str, tuple[str, ...]]:
    """Return the loops around each instruction and control read, outermost first."""
    found: dict[str, tuple[str, ...]] = {}

    def visit(body: tuple[Node, ...], loops: tuple[str, ...]) -> None:
        for node in body:
            if isinstance(node, Instr):
                found[node.name] = loops
                continue
            inside = loops if isinstance(node, If) else (*loops, node.iteration)
            if node.control:
                found[node.control.name] = inside if isinstance(node, While) else loops
            for part in branches(node):
                visit(part, inside)

    with deep_nests():
        visit(program.body, ())
    return found
