"""Which cells an access touches: slots of atoms, in the frame of the loops around it.

In     a program, its accesses one after the other, each with the frame that it stands in
Out    for each access its touches, one for each atom
Exact  a cell is one slot of one atom in the frame; an access whose slot is not known in that frame
       names every cell that it may be
Cost   a look-up for an access that is like an earlier one: equal touches are one object
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from headway.analysis.frames import MAX_SLOTS, Frame, Frames, Terms
from headway.analysis.slots import Shapes
from headway.errors import InvalidInput
from headway.ir.atoms import Atoms
from headway.ir.expr import Expr, Iteration, Iterations, evaluate, leaves
from headway.ir.program import Access, Program


@dataclass(frozen=True, slots=True)
class Place:
    """One atom in all slots of its buffer. `cells` is one for all slots if they are too many."""

    buffer: str
    atom: int
    slots: int
    cells: tuple[int, ...]


class Spot(NamedTuple):
    """What an access names: a place, and an expression for its slot, with the number of its shape.

    Equal slots are one object.
    """

    place: int
    slot: Expr
    shape: int


@dataclass(slots=True, eq=False)  # not frozen: these are made and read more often than others
class Touch:
    """An access to one place: to one of `cells`. `cell` is that one, or -1 if it is not known.

    `frame` are the terms of the frame that the access stands in. `sites` is the first number of a
    range, the sites of its spot.
    """

    place: int
    cell: int
    cells: tuple[int, ...]
    slot: Expr
    frame: Terms
    sites: int

    def site(self, counter: int, kind: int) -> int:
        """Return the number of the site of a counter, for its writes or its accesses."""
        return self.sites + 2 * counter + kind

    def at(self, place: Place, iterations: Iterations) -> Touch:
        """Return the touch in an iteration, if it is known well enough to tell the slot."""
        inside = [leaf for leaf in leaves(self.slot)]
        used = {leaf.loop for leaf in inside if isinstance(leaf, Iteration)}
        if len(place.cells) < place.slots or not all(isinstance(x, Iteration) for x in inside):
            return self
        if not used | {loop for loop, _ in self.frame} <= iterations.keys():
            return self
        try:
            slot = evaluate(self.slot, iterations, {})
        except InvalidInput:
            return self  # it divides by zero: no run comes here
        slot -= sum(c * iterations[q] for q, c in self.frame)
        cell = place.cells[slot % place.slots]
        return replace(self, cell=cell, cells=(cell,))


Box = tuple[tuple[int, int], ...]
_Key = tuple[str, int, Box | None, object]


class Touches:
    """The places of a program, numbered as they are found, and what accesses touch of them."""

    def __init__(
        self, program: Program, frames: Frames, shapes: Shapes, sites_per_spot: int
    ) -> None:
        self.spots: list[Spot] = []
        self._sites_per_spot = sites_per_spot
        self._sites: dict[tuple[int, int], int] = {}
        self._shapes = shapes
        self.places: list[Place] = []
        self.place_of: list[int] = []  # by cell
        self._atoms = Atoms(program)
        self._frames = frames
        self._slots = {buffer.name: buffer.slots for buffer in program.buffers}
        self._numbers: dict[tuple[str, int], int] = {}
        self._known: dict[_Key, tuple[Touch, ...]] = {}
        self._frame: Frame = {}
        self._here: dict[tuple[str, int], tuple[Touch, ...]] = {}  # of whole slots, in that frame

    @property
    def has_atoms(self) -> bool:
        """Tell whether some buffer has several atoms, which may always be touched together."""
        return any(atom for _, atom in self._numbers)

    def of(self, accesses: tuple[Access, ...], frame: Frame) -> tuple[Touch, ...]:
        """Return what several accesses of one instruction touch, each cell once."""
        if frame is not self._frame:
            self._frame, self._here = frame, {}
        here, numbers = self._here, self._shapes.numbers
        found: tuple[Touch, ...] = ()
        for access in accesses:
            slot = access.slot
            if access.box is not None:
                found += self._of(access, frame)
                continue
            number = numbers.get(id(slot))
            if number is None:
                number = self._shapes.of(slot)
            key = (access.buffer, number)
            touches = here.get(key)
            if touches is None:
                touches = here[key] = self._of(access, frame)
            found += touches
        if len(found) < 2:
            return found
        if not found[2:] and found[0].place != found[1].place:
            return found
        return _distinct(found)

    def _of(self, access: Access, frame: Frame) -> tuple[Touch, ...]:
        buffer, bounds = access.buffer, access.box
        box = None if bounds is None else self._box(bounds)
        key = (buffer, self._shapes.of(access.slot), box, frame.get(buffer))
        touches = self._known.get(key)
        if touches is None:
            touches = self._known[key] = self._found(access, frame)
        return touches

    def _box(self, bounds: tuple[tuple[Expr, Expr], ...]) -> Box:
        number = self._shapes.of
        return tuple([(number(low), number(high)) for low, high in bounds])

    def _found(self, access: Access, frame: Frame) -> tuple[Touch, ...]:
        slots = self._slots[access.buffer]
        position = self._frames.position(access) if slots <= MAX_SLOTS else None
        terms = frame.get(access.buffer, ())
        number = -1
        if position and position.terms == terms:
            number = position.offset
        shape = self._shapes.of(access.slot)
        slot = self._shapes.expr(shape)
        touches: list[Touch] = []
        for atom in self._atoms.of(access):
            place = self._place(access.buffer, atom)
            cells = self.places[place].cells
            touch = (-1, cells) if number < 0 else (cells[number], (cells[number],))
            touches.append(Touch(place, *touch, slot, terms, self._sites_of(place, shape)))
        return tuple(touches)

    def _sites_of(self, place: int, shape: int) -> int:
        """Return the first number of the sites of a spot."""
        first = self._sites.get((place, shape))
        if first is None:
            first = self._sites[place, shape] = len(self.spots) * self._sites_per_spot
            self.spots.append(Spot(place, self._shapes.expr(shape), shape))
        return first

    def _place(self, buffer: str, atom: int) -> int:
        place = self._numbers.get((buffer, atom))
        if place is None:
            place = self._numbers[buffer, atom] = len(self.places)
            slots = self._slots[buffer]
            count = slots if slots <= MAX_SLOTS else 1
            first = len(self.place_of)
            self.place_of += [place] * count
            self.places.append(Place(buffer, atom, slots, tuple(range(first, first + count))))
        return place


def _distinct(touches: tuple[Touch, ...]) -> tuple[Touch, ...]:
    """Return each touch of a cell once; of cells that are not known, each touch."""
    places = {touch.place for touch in touches}
    if len(places) == len(touches):
        return touches
    unique = {(t.place, t.cell, id(t) if t.cell < 0 else 0): t for t in touches}
    return tuple(unique.values())
