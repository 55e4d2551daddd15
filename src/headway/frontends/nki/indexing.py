"""What `tensor[...]` means: integers, slices, `...`, new axes, run-time values, index arrays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeGuard

from headway.frontends.nki.affine import Number, Sym
from headway.frontends.nki.gathering import described, placed
from headway.frontends.nki.places import problem
from headway.frontends.nki.registers import Indices, Register
from headway.frontends.nki.tensor import Axis, Index, Tensor, index_operands, run_time, sequence


def indexed(tensor: Tensor, index: Index) -> Tensor:
    """Return `tensor[index]`. Raise InvalidProgram on an index that leaves the tensor."""
    if _is_mask(index):
        return tensor
    parts = _complete(tensor, sequence(index))
    is_plain = all(type(part) is slice or type(part) is int for part in parts)
    is_gather = not is_plain and any(_is_array(part) or isinstance(part, Indices) for part in parts)
    if is_gather or tensor.table is not None:
        plain, shape = _as_slices(tensor, parts) if tensor.table is None else ((), ())
        found = _basic(tensor, plain) if plain else tensor
        return found if plain and found.shape == shape else _gathered(tensor, parts)
    return _basic(tensor, parts)


def _basic(tensor: Tensor, parts: tuple[Index, ...]) -> Tensor:
    """Index with integers, slices, new axes and numbers that are known only at run time."""
    box, also, dynamic = list(tensor.box), list(tensor.also), list(tensor.dynamic)
    axes: list[Axis] = []
    offset = tensor.offset
    dims = iter(tensor.axes)
    for part in parts:
        if part is None:
            axes.append(Axis(1))
            continue
        axis = next(dims)
        if _is_slice(part) and part == _EVERYTHING:
            axes.append(axis)
            continue
        if type(part) is not int and _is_run_time(part):
            kept = _run_time_axis(axis, part)
            at = len(axes) if kept.size >= 0 else None
            moves: Any = part.start if _is_slice(part) else part
            row = None if _is_slice(part) else at
            offset = offset + run_time(moves, axis.stride, row, also, dynamic)
        else:
            kept, start = _narrowed(tensor, axis, part, box)
            offset = offset + start * axis.stride
        keeps_partition = tensor.buffer.is_on_chip and not axes
        axes += [kept] if kept.size >= 0 else [Axis(1)] if keeps_partition else []
    if tensor.buffer.is_on_chip and len(axes) < 2:
        axes.append(Axis(1))
    return Tensor(
        tensor.storage,
        tensor.root,
        tuple(box),
        tuple(axes),
        tensor.dtype,
        tuple(also),
        offset,
        None,
        tuple(dynamic),
    )


_DROPPED = Axis(-1)
_EVERYTHING = slice(None)


def _complete(tensor: Tensor, parts: tuple[Index, ...]) -> tuple[Index, ...]:
    """Return one part for each dimension, with `...` filled in."""
    used = sum(part is not None and part is not Ellipsis for part in parts)
    if used > tensor.ndim:
        raise problem(f"{used} indices for a tensor of shape {tensor.shape}")
    rest = (slice(None),) * (tensor.ndim - used)
    for at, part in enumerate(parts):
        if part is Ellipsis:
            return (*parts[:at], *rest, *parts[at + 1 :])
    return (*parts, *rest)


def _narrowed(
    tensor: Tensor, axis: Axis, part: Index, box: list[tuple[Number, Number]]
) -> tuple[Axis, Number]:
    """Narrow the box to one index or slice of a dimension.

    Return the dimension that is left, and where it begins.
    """
    if _is_slice(part):
        start, count, step = _slice(tensor, axis, part)
    else:
        start, count, step = _inside(tensor, axis, part), 1, 1
    if axis.root is not None:
        first = box[axis.root][0] + start * axis.step
        box[axis.root] = (first, first + (max(count, 1) - 1) * axis.step * step + 1)
    if not _is_slice(part):
        return _DROPPED, start
    return Axis(count, axis.root, axis.step * step, axis.stride * step), start


def _slice(tensor: Tensor, axis: Axis, part: slice[Any, Any, Any]) -> tuple[Number, int, int]:
    step = 1 if part.step is None else int(part.step)
    if step < 1:
        raise problem(f"a slice with step {step}", rule="the step of a slice is 1 or more")
    if isinstance(part.start, Sym) or isinstance(part.stop, Sym):
        start: Number = 0 if part.start is None else part.start
        stop: Number = axis.size if part.stop is None else part.stop
        length = stop - start
        if isinstance(length, Sym):
            raise problem("the length of a slice depends on a run-time value")
        return start, max(0, -(-length // step)), step
    if part.stop is not None and int(part.stop) > axis.size:
        raise problem(
            f"slice {_shown(part)} leaves a dimension of {axis.size} in shape {tensor.shape}",
            rule="a slice stays inside its tensor",
        )
    start, stop, step = part.indices(axis.size)
    return start, max(0, -(-(stop - start) // step)), step


def _inside(tensor: Tensor, axis: Axis, part: Any) -> Number:
    if isinstance(part, Sym):
        return part
    index = int(part) + axis.size if int(part) < 0 else int(part)
    if not 0 <= index < axis.size:
        raise problem(
            f"index {int(part)} leaves a dimension of {axis.size} in shape {tensor.shape}"
        )
    return index


def _shown(part: slice[Any, Any, Any]) -> str:
    return f"{'' if part.start is None else part.start}:{part.stop}"


def _is_slice(part: Index) -> TypeGuard[slice[Any, Any, Any]]:
    return isinstance(part, slice)


def _is_run_time(part: Index) -> bool:
    return isinstance(part.start if _is_slice(part) else part, Register | Tensor)


def _run_time_axis(axis: Axis, part: Index) -> Axis:
    """Return the dimension that an index of unknown value leaves; the box stays as it is."""
    if not _is_slice(part):
        return _DROPPED if isinstance(part, Register) else Axis(part.size)
    size = int(part.stop) if isinstance(part.stop, int) else axis.size
    return Axis(size, stride=axis.stride)


# ---- index arrays: nl.arange, nl.mgrid


def _is_array(part: Index) -> bool:
    return hasattr(part, "__array__") and hasattr(part, "ndim")


def _is_mask(part: Index) -> bool:
    """`tile[indices][mask]` is the same tile: what a mask leaves out counts as touched.

    A mask that asks for nothing but the index of a loop is True or False.
    """
    if isinstance(part, bool):
        if not part:
            raise problem(
                "an operand whose mask leaves nothing",
                help="give the instruction the mask, mask=..., and it is not executed then",
            )
        return True
    return _is_array(part) and getattr(part.dtype, "kind", "") == "b"


def _column(part: Tensor | Indices, parts: tuple[Index, ...]) -> tuple[int, ...]:
    """Return the shape of numbers in memory as an index; one for each partition leads the others.

    Beside index arrays of more dimensions a column of numbers belongs to their first one.
    """
    rank = max((part.ndim for part in parts if _is_array(part)), default=0)
    is_column = isinstance(part, Tensor) and part.size == part.shape[0]
    return (
        (part.shape[0], *(1,) * (rank - 1)) if is_column and rank > len(part.shape) else part.shape
    )


def _as_slices(
    tensor: Tensor, parts: tuple[Index, ...]
) -> tuple[tuple[Index, ...], tuple[int, ...]]:
    """Return integers and slices for arrays that walk along one dimension each, in their order.

    Second comes the shape that the arrays ask for. Nothing where some array is another one.
    """
    found: list[Index] = []
    sizes: dict[int, int] = {}  # by dimension, counted from the last one
    rank = 0
    for axis, part in zip(tensor.axes, parts, strict=False):
        if type(part) is int:
            found.append(part)
            continue
        if not _is_array(part):
            return (), ()
        along: list[int] = [d - part.ndim for d, size in enumerate(part.shape) if size != 1]
        first, even = described(part)
        is_inside = 0 <= first and 0 < part.size and first + even.greatest < axis.size
        if len(along) > 1 or even.steps is None or not is_inside:
            return (), ()
        step: int = even.steps[along[0]] if along else 1
        if step < 1 or (along and max(sizes, default=along[0] - 1) >= along[0]):
            return (), ()
        rank = max(rank, part.ndim)
        sizes |= {d: part.shape[d] for d in along}
        found.append(slice(first, first + even.greatest + 1, step))
    least = 2 if tensor.buffer.is_on_chip else 0
    shape = [sizes.get(d, 1) for d in range(-rank, 0)] + [1] * (least - rank)
    return (tuple(found), tuple(shape)) if len(found) == len(parts) else ((), ())


def _gathered(tensor: Tensor, parts: tuple[Index, ...]) -> Tensor:
    """Index with arrays: the box is the smallest one around all the elements that they name."""
    import numpy as np

    box = list(tensor.box)
    shapes: list[tuple[int, ...]] = []
    also = list(tensor.also)
    for axis, part in zip(tensor.axes, (p for p in parts if p is not None), strict=True):
        if _is_array(part):
            shapes.append(tuple(part.shape))
            first, even = described(np.asarray(part))
            low, high = max(0, first + even.least), min(axis.size, first + even.greatest + 1)
            narrowed: Index = slice(low, max(low, high))
        elif isinstance(part, Tensor | Register):
            also += index_operands(part)
            shapes += [_column(part, parts)] if isinstance(part, Tensor | Indices) else []
            continue
        else:
            narrowed = part
            if _is_slice(part):
                shapes.append((len(range(*part.indices(axis.size))),))
        _narrowed(tensor, axis, narrowed, box)
    shape = np.broadcast_shapes(*shapes)
    if tensor.buffer.is_on_chip and len(shape) < 2:
        shape = (*shape, *(1,) * (2 - len(shape)))
    axes = tuple(Axis(int(size)) for size in shape)
    return placed(replace(tensor, box=tuple(box), axes=axes, also=tuple(also)), tensor, parts)
