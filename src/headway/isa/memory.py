"""Memory as cells: buffer by buffer, slot by slot, atom by atom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from headway.ir.atoms import Atoms
from headway.ir.expr import Inputs, evaluate
from headway.ir.program import Access, Program


@dataclass(frozen=True, slots=True)
class Place:
    """Where a buffer lies: its first cell, its slots, and how many cells (atoms) each has."""

    first: int
    slots: int
    atoms: int

    @property
    def end(self) -> int:
        """The first cell behind it."""
        return self.first + self.slots * self.atoms


def layout(program: Program) -> dict[str, Place]:
    """Return the place of every buffer, in the order of their declaration."""
    atoms, places, first = Atoms(program), dict[str, Place](), 0
    for buffer in program.buffers:
        whole = atoms.of(Access(buffer.name))
        places[buffer.name] = Place(first, buffer.slots, max(whole) + 1)
        first = places[buffer.name].end
    return places


class Addresses:
    """The cells that accesses touch."""

    def __init__(self, program: Program, inputs: Inputs) -> None:
        self._atoms = Atoms(program)
        self._inputs = inputs
        self.places = layout(program)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return max((place.end for place in self.places.values()), default=0)

    def atoms(self, access: Access) -> Sequence[int]:
        """Return the atoms of a slot that an access touches."""
        return self._atoms.of(access)

    def of(self, access: Access, iterations: Mapping[str, int]) -> Iterator[int]:
        """Yield the cells of an access, in order."""
        place = self.places[access.buffer]
        slot = evaluate(access.slot, iterations, self._inputs)
        first = place.first + slot * place.atoms
        return (first + atom for atom in self._atoms.of(access))
