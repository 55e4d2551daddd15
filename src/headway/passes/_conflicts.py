"""Which instructions of a program may depend on each other: conservative."""

from __future__ import annotations

from collections.abc import Iterator

from headway.analysis.slots import Relation, relation
from headway.ir.atoms import Atoms
from headway.ir.program import Access, ControlRead, Instr, Program


class Conflicts:
    """Which instructions of a program may depend on each other."""

    def __init__(self, program: Program) -> None:
        self._atoms = Atoms(program)

    def between(self, first: Instr, second: Instr) -> bool:
        """Tell whether two of one body may, in one iteration of all loops around."""
        return any(
            relation(a.slot, b.slot) is not Relation.APART for a, b in self._pairs(first, second)
        )

    def ever(self, first: Instr, second: Instr | ControlRead) -> bool:
        """Tell whether two may, in whatever iterations."""
        return any(
            a.slot == b.slot or not (isinstance(a.slot, int) and isinstance(b.slot, int))
            for a, b in self._pairs(first, second)
        )

    def _pairs(self, first: Instr, second: Instr | ControlRead) -> Iterator[tuple[Access, Access]]:
        writes = second.writes if isinstance(second, Instr) else ()
        for mine, others in ((first.writes, (*second.reads, *writes)), (first.reads, writes)):
            for a in mine:
                for b in others:
                    if a.buffer == b.buffer and not set(self._atoms.of(a)).isdisjoint(
                        self._atoms.of(b)
                    ):
                        yield a, b
