"""Operations of the tensor engine, and transposes."""

from __future__ import annotations

from typing import Any

from headway.values.numbers import as_float, np


def matmul(
    stationary: Any, moving: Any, accumulate: bool = False, addend: Any = None, **options: Any
) -> Any:
    """`stationary.T @ moving` in float32, added to what is in PSUM if it accumulates."""
    del options
    left, right = _rows(as_float(stationary)), _rows(as_float(moving))
    product = np.matmul(np.ascontiguousarray(left.T), right)
    return product + as_float(addend).reshape(product.shape) if accumulate else product


def transpose(data: Any, **options: Any) -> Any:
    """Partitions become free elements, and free elements partitions."""
    del options
    return np.ascontiguousarray(_rows(data).T)


def dma_transpose(src: Any, axes: Any = None) -> Any:
    """All dimensions in the other order, or in the order of `axes`."""
    return np.transpose(src, axes or None)


def _rows(tile: Any) -> Any:
    return tile.reshape(tile.shape[0], -1)


OPERATIONS = {f.__name__: f for f in (dma_transpose, matmul, transpose)}
