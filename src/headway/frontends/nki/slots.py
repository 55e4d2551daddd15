"""Where each recorded tile lives: in which slot of a buffer, and in which box of it.

A `Home` is all that the rest asks of a place: the accesses that an operand makes, which order
instructions, and the view of memory that it is, which they compute with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from headway.frontends.nki.affine import Number
from headway.frontends.nki.bands import Bands
from headway.frontends.nki.layout import Layout, row_major
from headway.frontends.nki.lifetimes import Rotation, modulo
from headway.frontends.nki.record import Box, Operand, Storage
from headway.frontends.nki.reroll import RolledNode
from headway.ir.expr import Binary, Expr
from headway.ir.program import Access, Buffer
from headway.values import program as values
from headway.values.program import Linear, View

ToExpr = Callable[[Number], Expr]
ToLinear = Callable[[Number], Linear]


@dataclass(frozen=True, slots=True)
class Located:
    """An operand with the numbers that it has in the rolled trace."""

    operand: Operand
    index: tuple[Number, ...]
    box: Box
    offset: Number


def located(node: RolledNode) -> list[Located]:
    """Return the operands of a rolled operation, or what the bound of a loop was loaded from."""
    found: list[Located] = []
    rest = iter(node.numbers)
    for operand in node.operands:
        index = tuple(next(rest) for _ in operand.storage.index)
        box = tuple((next(rest), next(rest)) for _ in operand.box)
        found.append(Located(operand, index, box, next(rest)))
    return found


def as_recorded(operand: Operand) -> Located:
    """Return an operand outside every rolled loop."""
    return Located(operand, operand.storage.index, operand.box, operand.offset)


def whole(storage: Storage) -> Located:
    """Return all of a tile, as the operand of nothing."""
    shape, dtype = storage.shape, storage.dtype
    box = tuple((0, extent) for extent in shape)
    layout = Layout(dtype.name, shape, row_major(shape, dtype.itemsize))
    return as_recorded(Operand(storage, shape, box, 0, layout))


class Home(Protocol):
    """Where the tiles of one place of the kernel live."""

    def accesses(self, access: Located, expr: ToExpr) -> Iterator[Access]:
        """Yield an access for each slot that an operand touches."""
        ...

    def memory(self) -> tuple[str, values.Memory]:
        """Return the memory that holds the values, and its name."""
        ...

    def view(self, role: str, access: Located, linear: ToLinear) -> View:
        """Return what an operand of that role is as a view of the memory."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """The buffer of all tiles allocated at one place of the kernel."""

    name: str
    storage: Storage
    rotation: Rotation
    bands: Bands | None  # None: only accessed whole
    addresses: tuple[int, ...] = ()  # of the slots, where Headway has allocated them
    is_guest: bool = False  # in the buffer of that name, which another place declares

    @property
    def depth(self) -> int:
        """The number of tiles that its memory holds."""
        return max(self.rotation.slots, len(self.addresses))

    @property
    def slots(self) -> int:
        """The number of slots."""
        return self.depth * (self.bands.slots if self.bands else 1)

    def buffer(self) -> Buffer:
        """Return the declaration."""
        shape = self.bands.shape if self.bands else self.storage.shape
        size = self._in_bytes(tuple((0, extent) for extent in shape)) if all(shape) else ()
        extents = tuple(high for _, high in size)
        return Buffer(self.name, self.slots, extents, self.storage.memory.name, self.storage.at)

    def accesses(self, access: Located, expr: ToExpr) -> Iterator[Access]:
        """Yield an access for each slot that an operand touches."""
        turn, turns = self.rotation.count(access.index), self.rotation.slots
        if self.bands is None:
            yield Access(self.name, remainder(turn, turns, expr))
            return
        count = self.bands.slots
        for band, inside in self.bands.pieces(access.box):
            if self.bands.are_apart:  # one affine number says most
                slot = remainder(turn * count + band, turns * count, expr)
            else:
                found = remainder(turn, turns, expr), remainder(band, count, expr)
                slot = _joined(found[0], count, found[1])
            shape = self.bands.shape
            whole = all(span == (0, size) for span, size in zip(inside, shape, strict=True))
            yield Access(self.name, slot, None if whole else self._in_bytes(inside))

    def memory(self) -> tuple[str, values.Memory]:
        """Return the memory that holds the values, and its name."""
        tile = self.storage
        memory = values.Memory(
            self.depth,
            tile.shape,
            tile.dtype.name,
            tile.memory.name,
            tile.contents,
            self.addresses,
            tile.row,
        )
        return self.name, memory

    def view(self, role: str, access: Located, linear: ToLinear) -> View:
        """Return what an operand of that role is as a view of the memory."""
        layout = access.operand.layout
        return View(
            self.name,
            linear(self.rotation.count(access.index)),
            self.rotation.slots,
            linear(access.offset),
            layout.dtype,
            layout.shape,
            layout.strides,
            layout.table.offsets if layout.table else None,
            dynamic(role, layout),
        )

    def _in_bytes(self, inside: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        if not inside:
            return ()
        low, high = inside[-1]
        size = self.storage.dtype.itemsize
        return (*inside[:-1], (low * size, high * size))


def dynamic(role: str, layout: Layout) -> tuple[values.Dynamic, ...]:
    """Return the parts of an address that are known only at run time."""
    return tuple(values.Dynamic(f"{role}.{d.operand}", d.stride, d.axis) for d in layout.dynamic)


def remainder(value: Number, slots: int, expr: ToExpr) -> Expr:
    """Return a number modulo `slots`."""
    small = modulo(value, slots)
    return small if isinstance(small, int) else Binary("%", expr(small), slots)


def _joined(turn: Expr, count: int, band: Expr) -> Expr:
    if isinstance(turn, int) and isinstance(band, int):
        return turn * count + band
    if turn == 0 or count == 1:
        return band if turn == 0 else turn
    return Binary("+", Binary("*", turn, count), band)
