"""Operations that move or make elements."""

from __future__ import annotations

from typing import Any

from headway.values.numbers import as_float, np


def copy(src: Any, **options: Any) -> Any:
    """The same elements."""
    del options
    return src


def core_barrier(**tiles: Any) -> dict[str, Any]:
    """The tiles as they are: what meets there are cores."""
    return {role.replace("src", "dst"): tile for role, tile in tiles.items()}


def dma_compute(scales: Any = None, **sources: Any) -> Any:
    """The sum of the sources in float32, each times its scale."""
    tiles = [as_float(tile) for tile in sources.values()]
    factors = [1.0] * len(tiles) if scales is None else scales
    return sum(tile * np.float32(f) for tile, f in zip(tiles, factors, strict=True))


def memset(value: Any = 0) -> Any:
    """One number everywhere."""
    return np.asarray(value)


def nc_stream_shuffle(src: Any, shuffle_mask: Any) -> Any:
    """In each group of 32 partitions, partition i gets partition `shuffle_mask[i]`.

    An entry of 255 leaves its partition as it is; here it keeps its own elements.
    """
    order = np.arange(src.shape[0])
    for start in range(0, src.shape[0], 32):
        for i, source in enumerate(shuffle_mask[: src.shape[0] - start]):
            order[start + i] = start + (i if source == 255 else source)
    return src[order]


def iota(
    pattern: Any = (),
    offset: Any = 0,
    channel_multiplier: Any = 0,
    shape: Any = None,
    expr: Any = None,
) -> Any:
    """`offset + partition * channel_multiplier + sum(step * index)` over a pattern.

    In the old style the kernel gives the numbers themselves.
    """
    if expr is not None:
        return expr
    return affine(pattern, offset, channel_multiplier, shape[0] if shape else 128)


def affine(pattern: Any, offset: Any, channel_multiplier: Any, partitions: int) -> Any:
    """Return that affine value for each partition and each index of `[[step, count], ...]`."""
    counts = [int(count) for _, count in pattern]
    result = np.arange(partitions, dtype=np.int64).reshape(-1, *(1,) * len(counts))
    result = result * int(channel_multiplier) + int(offset)
    for axis, (step, count) in enumerate(pattern):
        shape = [1] * (len(counts) + 1)
        shape[axis + 1] = int(count)
        result = result + (np.arange(int(count)) * int(step)).reshape(shape)
    return result


OPERATIONS = {
    "copy": copy,
    "core_barrier": core_barrier,
    "dma": copy,
    "dma_compute": dma_compute,
    "iota": iota,
    "memset": memset,
    "nc_stream_shuffle": nc_stream_shuffle,
    "tensor_copy": copy,
}
