"""Numbers for all marks of a program, and the marks that an instance conflicts with or moves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from headway.certify.state import Room
from headway.certify.statement import Statement, steps_in
from headway.ir.atoms import Atoms
from headway.ir.program import Access, ControlRead, Instr, control_counter
from headway.ir.walk import walk


class Group(NamedTuple):
    """Marks of kind `write` or `access` that one access conflicts with, or that it moves itself.

    Each is a counter, an atom, and the bit of slot 0.
    """

    access: Access
    kind: str
    is_own: bool
    marks: list[tuple[str, int, int]]


class Marks:
    """The marks of a statement. Those of each counter are in `of`; its first stands for 0."""

    def __init__(self, statement: Statement) -> None:
        program = statement.program
        self.slots = {buffer.name: buffer.slots for buffer in program.buffers}
        counters = [*program.hosts, *(queue.name for queue in program.queues)]
        counters += [control_counter(engine) for engine in program.hosts]
        self.of = {q: 1 << i for i, q in enumerate(counters)}
        self._bits, self._atoms = len(counters), Atoms(program)
        self._first: dict[tuple[str, str], dict[tuple[str, int], int]] = defaultdict(dict)
        self._groups: dict[tuple[str, str], list[Group]] = {}
        loads = [
            (e, s.name)
            for e, steps in statement.engines.items()
            for s in steps_in(steps)
            if s.kind == "load"
        ]
        for node in walk(program.body):
            if isinstance(node, Instr):
                self._add(node, node.counter)
            elif node.control:
                for engine, name in loads:
                    if name == node.control.name:
                        self._add(node.control, control_counter(engine))
        self.of |= {name: self.of[flag.counter] for name, flag in statement.flags.items()}
        self.rooms: dict[str, Room] = {}
        for name, flag in statement.flags.items():
            self.rooms[name] = Room((flag.engine, f"take {name}", 0, name), self._bits, flag.holds)
            self._bits += flag.holds
        self.everything = (1 << self._bits) - 1

    def _add(self, node: Instr | ControlRead, q: str) -> None:
        for kind, access in touched(node):
            first = self._first[kind, access.buffer]
            for atom in self._atoms.of(access):
                if (q, atom) not in first:
                    first[q, atom] = self._bits
                    self.of[q] |= ((1 << self.slots[access.buffer]) - 1) << self._bits
                    self._bits += self.slots[access.buffer]

    def groups(self, node: Instr | ControlRead, q: str) -> list[Group]:
        """Return what an instance conflicts with, and then what it moves."""
        if (node.name, q) not in self._groups:
            parts = [(a, "write", False) for a in node.reads]
            parts += [(a, "access", False) for a in writes(node)]
            parts += [(a, kind, True) for kind, a in touched(node)]
            self._groups[node.name, q] = [Group(*part, self._marks(*part[:2])) for part in parts]
        return self._groups[node.name, q]

    def _marks(self, access: Access, kind: str) -> list[tuple[str, int, int]]:
        atoms, first = set(self._atoms.of(access)), self._first[kind, access.buffer]
        return [(q, atom, bit) for (q, atom), bit in first.items() if atom in atoms]


def writes(node: Instr | ControlRead) -> tuple[Access, ...]:
    """Return what a node writes; a control read writes nothing."""
    return node.writes if isinstance(node, Instr) else ()


def touched(node: Instr | ControlRead) -> Iterator[tuple[str, Access]]:
    """Yield the kinds of marks that a node moves, and by which access."""
    for access in writes(node):
        yield "write", access
    for access in (*writes(node), *node.reads):
        yield "access", access
