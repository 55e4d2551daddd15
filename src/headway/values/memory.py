"""The memory of a running program: named buffers as arrays of bytes, and views of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, NamedTuple

from headway.errors import Diagnostic, InvalidInput
from headway.values.numbers import PACKED, converted, np, numpy_type
from headway.values.program import Iterations, Memory, Values, View

Contents = dict[str, Any]
"""For each memory by name the bytes of its slots: a numpy array of uint8, [slots, bytes]."""

UNWRITTEN = 0xFF
"""What memory holds before it is written: it reads as not-a-number, or as -1."""

LARGEST_RANDOM_INTEGER = 127
LARGEST_RANDOM_BYTE = 0x70  # of packed types: every such byte is a number


def fresh(values: Values, arguments: Mapping[str, Any] | None = None, seed: int = 0) -> Contents:
    """Return memory as it is when the program starts.

    Tensor arguments hold `arguments` where given, else random numbers: floats from the standard
    normal distribution, whole numbers from 0 to 127. Raise InvalidInput if one does not fit.
    """
    given = dict(arguments or {})
    for name in given:
        if name not in values.arguments and name not in values.unused:
            raise InvalidInput(f"{name!r} is no tensor argument of this kernel")
    contents: Contents = {}
    for name, memory in values.memories.items():
        size = prod(memory.shape) * numpy_type(memory.dtype).itemsize
        contents[name] = np.full((memory.slots, size), UNWRITTEN, dtype=np.uint8)
        if memory.contents is not None:
            _fill(contents, name, memory, memory.contents)
    for number, (argument, name) in enumerate(values.arguments.items()):
        memory = values.memories[name]
        random = np.random.default_rng((seed, number))
        _fill(contents, name, memory, given.get(argument, _random(random, memory)))
    return contents


def _random(random: Any, memory: Memory) -> Any:
    dtype = numpy_type(memory.dtype)
    if memory.dtype == "float8_e8m0fnu":
        return np.exp2(random.integers(-3, 4, memory.shape))
    if memory.dtype in PACKED:  # four bytes, or two, that are numbers
        shape = (*memory.shape, dtype.itemsize)
        return random.integers(0, LARGEST_RANDOM_BYTE, shape, np.uint8).view(dtype)[..., 0]
    if dtype.kind in "iub":
        return random.integers(0, LARGEST_RANDOM_INTEGER + 1, memory.shape)
    return random.standard_normal(memory.shape, dtype=np.float32)


def _fill(contents: Contents, name: str, memory: Memory, array: Any) -> None:
    found = np.asarray(array)
    if found.shape != memory.shape:
        raise InvalidInput(f"{name!r} has shape {memory.shape}, not {found.shape}")
    row = np.ascontiguousarray(converted(found, numpy_type(memory.dtype)))
    contents[name][:] = row.reshape(-1).view(np.uint8)


def array(values: Values, contents: Contents, name: str) -> Any:
    """Return what the first slot of a memory holds, as an array of its shape and type."""
    memory = values.memories[name]
    row = contents[name][0]
    return row.view(numpy_type(memory.dtype)).reshape(memory.shape).copy()


def results(values: Values, contents: Contents) -> tuple[Any, ...]:
    """Return arrays of what the kernel returns."""
    return tuple(read(contents, place(view, (), {})) for view in values.results)


# ---- views


class Place(NamedTuple):
    """A view in given iterations: an offset into the bytes of one slot, or one for each element."""

    view: View
    slot: int
    offset: int
    table: Any


def place(view: View, iterations: Iterations, numbers: Mapping[str, Any]) -> Place:
    """Return where a view is; `numbers` are what its dynamic parts hold, by role."""
    offset, table = view.offset.at(iterations), view.table
    for part in view.dynamic:
        found = np.asarray(numbers[part.role]).astype(np.int64)
        if part.axis is None:
            offset += int(found.flat[0]) * part.stride
            continue
        shape = [1] * len(view.shape)
        shape[part.axis] = view.shape[part.axis]
        base = _strided(view) if table is None else table
        moved = base + found.reshape(shape) * part.stride
        # Less than 0 in a table means that there is no element: how far one lies before the
        # view is in the offset.
        before = min(0, int(np.min(moved, where=base >= 0, initial=0)))
        offset, table = offset + before, np.where(base >= 0, moved - before, -1)
    slot = view.slot(iterations)
    if view.starts:
        return Place(view, 0, offset + view.starts[slot], table)
    return Place(view, slot, offset, table)


def inside(contents: Contents, at: Place) -> Place:
    """Return a place without the elements that leave the memory."""
    size = contents[at.view.buffer].shape[1] - numpy_type(at.view.dtype).itemsize
    table = _strided(at.view) if at.table is None else at.table
    is_there = (table + at.offset >= 0) & (table + at.offset <= size)
    return at._replace(table=np.where(is_there, table, -1))


def not_before(at: Place) -> Place:
    """Return a place without the elements before the memory: a mask may leave out their index."""
    if at.table is None or at.offset >= 0:
        return at
    return at._replace(table=np.where(at.table + at.offset >= 0, at.table, -1))


def _strided(view: View) -> Any:
    total = np.zeros(view.shape, dtype=np.int64)
    for axis, stride in enumerate(view.strides):
        shape = [1] * len(view.shape)
        shape[axis] = view.shape[axis]
        total += np.arange(view.shape[axis]).reshape(shape) * stride
    return total


def read(contents: Contents, at: Place) -> Any:
    """Return a copy of the elements; 0 where there is none. Raise InvalidInput if it leaves."""
    dtype = numpy_type(at.view.dtype)
    if at.table is None:
        return _window(contents, at, dtype).copy()
    found, elements = _elements(contents, at, dtype)
    return np.where(at.table >= 0, elements[np.maximum(found, 0)], np.zeros((), dtype))


def write(contents: Contents, at: Place, value: Any, mask: Any = None) -> None:
    """Write elements, converted; only where `mask` holds. Raise InvalidInput if it leaves."""
    dtype = numpy_type(at.view.dtype)
    shaped = fitted(converted(value, dtype), at.view.shape)
    mask = None if mask is None else _mask(np.asarray(mask), at.view.shape)
    if at.table is None:
        window = _window(contents, at, dtype)
        window[...] = shaped if mask is None else np.where(mask, shaped, window)
        return
    found, elements = _elements(contents, at, dtype)
    chosen = at.table >= 0
    if mask is not None:
        chosen = chosen & np.broadcast_to(mask, at.view.shape)
    elements[found[chosen]] = np.broadcast_to(shaped, at.view.shape)[chosen]


def _mask(mask: Any, shape: tuple[int, ...]) -> Any:
    """Return a mask that numpy repeats to a shape; one of a truth value per partition leads."""
    if mask.ndim < len(shape) and mask.size == shape[0]:
        return mask.reshape(shape[0], *(1,) * (len(shape) - 1))
    return fitted(mask, shape)


def fitted(value: Any, shape: tuple[int, ...]) -> Any:
    """Return a value in a shape of as many elements, or as it is if it is to be repeated."""
    return value.reshape(shape) if value.size == prod(shape) else value


def _window(contents: Contents, at: Place, dtype: Any) -> Any:
    row = contents[at.view.buffer][at.slot]
    if 0 in at.view.shape:
        return np.zeros(at.view.shape, dtype)
    reach = [stride * (n - 1) for n, stride in zip(at.view.shape, at.view.strides, strict=True)]
    if at.offset < 0 or at.offset + sum(reach) + dtype.itemsize > row.size:
        raise _outside(at)
    return np.ndarray(at.view.shape, dtype, row.data, at.offset, at.view.strides)


def _elements(contents: Contents, at: Place, dtype: Any) -> tuple[Any, Any]:
    row = contents[at.view.buffer][at.slot]
    there = at.table >= 0
    if there.any():
        last = at.offset + int(at.table.max()) + dtype.itemsize
        if at.offset + int(at.table[there].min()) < 0 or last > row.size:
            raise _outside(at)
    elements = row[at.offset % dtype.itemsize :]
    elements = elements[: elements.size // dtype.itemsize * dtype.itemsize].view(dtype)
    return (at.table + at.offset) // dtype.itemsize, elements


def _outside(at: Place) -> InvalidInput:
    return InvalidInput(
        Diagnostic(
            f"an access of {at.view.buffer!r} leaves its memory",
            rule="tensors are as large as they were when the kernel was traced",
            help="trace with larger arguments, or give smaller inputs",
        )
    )


def differences(one: Contents, other: Contents) -> Iterator[str]:
    """Yield the names of the memories that do not hold the same bytes."""
    for name, rows in one.items():
        if not np.array_equal(rows, other[name]):
            yield name
