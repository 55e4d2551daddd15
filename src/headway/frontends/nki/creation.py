"""How kernels make tensors: `nl.ndarray`, `nl.zeros` and their kin."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from operator import index
from pathlib import Path
from typing import Any

from headway.frontends.nki import elementwise as ew
from headway.frontends.nki.blocks import Blocks, block_dimensions
from headway.frontends.nki.compiler import Allocation, Space
from headway.frontends.nki.places import problem
from headway.frontends.nki.tensor import Tensor, allocated, extents_of, sequence
from headway.frontends.nki.types import HBM, MEMORIES, SBUF, Memory, dtype_of

PSUM_ZEROS = "psum-zeros"


def memory_of(buffer: object) -> Memory:
    """Return the memory that `buffer=` names; SBUF by default."""
    if buffer is None:
        return SBUF
    if isinstance(buffer, Memory):
        return buffer
    if isinstance(buffer, Allocation):
        return buffer.memory
    if isinstance(buffer, Space):
        return buffer.auto_alloc()
    if str(buffer) in MEMORIES:
        return MEMORIES[str(buffer)]
    raise problem(f"unknown buffer {buffer!r}", help=f"known: {', '.join(MEMORIES)}")


def is_in(*memories: str) -> Callable[[object], bool]:
    """Return what tells whether a buffer is one of these memories."""
    return lambda buffer: memory_of(buffer).name in memories


def ndarray(
    shape: Sequence[Any], dtype: object = "float32", buffer: object = None, **options: Any
) -> Tensor:
    """Return a new tensor."""
    return _new(shape, dtype, buffer, options)


def _new(shape: Any, dtype: object, buffer: object, options: Mapping[str, Any]) -> Any:
    """Return a new tensor, which may have block dimensions."""
    extents, kind, memory = sequence(shape), dtype_of(dtype), memory_of(buffer)
    name = str(options.get("name") or "")
    by_hand = buffer if isinstance(buffer, Allocation) else None
    count = block_dimensions(extents, memory)
    if count:
        return Blocks.allocated(extents, kind, memory, count, name, by_hand)
    place = _address(options.get("address"))
    if by_hand is not None:
        sizes = extents_of(extents, memory)
        place = by_hand.of((), sizes[0], prod(sizes[1:]) * kind.itemsize)
    return allocated(extents, kind, memory, name, place if memory.is_on_chip else None)


def _address(address: Any) -> tuple[int, int] | None:
    """Return the (partition, byte) that `address=` gives. Raise InvalidProgram."""
    if address is None:
        return None
    try:
        partition, byte = map(index, sequence(address))
    except (TypeError, ValueError):
        raise problem(
            f"a tile at the address {address!r}", rule="an address is (partition, byte)"
        ) from None
    return partition, byte


def _filled(
    shape: Any,
    dtype: object,
    buffer: object,
    options: Mapping[str, Any],
    flags: tuple[str, ...] = (),
    value: object = 0,
) -> Any:
    """Return a new tensor that was set to a constant, tile by tile."""
    tensor = _new(shape, dtype, buffer, options)
    tiles = [tile for _, tile in tensor.numbered()] if isinstance(tensor, Blocks) else [tensor]
    for tile in tiles:
        ew.fill(tile, flags, value)
    return tensor


def constant(is_old: bool) -> Callable[..., Tensor]:
    """Return `zeros` of a style.

    In the old style the zeros of a PSUM tile are the start of a matmul accumulation group.
    """

    def zeros(
        shape: Sequence[Any], dtype: object = "float32", buffer: object = None, **options: Any
    ) -> Tensor:
        is_group = is_old and memory_of(buffer).name == "psum"
        return _filled(shape, dtype, buffer, options, (PSUM_ZEROS,) if is_group else ())

    return zeros


def full(
    shape: Sequence[Any],
    fill_value: object,
    dtype: object = "float32",
    buffer: object = None,
    **options: Any,
) -> Tensor:
    """Return a new tensor full of one number."""
    return _filled(shape, dtype, buffer, options, value=fill_value)


def ones(
    shape: Sequence[Any], dtype: object = "float32", buffer: object = None, **options: Any
) -> Tensor:
    """Return a new tensor full of ones."""
    return full(shape, 1, dtype, buffer, **options)


def zeros_like(x: Tensor, dtype: object = None, buffer: object = None, **options: Any) -> Tensor:
    """Return zeros in the shape of another tensor."""
    del options
    return ew.filled(x.shape, dtype_of(dtype or x.dtype), memory_of(buffer))


def empty_like(x: Tensor, dtype: object = None, buffer: object = None, **options: Any) -> Tensor:
    """Return a new tensor in the shape of another."""
    del options
    return allocated(x.shape, dtype_of(dtype or x.dtype), memory_of(buffer))


def _read(file: str | Path) -> Any:
    import numpy as np

    try:
        return np.load(file)
    except (OSError, ValueError) as error:
        raise problem(f"the constant in {str(file)!r} cannot be read: {error}") from None


def shared_constant(constant: Any, dtype: object = None, **options: Any) -> Tensor:
    """Return a tensor in HBM that holds a constant: an array, or what a numpy file holds."""
    del options
    if isinstance(constant, str | Path):
        constant = _read(constant)
    shape = getattr(constant, "shape", (1, 1))
    tensor = allocated(shape, dtype_of(dtype or getattr(constant, "dtype", "float32")), HBM)
    tensor.storage.contents = constant
    return tensor
