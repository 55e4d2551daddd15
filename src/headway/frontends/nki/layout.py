"""Where the elements of a view lie in its memory, as bytes: strides, or a table of offsets."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple


class Table:
    """Offsets in bytes of each element, -1 where there is none; compared by their values."""

    def __init__(self, offsets: Any) -> None:
        self.offsets = offsets  # a numpy array of int64

    @cached_property
    def _key(self) -> tuple[tuple[int, ...], bytes]:
        return self.offsets.shape, self.offsets.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


class Dynamic(NamedTuple):
    """A part of the address that is known only at run time: bytes per unit of a value in memory.

    `operand` counts the operands that follow the view among those of its operation. The value is
    one number, or, along dimension `axis` of the view, one for each index.
    """

    operand: int
    stride: int
    axis: int | None = None


UNFOLLOWED = Dynamic(-1, 0)
"""A part of the address that depends on more than one number in memory: not followed."""


class Layout(NamedTuple):
    """Element `i` of a view of that shape and type lies `sum(i * strides)` bytes from its offset.

    With a `table` the strides do not count: the table has the place of each element.
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    table: Table | None = None
    dynamic: tuple[Dynamic, ...] = ()


WHOLE = Layout("uint8", (), ())


def row_major(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Return the strides of an array that lies in memory without gaps."""
    found: list[int] = []
    stride = itemsize
    for size in reversed(shape):
        found.append(stride)
        stride *= size
    return tuple(reversed(found))


def reshaped(
    shape: Sequence[int], strides: Sequence[int], wanted: Sequence[int]
) -> tuple[int, ...] | None:
    """Return the strides of the same elements in another shape, None if there are none.

    Both shapes have the same number of elements.
    """
    if 0 in wanted:
        return row_major(wanted, 1)
    runs = _runs(shape, strides)
    found: list[int] = []
    for size in reversed(wanted):
        if size == 1:
            found.append(0)
            continue
        extent, stride = runs.pop()
        if extent % size:
            return None
        found.append(stride)
        if extent > size:
            runs.append((extent // size, stride * size))
    return tuple(reversed(found))


def _runs(shape: Sequence[int], strides: Sequence[int]) -> list[tuple[int, int]]:
    """Return (size, stride) of each group of dimensions that is one row of equal steps."""
    runs: list[tuple[int, int]] = []
    for size, stride in zip(shape, strides, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == size * stride:
            runs[-1] = (runs[-1][0] * size, stride)
        else:
            runs.append((size, stride))
    return runs
