"""The places of elements that index arrays name: strides where the arrays are affine, else a table.

Indices that leave the dimension belong to a mask; they have no place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from headway.frontends.nki.affine import Number
from headway.frontends.nki.layout import Table
from headway.frontends.nki.registers import Indices, Register
from headway.frontends.nki.tensor import Axis, Tensor, run_time

_Part = tuple[Any, int | None, int]
"""Indices, the extent of their dimension and its stride; with no extent they are moved later."""


def placed(view: Tensor, tensor: Tensor, parts: Sequence[Any]) -> Tensor:
    """Return `view`, which is `tensor[parts]`, with the places of its elements."""
    if tensor.table is not None:
        return _from_table(view, tensor, parts)
    offset: Number = tensor.offset
    arrays: list[_Part] = []
    dynamic = list(tensor.dynamic)
    also = list(tensor.also)
    for axis, part in zip(tensor.axes, (p for p in parts if p is not None), strict=True):
        if isinstance(part, Tensor | Register):
            if isinstance(part, Indices):
                row = 0 if part.is_column else None
                offset = offset + run_time(part, axis.stride, row, also, dynamic)
                arrays.append((part.array, None, axis.stride))
                continue
            is_row = isinstance(part, Tensor) and part.size > 1
            row = 0 if is_row else None
            offset = offset + run_time(part, axis.stride, row, also, dynamic)
        elif hasattr(part, "__array__") or isinstance(part, slice):
            arrays.append((_indices(part, axis.size), axis.size, axis.stride))
        else:
            offset = offset + part * axis.stride
    if len(dynamic) > len(tensor.dynamic):
        view = replace(view, dynamic=tuple(dynamic))
    rank = view.ndim
    while rank > max((array.ndim for array, _, _ in arrays), default=rank):
        rank -= 1  # a tile of one dimension was given a second one, of size 1
    strides = [0] * rank
    known = offset
    for array, extent, stride in arrays:
        first, even = described(array)
        leaves = (
            extent is not None and not 0 <= first + even.least <= first + even.greatest < extent
        )
        if even.steps is None or (leaves and even.greatest >= even.least):
            return _tabled(view, known, arrays, rank)  # a table counts all arrays from there
        offset = offset + first * stride
        for d, step in enumerate(even.steps, rank - array.ndim):
            strides[d] += step * stride
    strides += [0] * (view.ndim - rank)
    axes = tuple([Axis(a.size, a.root, a.step, s) for a, s in zip(view.axes, strides, strict=True)])
    return replace(view, offset=offset, axes=axes)


def _indices(part: Any, extent: int) -> Any:
    import numpy as np

    return np.arange(*part.indices(extent)) if isinstance(part, slice) else np.asarray(part)


@dataclass(frozen=True, slots=True)
class Growth:
    """How an array grows from its first element: by `steps` along each dimension, if evenly."""

    steps: tuple[int, ...] | None
    least: int
    greatest: int


def described(array: Any) -> tuple[int, Growth]:
    """Return the first element of an array, and how it grows from there."""
    first = int(array.item(0)) if array.size else 0
    # Iterations of a loop use the same arrays, moved.
    moved = array - first
    return first, _growth(moved.shape, moved.dtype.str, moved.tobytes())


@lru_cache(maxsize=1024)
def _growth(shape: tuple[int, ...], dtype: str, content: bytes) -> Growth:
    import numpy as np

    array = np.frombuffer(content, dtype=dtype).reshape(shape)
    if not array.size:
        return Growth((0,) * array.ndim, 0, -1)
    return Growth(_steps(array), int(array.min()), int(array.max()))


def _steps(array: Any) -> tuple[int, ...] | None:
    """Return how an array grows along each dimension, None if it does not grow evenly."""
    import numpy as np

    first = int(array.flat[0])
    steps = [
        int(array.take(1, axis=d).flat[0]) - first if size > 1 else 0
        for d, size in enumerate(array.shape)
    ]
    grids = np.ogrid[tuple(slice(size) for size in array.shape)]
    even = first + sum(grid * step for grid, step in zip(grids, steps, strict=True))
    return tuple(steps) if np.array_equal(np.broadcast_to(even, array.shape), array) else None


def _tabled(view: Tensor, offset: Number, arrays: Sequence[_Part], rank: int) -> Tensor:
    import numpy as np

    shape = view.shape[:rank]
    places = np.zeros(shape, dtype=np.int64)
    is_there = np.ones(shape, dtype=bool)
    for array, extent, stride in arrays:
        places += array * stride
        if extent is not None:
            is_there &= (array >= 0) & (array < extent)
    least = int(places[is_there].min()) if is_there.any() else 0
    table = np.where(is_there, places - least, -1).reshape(view.shape)
    return replace(view, offset=offset + least, table=Table(table))


def _from_table(view: Tensor, tensor: Tensor, parts: Sequence[Any]) -> Tensor:
    places = tensor.offsets()[tuple(parts)]
    places = places.reshape(view.shape) if places.size == view.size else places
    return replace(view, table=Table(places))
