"""Operations that give a new tile: arithmetic, reductions, copies, loads and stores.

Each is recorded as the instruction that the public documentation names for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any

from headway.frontends.nki.accumulation import accumulates
from headway.frontends.nki.affine import Sym
from headway.frontends.nki.calls import Call, meaning
from headway.frontends.nki.masks import is_skipped
from headway.frontends.nki.places import problem
from headway.frontends.nki.record import Operand, recorder
from headway.frontends.nki.registers import Indices, Register, is_array
from headway.frontends.nki.tensor import Tensor, allocated, sequence
from headway.frontends.nki.types import PSUM, SBUF, DType, Memory, dtype_of
from headway.ir.program import Work

# Functions that the scalar engine has tables for; the others are arithmetic of the vector engine.
TABLE_FUNCTIONS = frozenset(
    "exp log sqrt rsqrt sin cos tan arctan tanh sigmoid relu gelu gelu_apprx_sigmoid "
    "gelu_apprx_sigmoid_dx gelu_apprx_tanh gelu_dx silu silu_dx softplus mish prelu square erf "
    "erf_dx".split()
)
ARITHMETIC = frozenset("abs negative floor ceil trunc sign logical_not invert".split())
UNARY = TABLE_FUNCTIONS | ARITHMETIC | {"reciprocal"}
BINARY = frozenset(
    "add subtract multiply divide maximum minimum abs_max abs_min power mod fmod bitwise_and "
    "bitwise_or bitwise_xor left_shift right_shift logical_and logical_or logical_xor equal "
    "not_equal greater greater_equal less less_equal".split()
)
REDUCTIONS = frozenset("sum max min mean prod var all any".split())


class Assigned(ABC):
    """A value that records its own assignment."""

    @abstractmethod
    def assign_to(self, target: Tensor) -> None:
        """Record `target[...] = self`."""


ASSIGNED = "assigned"
ACCUMULATED = "accumulated"


def free_size(shape: Sequence[int]) -> int:
    """Return the elements per partition of a tile."""
    return prod(shape[1:])


def work(operation: str, tensors: Sequence[Tensor]) -> Work:
    """Return the cost of an engine's operation: the largest operand decides, and where some lie."""
    if operation == "tensor_tensor" and any(t.buffer.name == "psum" for t in tensors):
        operation = "tensor_tensor_psum"
    return _work(operation, tuple([(t.shape, t.dtype.name, t.itemsize) for t in tensors]))


@cache
def _work(operation: str, tensors: tuple[tuple[tuple[int, ...], str, int], ...]) -> Work:
    shape, dtype, _ = max(tensors, key=lambda tensor: free_size(tensor[0]))
    size = sum(prod(shape) * itemsize for shape, _, itemsize in tensors)
    return Work(operation, free_size(shape), size, dtype)


def emit(
    operation: str,
    reads: Sequence[Tensor],
    writes: Sequence[Tensor],
    engine: str = "",
    flags: tuple[str, ...] = (),
    sizes: Sequence[Tensor] = (),
    call: Call | None = None,
) -> None:
    """Record an operation; `sizes` are the operands that its cost depends on, all by default.

    `call` says what it computes. Without it the operation only has an order, no values.
    """
    recorded(
        operation, reads, writes, work(operation, sizes or [*reads, *writes]), engine, flags, call
    )


def recorded(
    operation: str,
    reads: Sequence[Tensor],
    writes: Sequence[Tensor],
    cost: Work,
    engine: str = "",
    flags: tuple[str, ...] = (),
    call: Call | None = None,
) -> None:
    """Record an operation of that cost. What says where an operand lies is read too."""
    means, literals = meaning(call, reads, writes, recorder().mask)
    sources: list[Operand] = []
    for tensor in reads:
        sources += (tensor.operand(), *tensor.also)
    for tensor in writes:
        sources += tensor.also
    recorder().add(
        operation,
        sources,
        [tensor.operand() for tensor in writes],
        cost,
        engine,
        flags,
        means,
        literals,
    )


# ---- memory to memory


def transfer(
    dst: Tensor,
    src: Tensor,
    operation: str = "dma",
    skips: bool = False,
    axes: tuple[int, ...] | None = None,
) -> None:
    """Record a DMA transfer, which may skip elements that leave their tensor, or permute axes.

    Raise InvalidProgram if the two sides differ in size.
    """
    if dst.size != src.size:
        raise problem(
            f"a transfer from shape {src.shape} to shape {dst.shape}",
            rule="both sides of a transfer have the same number of elements",
        )
    moves = {(False, True): "load", (True, False): "store"}.get(
        (src.buffer.is_on_chip, dst.buffer.is_on_chip), "copy"
    )
    cost = _moved(operation, free_size(dst.shape), dst.size * dst.itemsize, dst.dtype.name, moves)
    how: dict[str, Any] = {"axes": axes} | ({"oob_mode": "skip"} if skips else {})
    recorded(operation, [src], [dst], cost, call=Call(operation, "src", how))


_moved = cache(Work)


def load(src: Tensor, dtype: object = None) -> Tensor:
    """Return a new tile with a copy of a tensor."""
    tile = allocated(src.shape, dtype_of(dtype or src.dtype), SBUF)
    transfer(tile, src)
    return tile


def load_transposed(src: Tensor, dtype: object = None, axes: object = None) -> Tensor:
    """Return a new tile with the transpose of a tensor."""
    order = transposition(src, axes)
    shape = src.shape if src.ndim > 1 else (*src.shape, 1)
    tile = allocated([shape[axis] for axis in order or (1, 0)], dtype_of(dtype or src.dtype), SBUF)
    transfer(tile, src, "dma_transpose", axes=order)
    return tile


def transposition(src: Tensor, axes: object) -> tuple[int, ...] | None:
    """Return the order of dimensions after a transpose by DMA. Raise InvalidProgram.

    Of four dimensions the two in the middle stay in their order; None: a tile of one dimension.
    """
    if src.ndim < 2:
        return None
    usual = (3, 1, 2, 0) if src.ndim == 4 else tuple(reversed(range(src.ndim)))
    order = usual if axes is None else tuple(int(axis) for axis in sequence(axes))
    if sorted(order) != list(range(src.ndim)):
        raise problem(f"a transpose of shape {src.shape} by axes {order}")
    return order


def store(dst: Tensor, value: object) -> None:
    """Write a tile, or a number everywhere."""
    if isinstance(value, Tensor):
        transfer(dst, value)
        return
    transfer(dst, filled(dst.shape, dst.dtype, SBUF, value=value))


def on_chip(tensor: Tensor) -> Tensor:
    """Return a tile: engines compute on SBUF and PSUM, so a tensor in HBM is loaded first."""
    return tensor if tensor.buffer.is_on_chip else load(tensor)


def filled(
    shape: Sequence[int],
    dtype: DType,
    memory: Memory,
    flags: tuple[str, ...] = (),
    value: object = 0,
) -> Tensor:
    """Return a new tensor that was set to a constant."""
    tile = allocated(shape, dtype, memory)
    fill(tile, flags, value)
    return tile


def fill(tile: Tensor, flags: tuple[str, ...] = (), value: object = 0) -> None:
    """Set a tensor to a constant."""
    if tile.buffer.is_on_chip:
        emit("memset", [], [tile], flags=flags, call=Call("memset", "", {"value": value}))
    else:
        store(tile, value)


def copy(x: Tensor, dtype: object = None) -> Tensor:
    """Return a new tile with a copy of a tile."""
    src = on_chip(x)
    tile = allocated(src.shape, dtype_of(dtype or src.dtype), SBUF)
    emit("tensor_copy", [src], [tile], call=Call("tensor_copy", "src"))
    return tile


def broadcast(x: Tensor, shape: Sequence[int], dtype: object = None) -> Tensor:
    """Return a tile repeated: a view along free dimensions, a copy across partitions."""
    check_broadcast(x.shape, tuple(shape))
    src = on_chip(x)
    kind = dtype_of(dtype or src.dtype)
    if src.shape[0] == shape[0]:
        view = src.broadcast_to(tuple(shape))
        return view if kind == src.dtype else copy(view, kind)
    tile = allocated(shape, kind, SBUF)
    # Lanes of the vector engine see their own partition only; gpsimd sees all, but no PSUM.
    engine = "vector" if src.buffer == PSUM else "gpsimd"
    emit("tensor_copy", [src], [tile], engine, call=Call("tensor_copy", "src"))
    return tile


# ---- arithmetic


def unary(function: str, data: object, dtype: object = None) -> Tensor:
    """Return a new tile: a function of each element."""
    tile = on_chip(_tensor(function, data))
    result = allocated(tile.shape, dtype_of(dtype or tile.dtype), SBUF)
    call = Call("function", "data", {"op": function})
    emit(_unary_operation(function), [tile], [result], call=call)
    return result


def binary(function: str, left: object, right: object, dtype: object = None) -> Any:
    """Return a new tile: a function of the elements of two tiles, or of a tile and a number.

    With index arrays it is an index that is known only at run time.
    """
    for tile, array in ((left, right), (right, left)):
        if isinstance(tile, Tensor) and is_array(array):
            return _moved_indices(function, tile, array, tile is right)
    sides = [on_chip(x) if isinstance(x, Tensor) else x for x in (left, right)]
    tiles = [x for x in sides if isinstance(x, Tensor)]
    if not tiles:
        raise problem(f"{function} of two numbers", rule="one operand of nl operations is a tile")
    for value in (left, right):
        _check_number(function, value)
    shape = broadcast_shape([t.shape for t in tiles])
    result = allocated(shape, dtype_of(dtype or _promoted(tiles)), SBUF)
    flags = ("power",) if function == "power" else ()
    call = arithmetic(function, sides[0], sides[1])
    emit(_binary_operation(tiles), tiles, [result], flags=flags, call=call)
    return result


def _moved_indices(function: str, tile: Tensor, array: Any, is_right: bool) -> Any:
    """Return indices that a number in a tile moves, or a column of them, one for each row."""
    is_column = tile.size > 1
    shape = broadcast_shape([tile.shape if is_column else (), tuple(array.shape)])
    known = _spread(array, shape)
    indices = Indices((tile.operand(), *tile.also), array=known, is_column=is_column)
    is_even = not is_column or (len(shape) > 1 and tile.size == tile.shape[0])
    if function in ("add", "subtract") and is_even and not tile.also:
        indices.factor = -1 if is_right and function == "subtract" else 1
        if not is_right and function == "subtract":
            indices.array = -known
    return indices


def _spread(array: Any, shape: tuple[int, ...]) -> Any:
    import numpy as np

    return np.broadcast_to(array, shape)


def arithmetic(function: str, left: object, right: object, **values: object) -> Call:
    """Return the call of a function of two tiles, or of a tile and a number."""
    sides = {"left": left, "right": right}
    roles = " ".join(name for name, side in sides.items() if isinstance(side, Tensor))
    numbers = {name: side for name, side in sides.items() if not isinstance(side, Tensor)}
    return Call("arithmetic", roles, {"op": function, **numbers, **values})


def accumulate(function: str, target: Tensor, value: object) -> Tensor:
    """Record `target += value`, in place."""
    if is_skipped(value):
        return target
    tiles = [on_chip(value)] if isinstance(value, Tensor) else []
    if tiles:
        check_broadcast(tiles[0].shape, target.shape)
    flags = (ACCUMULATED,) if tiles and function == "add" else ()
    call = arithmetic(function, target, tiles[0] if tiles else value)
    if flags and target.buffer == PSUM:
        call.values["accumulate"] = accumulates(target)
    operation = _binary_operation([target, *tiles])
    emit(operation, [target, *tiles], [target], flags=flags, call=call)
    return target


def assign(target: Tensor, value: object) -> None:
    """Record `target[...] = value`; a value may know better what that means."""
    if isinstance(value, Assigned):
        value.assign_to(target)
        return
    if isinstance(value, Tensor) and value.operand() == target.operand():
        return  # the second half of `target[...] += value`
    if is_skipped(value):
        return
    if not target.buffer.is_on_chip:
        store(target, value)
    elif isinstance(value, Tensor) and not value.buffer.is_on_chip:
        transfer(target, value)
    elif isinstance(value, Tensor):
        check_broadcast(value.shape, target.shape)
        call = Call("tensor_copy", "src")
        flags = () if recorder().mask is not None else (ASSIGNED,)  # a masked copy copies a part
        emit("tensor_copy", [value], [target], flags=flags, call=call)
    else:
        _check_number("assignment", value)
        emit("memset", [], [target], call=Call("memset", "", {"value": value}))


def reduction(
    function: str, data: object, axis: object = None, dtype: object = None, keepdims: bool = False
) -> Tensor:
    """Return a new tile, reduced along axes; along the partition it takes the gpsimd engine."""
    tile = on_chip(_tensor(function, data))
    axes = reduced_axes(tile, axis)
    result = allocated(
        reduced_shape(tile.shape, axes, keepdims), dtype_of(dtype or tile.dtype), SBUF
    )
    operation = "tensor_partition_reduce" if 0 in axes else "tensor_reduce"
    call = Call("tensor_reduce", "data", {"op": function, "axis": axes})
    emit(operation, [tile], [result], sizes=[tile], call=call)
    return result


def reduced_axes(tile: Tensor, axis: object) -> tuple[int, ...]:
    """Return the axes of a reduction, from 0."""
    axes = tuple(range(1, tile.ndim)) if axis is None else tuple(map(int, sequence(axis)))
    for number in axes:
        if not -tile.ndim <= number < tile.ndim:
            raise problem(f"axis {number} of a tile of shape {tile.shape}")
    return tuple(sorted({number % tile.ndim for number in axes}))


def reduced_shape(shape: Sequence[int], axes: Sequence[int], keepdims: bool) -> tuple[int, ...]:
    """Return the shape after a reduction; a tile keeps at least two dimensions."""
    if keepdims:
        return tuple(1 if d in axes else size for d, size in enumerate(shape))
    left = [size for d, size in enumerate(shape) if d not in axes]
    return (*((1,) if 0 in axes else ()), *left, *(1,) * (2 - len(left) - (0 in axes)))


def matmul(x: Tensor, y: Tensor, transpose_x: bool = False) -> Tensor:
    """Return x @ y in PSUM; without `transpose_x` the tensor engine transposes x first."""
    x, y = on_chip(x), on_chip(y)
    stationary = x if transpose_x else copy(transposed(x))
    result = allocated((stationary.shape[1], y.shape[1]), dtype_of("float32"), PSUM)
    multiply(result, stationary, y)
    return result


def multiply(
    dst: Tensor, stationary: Tensor, moving: Tensor, adds: object = False, rows: int = 1
) -> None:
    """Record a matrix multiplication. Raise InvalidProgram if the shapes do not fit.

    `adds` tells whether it adds to what is in PSUM: a literal. With two `rows` the contracted
    dimension goes on along the first free dimension of both operands, and an element takes no
    longer than with one.
    """
    if stationary.shape[0] != moving.shape[0]:
        raise problem(
            f"matmul of stationary {stationary.shape} and moving {moving.shape}",
            rule="both have the contracted dimension on their partitions",
        )
    if rows > 1 and (stationary.shape[1], moving.shape[1]) != (rows, rows):
        raise problem(
            f"double_row matmul of stationary {stationary.shape} and moving {moving.shape}",
            rule="the first free dimension of both has 2 elements",
        )
    wanted = (free_size(stationary.shape) // rows, free_size(moving.shape) // rows)
    if (dst.shape[0], free_size(dst.shape)) != wanted:
        raise problem(f"matmul writes shape {wanted} and its destination is {dst.shape}")
    values: dict[str, Any] = {} if rows == 1 else {"rows": rows}
    sizes = [moving] if rows == 1 else [moving[:, 0]]
    if adds is False:
        call = Call("matmul", "stationary moving", values)
        emit("matmul", [stationary, moving], [dst], sizes=sizes, call=call)
        return
    call = Call("matmul", "stationary moving addend", {"accumulate": adds, **values})
    emit("matmul", [stationary, moving, dst], [dst], sizes=sizes, call=call)


def transposed(x: Tensor, dtype: object = None) -> Tensor:
    """Return the transpose of a tile, made by the tensor engine in PSUM."""
    data = on_chip(x)
    shape = (free_size(data.shape), data.shape[0])
    result = allocated(shape, dtype_of(dtype or data.dtype), PSUM)
    emit("transpose", [data], [result], call=Call("transpose", "data"))
    return result


# ---- shapes


def broadcast_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the common shape of operands, as numpy finds it. Raise InvalidProgram."""
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0]
    rank = max(len(shape) for shape in shapes)
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    result: list[int] = []
    for sizes in zip(*padded, strict=True):
        wide = {size for size in sizes if size != 1}
        if len(wide) > 1:
            raise problem(
                f"operands of shapes {' and '.join(map(str, shapes))}",
                rule="extents are equal, or 1 (broadcast)",
            )
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def check_broadcast(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    """Check that a value of that shape can be written to a target. Raise InvalidProgram."""
    if prod(shape) != prod(target) and broadcast_shape([shape, target]) != target:
        raise problem(f"a value of shape {shape} does not fit shape {target}")


def _tensor(function: str, data: object) -> Tensor:
    if not isinstance(data, Tensor):
        raise problem(f"{function} of {data!r}", rule="nl operations work on tiles")
    return data


def _check_number(function: str, value: object) -> None:
    if isinstance(value, Tensor | Register | Sym | int | float):
        return
    if not hasattr(value, "__float__"):
        raise problem(f"{function} of {value!r}", rule="an operand is a tile or a number")


def _unary_operation(function: str) -> str:
    if function in TABLE_FUNCTIONS:
        return "activation"
    return "reciprocal" if function == "reciprocal" else "tensor_scalar"


def _binary_operation(tiles: Sequence[Tensor]) -> str:
    """A number, or one value per partition, is an immediate of tensor_scalar."""
    if len(tiles) == 1:
        return "tensor_scalar"
    sizes = {free_size(tile.shape) for tile in tiles}
    is_scalar = len(sizes) > 1 and 1 in sizes
    return "tensor_scalar" if is_scalar else "tensor_tensor"


def _promoted(tiles: Sequence[Tensor]) -> DType:
    """The wider type; a float wins over an integer."""
    return max((t.dtype for t in tiles), key=lambda d: (not d.is_integer, d.itemsize))
