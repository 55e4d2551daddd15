"""Operations that reduce tiles along free dimensions or the partition."""

from __future__ import annotations

from typing import Any

from headway.errors import HeadwayError
from headway.values.functions import plain_name, reduction
from headway.values.numbers import as_float, np


def tensor_reduce(
    data: Any,
    op: str,
    axis: Any,
    negate: bool = False,
    keepdims: bool = False,
    inside: Any = None,
) -> Any:
    """A reduction along axes; negated before it is written if it says so.

    Elements that a mask leaves out take no part; where none is left nothing is written.
    """
    del keepdims  # the elements are the same
    axes = tuple(int(a) for a in np.atleast_1d(axis))
    if inside is None:
        result = reduction(op, data, axes)
        return -result if negate else result
    mask = np.broadcast_to(inside, data.shape)
    name = plain_name(op)
    if name not in _NEUTRAL:
        raise HeadwayError(f"there are no values of {op} with a mask")
    result = reduction(op, np.where(mask, as_float(data), np.float32(_NEUTRAL[name])), axes)
    return {"dst": -result if negate else result, "mask": mask.any(axis=axes)}


_NEUTRAL = {"add": 0, "maximum": -np.inf, "minimum": np.inf, "multiply": 1}
"""What changes nothing, for each reduction."""


def tensor_partition_reduce(data: Any, op: str) -> Any:
    """A reduction along the partition."""
    return reduction(op, data, (0,))


def bn_stats(data: Any) -> Any:
    """Count, mean and count * variance in each partition: of the even elements, then the odd."""
    rows = as_float(data).reshape(data.shape[0], -1)
    parts: list[Any] = []
    for half in (rows[:, 0::2], rows[:, 1::2]):
        count = np.full(rows.shape[0], half.shape[1], dtype=np.float32)
        mean = half.mean(axis=1) if half.shape[1] else np.zeros_like(count)
        spread = ((half - mean[:, None]) ** 2).sum(axis=1)
        parts += [count, mean, spread]
    return np.stack(parts, axis=1)


def bn_aggr(data: Any) -> Any:
    """Mean and variance of what several `bn_stats` counted."""
    triples = as_float(data).reshape(data.shape[0], -1, 3)
    counts, means, spreads = triples[..., 0], triples[..., 1], triples[..., 2]
    total = counts.sum(axis=1)
    mean = (counts * means).sum(axis=1) / total
    spread = (spreads + counts * (means - mean[:, None]) ** 2).sum(axis=1)
    return np.stack([mean, spread / total], axis=1)


OPERATIONS = {f.__name__: f for f in (bn_aggr, bn_stats, tensor_partition_reduce, tensor_reduce)}
