"""Functions of `nki.language` that take several instructions, or none."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from headway.frontends.nki import elementwise as ew
from headway.frontends.nki.calls import Call
from headway.frontends.nki.masks import masked
from headway.frontends.nki.places import problem
from headway.frontends.nki.record import recorder
from headway.frontends.nki.tensor import Tensor, allocated, sequence
from headway.frontends.nki.transfers import moved
from headway.frontends.nki.types import DTYPES, SBUF, Memory, dtype_of


def softmax(x: Tensor, axis: object = -1, dtype: object = None, **options: Any) -> Tensor:
    """Return the softmax: subtract the maximum, exponentiate, divide by the sum."""
    del options
    shifted = ew.binary("subtract", x, ew.reduction("max", x, axis, keepdims=True))
    powers = ew.unary("exp", shifted)
    return ew.binary("divide", powers, ew.reduction("sum", powers, axis, keepdims=True), dtype)


def rms_norm(
    x: Tensor,
    w: object,
    axis: object,
    n: float,
    epsilon: float = 1e-6,
    dtype: object = None,
    **options: Any,
) -> Tensor:
    """Return x divided by the root of the mean of its squares, times w if it is given."""
    del options
    total = ew.reduction("sum", ew.unary("square", x), axis, keepdims=True)
    mean = ew.binary("add", ew.binary("multiply", total, 1.0 / n), epsilon)
    normed = ew.binary("multiply", x, ew.unary("rsqrt", mean), dtype if w is None else None)
    return normed if w is None else ew.binary("multiply", normed, w, dtype)


def dropout(x: Tensor, rate: object, dtype: object = None) -> Tensor:
    """Return x with some elements set to zero."""
    tile = ew.on_chip(x)
    result = allocated(tile.shape, dtype_of(dtype or tile.dtype), SBUF)
    if isinstance(rate, Tensor):
        call = Call("dropout", "data prob")
        ew.emit("dropout", [tile, ew.on_chip(rate)], [result], call=call)
    else:
        ew.emit("dropout", [tile], [result], call=Call("dropout", "data", {"prob": rate}))
    return result


def rand(
    shape: Sequence[Any], dtype: object = "float32", buffer: Memory = SBUF, **options: Any
) -> Tensor:
    """Return random numbers."""
    del options
    result = allocated(shape, dtype_of(dtype), buffer)
    ew.emit("rng", [], [result], call=Call("uniform", "", {"shape": result.shape}))
    return result


def random_seed(seed: object, **options: Any) -> None:
    """Record that the seed of random numbers is set."""
    del options
    if isinstance(seed, Tensor):
        tile = ew.on_chip(seed)
    else:
        tile = ew.filled((1, 1), DTYPES["int32"], SBUF, value=seed)
    call = Call("random_seed", "src_seeds", writes="")
    ew.emit("rng", [tile], [], sizes=[tile], call=call)


def gather_flattened(data: Tensor, indices: Tensor, axis: int = 0, dtype: object = None) -> Tensor:
    """Return the elements of each partition that the indices name."""
    del axis
    tile, index = ew.on_chip(data), ew.on_chip(indices)
    result = allocated(index.shape, dtype_of(dtype or tile.dtype), SBUF)
    ew.emit("nc_n_gather", [tile, index], [result], call=Call("nc_n_gather", "data indices"))
    return result


def shared_identity_matrix(
    n: int, dtype: object = "uint8", dst: Tensor | None = None, **options: Any
) -> Tensor:
    """Return a tile with the identity matrix: zeros, and ones where row and column are equal."""
    del options
    tile = allocated((n, n), dtype_of(dtype), SBUF) if dst is None else dst
    ew.emit("memset", [], [tile], call=Call("memset", "", {"value": 0}))
    diagonal = {"pattern": [[-1, n]], "channel_multiplier": 1, "cmp_op": "not_equal"}
    call = Call("affine_select", "on_true_tile", {**diagonal, "on_false_value": 1})
    ew.emit("affine_select", [tile], [tile], call=call)
    return tile


def static_cast(value: Any, dtype: object) -> Any:
    """Return an array of the host with another type; tensors are left as they are."""
    return value.astype(dtype_of(dtype).dtype) if hasattr(value, "__array__") else value


def finfo(dtype: object) -> SimpleNamespace:
    """Return the limits of a type, as numpy gives them."""
    import ml_dtypes

    find: Any = ml_dtypes.finfo  # its types do not say what it returns
    found: Any = find(dtype_of(dtype).dtype)
    return SimpleNamespace(
        min=float(found.min), max=float(found.max), eps=float(found.eps), dtype=dtype
    )


# ---- reductions over loops and programs


class Reduction(ew.Assigned):
    """What `nl.loop_reduce` gives: a value to be combined with those of other iterations.

    Assigned to a tile, it is copied in the first iteration of the loops and combined in the others.
    """

    def __init__(self, function: str, value: Tensor, is_first: bool, mask: Any = None) -> None:
        self.function = function
        self.value = value
        self.is_first = is_first
        self.mask = mask

    def assign_to(self, target: Tensor) -> None:
        """Record the assignment."""
        masked(lambda: self._assign(target), self.mask)

    def _assign(self, target: Tensor) -> None:
        if self.is_first:
            ew.assign(target, self.value)
        else:
            ew.accumulate(self.function, target, self.value)


def loop_reduce(
    x: Tensor,
    op: object,
    loop_indices: object,
    dtype: object = None,
    mask: Any = None,
    **options: Any,
) -> Reduction:
    """Return what combines x over the iterations of loops that start at 0."""
    del dtype, options
    name = str(getattr(op, "name", None) or getattr(op, "__name__", op))
    is_first = all(int(index) == 0 for index in sequence(loop_indices))
    return Reduction(name, x, is_first, mask)


def all_reduce(x: Tensor, op: object, program_axes: object, **options: Any) -> Tensor:
    """Return x combined over the programs of the launch grid."""
    del op, options
    axes = sequence(program_axes)
    running = recorder().running
    if running.grid and any(running.grid[int(axis)] > 1 for axis in axes):
        raise problem(
            "nl.all_reduce over several programs",
            rule="the programs of a grid are traced one after the other, each on its own",
            help="trace with a grid whose extent is 1 along these dimensions",
        )
    return x


def atomic_rmw(dst: Tensor, value: Tensor, op: object, **options: Any) -> None:
    """Record that a tensor in HBM is read, combined with a tile and written."""
    del options
    moved("dma_compute", (dst, value), (dst,), call=Call("arithmetic", "left right", {"op": op}))
