"""Which parts of a tile nothing has written yet: boxes, out of which each write is cut.

Exact  for operands at constant places. Whatever else writes a tile counts as if it wrote it all:
       at places known only at run time, in another shape of it, or in more than MOST_PIECES pieces
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from headway.frontends.nki.record import Box, Operand, Storage

MOST_PIECES = 64

Span = tuple[int, int]
Piece = tuple[Span, ...]


class Unwritten:
    """The parts of each tile that nothing has written, of those that something has written."""

    def __init__(self) -> None:
        self._left: dict[Storage, list[Piece]] = {}

    def write(self, operand: Operand) -> None:
        """Note that an operation writes there."""
        storage = operand.storage
        left = self._left.get(storage)
        if left is None:
            left = _all_of(storage)
        elif not left:
            return
        box = _constant(operand.box) if operand.root == storage.shape else None
        if not left or box is None:
            self._left[storage] = []
            return
        left = [rest for piece in left for rest in _outside(piece, box)]
        self._left[storage] = left if len(left) <= MOST_PIECES else []

    def is_under(self, operand: Operand) -> bool:
        """Tell whether an operand is known to reach what nothing has written."""
        left = self._left.get(operand.storage)
        if not left or operand.root != operand.storage.shape:
            return False
        box = _constant(operand.box)
        return box is not None and any(_common(piece, box) for piece in left)


def _all_of(storage: Storage) -> list[Piece]:
    if storage.is_moving or not storage.memory.is_on_chip:
        return []
    return [tuple([(0, extent) for extent in storage.shape])]


def _constant(box: Box) -> Piece | None:
    for low, high in box:
        if type(low) is not int or type(high) is not int:
            return None
    return cast(Piece, box)


def _common(one: Piece, other: Piece) -> Piece | None:
    found: list[Span] = []
    for (a, b), (c, d) in zip(one, other, strict=True):
        low, high = a if a > c else c, b if b < d else d
        if low >= high:
            return None
        found.append((low, high))
    return tuple(found)


def _outside(piece: Piece, box: Piece) -> Iterator[Piece]:
    """Yield what is left of a piece without a box, as boxes that do not overlap."""
    common = _common(piece, box)
    if common is None:
        yield piece
        return
    for d, ((low, high), (begin, end)) in enumerate(zip(piece, common, strict=True)):
        for span in ((low, begin), (end, high)):
            if span[0] < span[1]:
                yield (*common[:d], span, *piece[d + 1 :])
