"""Operations of the tensor engine, and transposes."""

from __future__ import annotations

from typing import Any

from headway.errors import HeadwayError
from headway.values.numbers import as_float, np


def matmul(
    stationary: Any,
    moving: Any,
    accumulate: bool = False,
    addend: Any = None,
    rows: int = 1,
    inside: Any = None,
    **options: Any,
) -> Any:
    """`stationary.T @ moving` in float32, added to what is in PSUM if it accumulates.

    With two `rows` in each partition the contracted dimension is both. A mask leaves out partitions
    of the operands, or columns of one of them.
    """
    del options
    left, right = (_rows(as_float(tile), rows) for tile in (stationary, moving))
    if inside is None:
        return added(np.matmul(np.ascontiguousarray(left.T), right), accumulate, addend)
    partitions, written = _masked(inside, left, right)
    left, right = (np.where(partitions[:, None], tile, np.float32(0)) for tile in (left, right))
    product = np.matmul(np.ascontiguousarray(left.T), right)
    return {"dst": added(product, accumulate, addend), "mask": written}


def added(product: Any, accumulate: bool, addend: Any) -> Any:
    """Return a product, added to what is in PSUM if it accumulates."""
    return product + as_float(addend).reshape(product.shape) if accumulate else product


def _masked(inside: Any, left: Any, right: Any) -> tuple[Any, Any]:
    """Return which partitions a matmul reads, and which elements it writes. Raise HeadwayError."""
    mask = np.asarray(inside)
    partitions = np.broadcast_to(mask.any(axis=1), left.shape[:1])
    columns = mask.any(axis=0)
    if not np.array_equal(mask, mask.any(axis=1)[:, None] & columns[None, :]):
        raise HeadwayError("a mask of a matmul that is no condition on each dimension")
    if columns.size == 1 or columns.all():
        return partitions, np.ones((left.shape[1], right.shape[1]), dtype=bool)
    if (columns.size == left.shape[1]) == (columns.size == right.shape[1]):
        raise HeadwayError("a mask of a matmul whose operands have as many columns each")
    if columns.size == left.shape[1]:
        return partitions, np.broadcast_to(columns[:, None], (left.shape[1], right.shape[1]))
    return partitions, np.broadcast_to(columns[None, :], (left.shape[1], right.shape[1]))


def transpose(data: Any, **options: Any) -> Any:
    """Partitions become free elements, and free elements partitions."""
    del options
    return np.ascontiguousarray(_rows(data).T)


def dma_transpose(src: Any, axes: Any = None) -> Any:
    """All dimensions in the other order, or in the order of `axes`."""
    return np.transpose(src, axes or None)


def _rows(tile: Any, rows: int = 1) -> Any:
    return tile.reshape(tile.shape[0] * rows, -1)


OPERATIONS = {f.__name__: f for f in (dma_transpose, matmul, transpose)}
