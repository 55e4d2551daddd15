"""What facts are about: the last access to each slot by each counter, one bit each.

A *mark* `(kind, counter, buffer, atom, slot)` stands for the position of the last write (kind
`write`), or of the last access at all (`access`), of that counter to that slot; 0 if there was
none. A set of marks is a whole number: bit by bit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from headway.ir.atoms import Atoms
from headway.ir.expr import Expr, leaves
from headway.ir.program import Access, Instr, control_counter
from headway.ir.walk import walk
from headway.prove.forms import Form, linear
from headway.sync.program import (
    Assign,
    Exec,
    Load,
    RegisterRef,
    SyncProgram,
    Wait,
    Waits,
    walk_sync,
)

Marks = int
Row = tuple[str, str]
"""An engine and the name of one of its registers."""


class Block(NamedTuple):
    """The marks of all slots of one atom, side by side."""

    kind: str
    counter: str
    buffer: str
    atom: int


@dataclass(slots=True, eq=False)
class Cells:
    """The marks and registers of one synchronized program. Slots of `rows` turn with a buffer."""

    sync: SyncProgram
    rows: dict[Row, str]
    atoms: Atoms
    slots: dict[str, int]
    first: dict[Block, int] = field(default_factory=dict[Block, int])
    sizes: dict[Row, int] = field(default_factory=dict[Row, int])
    counters: dict[Row, set[str]] = field(default_factory=lambda: defaultdict(set))
    constants: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    loaders: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    of_counter: dict[str, Marks] = field(default_factory=lambda: defaultdict(int))
    everything: Marks = 0
    _bits: int = 0
    _blocks: dict[tuple[str, str], list[Block]] = field(default_factory=lambda: defaultdict(list))
    _places: dict[tuple[str, int], Marks] = field(default_factory=dict[tuple[str, int], Marks])
    _forms: dict[tuple[int, int], tuple[Expr, Form]] = field(
        default_factory=dict[tuple[int, int], tuple[Expr, Form]]
    )

    def form(self, expr: Expr, slots: int) -> Form:
        """Return an expression as a form; each is looked at once."""
        if isinstance(expr, int):
            return Form((), expr % slots if slots else expr)
        found = self._forms.get((id(expr), slots))
        if found is None:
            found = expr, linear(expr, slots)  # the expression is kept, and so its id
            self._forms[id(expr), slots] = found
        return found[1]

    def is_row(self, engine: str, name: str) -> bool:
        """Tell whether a register is one of a row."""
        return self.sizes.get((engine, name), 1) > 1

    def blocks(self, kind: str, access: Access) -> Iterator[tuple[Block, int]]:
        """Yield the blocks of that kind that an access touches, with their first bit."""
        atoms = set(self.atoms.of(access))
        for block in self._blocks[kind, access.buffer]:
            if block.atom in atoms:
                yield block, self.first[block]

    def positions(self, buffer: str, below: int) -> Marks:
        """Return the marks of the places before `below` in every block of a buffer."""
        found = self._places.get((buffer, below))
        if found is None:
            firsts = (first for block, first in self.first.items() if block.buffer == buffer)
            found = sum(((1 << below) - 1) << first for first in firsts)
            self._places[buffer, below] = found
        return found

    def add(self, q: str, reads: tuple[Access, ...], writes: tuple[Access, ...]) -> None:
        """Make marks for what an instance on counter `q` may touch."""
        for kind, accesses in (("write", writes), ("access", (*reads, *writes))):
            for access in accesses:
                for atom in self.atoms.of(access):
                    self._add(Block(kind, q, access.buffer, atom))

    def _add(self, block: Block) -> None:
        if block in self.first:
            return
        self.first[block] = self._bits
        self._blocks[block.kind, block.buffer].append(block)
        marks = ((1 << self.slots[block.buffer]) - 1) << self._bits
        self.of_counter[block.counter] |= marks
        self.everything |= marks
        self._bits += self.slots[block.buffer]


def cells(sync: SyncProgram, rows: dict[Row, str]) -> Cells:
    """Return the cells of a program. `rows` says with which buffer the slots of a row turn."""
    program = sync.program
    slots = {buffer.name: buffer.slots for buffer in program.buffers}
    found = Cells(sync, rows, Atoms(program), slots)
    for engine in sync.engines:
        for register in engine.registers:
            found.sizes[engine.engine, register.name] = register.size
        for node in walk_sync(engine.body):
            if isinstance(node, Load):
                found.loaders[node.control].add(engine.engine)
            if isinstance(node, Exec | Waits | Load):
                for wait in node.waits:
                    _note(found, engine.engine, wait)
    _spread(found)
    for node in walk(program.body):
        if isinstance(node, Instr):
            found.add(node.counter, node.reads, node.writes)
        elif node.control:
            for engine in found.loaders[node.control.name]:
                found.add(control_counter(engine), node.control.reads, ())
    return found


def _note(found: Cells, engine: str, wait: Wait) -> None:
    register = wait.threshold.register
    if register is None:
        found.constants[wait.counter].add(wait.threshold.offset)
    else:
        found.counters[engine, register.name].add(wait.counter)


def _spread(found: Cells) -> None:
    """A register that another one is computed from counts what that one counts."""
    sources: dict[Row, set[Row]] = defaultdict(set)
    for engine in found.sync.engines:
        for node in walk_sync(engine.body):
            if isinstance(node, Assign):
                names = {leaf.name for leaf in leaves(node.value) if isinstance(leaf, RegisterRef)}
                row = (engine.engine, node.register.name)
                sources[row] |= {(engine.engine, name) for name in names}
    waiting = list(found.counters)
    while waiting:
        row = waiting.pop()
        for source in sources[row]:
            if not found.counters[source] >= found.counters[row]:
                found.counters[source] |= found.counters[row]
                waiting.append(source)
