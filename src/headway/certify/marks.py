"""Numbers for all marks of a program, and the marks that an instance conflicts with or moves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from headway.certify.statement import Instance, Statement, steps_in
from headway.ir.atoms import Atoms
from headway.ir.program import Access, Instr, control_counter
from headway.ir.walk import walk


class Group(NamedTuple):
    """What one access conflicts with (kind `write` or `access`), or the marks it moves (`own`).

    `marks` are counters, atoms, and the bit of slot 0.
    """

    access: Access
    kind: str
    marks: Sequence[tuple[str, int, int]]


class Marks:
    """The marks of a statement. `of` a counter are its own; bit 0 and on are one of each counter,

    which stands for the position 0.
    """

    def __init__(self, statement: Statement) -> None:
        program = statement.program
        self.slots = {buffer.name: buffer.slots for buffer in program.buffers}
        self.loaders: defaultdict[str, set[str]] = defaultdict(set)
        for engine, steps in statement.engines.items():
            for step in steps_in(steps):
                if step.kind == "load":
                    self.loaders[step.name].add(engine)
        counters = [*program.hosts, *(queue.name for queue in program.queues)]
        counters += [control_counter(engine) for engine in program.hosts]
        self.of = {q: 1 << i for i, q in enumerate(counters)}
        self._bits = len(counters)
        self._atoms = Atoms(program)
        self._first: dict[tuple[str, str], dict[tuple[str, int], int]] = defaultdict(dict)
        self._groups: dict[tuple[str, str], list[Group]] = {}
        for node in walk(program.body):
            if isinstance(node, Instr):
                self._add(node.counter, node.reads, node.writes)
            elif node.control:
                for engine in sorted(self.loaders[node.control.name]):
                    self._add(control_counter(engine), node.control.reads, ())
        self.of |= {name: self.of[flag.counter] for name, flag in statement.flags.items()}
        self.everything = (1 << self._bits) - 1

    def _add(self, q: str, reads: tuple[Access, ...], writes: tuple[Access, ...]) -> None:
        """Number the marks of what an instance on counter `q` may touch."""
        for kind, accesses in (("write", writes), ("access", (*reads, *writes))):
            for access in accesses:
                first = self._first[kind, access.buffer]
                for atom in self._atoms.of(access):
                    if (q, atom) not in first:
                        first[q, atom] = self._bits
                        self.of[q] |= ((1 << self.slots[access.buffer]) - 1) << self._bits
                        self._bits += self.slots[access.buffer]

    def groups(self, at: Instance) -> list[Group]:
        """Return what an instance conflicts with, and what it moves."""
        found = self._groups.get((at.name, at.counter))
        if found is None:
            parts = [(a, "write", "write") for a in at.reads]
            parts += [(a, "access", "access") for a in at.writes]
            parts += [(a, "own", "write") for a in at.writes]
            parts += [(a, "own", "access") for a in at.reads + at.writes]
            found = [Group(a, kind, self._of_access(a, table)) for a, kind, table in parts]
            self._groups[at.name, at.counter] = found
        return found

    def _of_access(self, access: Access, kind: str) -> list[tuple[str, int, int]]:
        atoms = set(self._atoms.of(access))
        first = self._first[kind, access.buffer]
        return [(q, atom, bit) for (q, atom), bit in first.items() if atom in atoms]
