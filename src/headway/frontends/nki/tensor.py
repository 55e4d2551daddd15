"""Tensors as kernels see them: views of memory that know which box of it they cover.

A view keeps the box exactly through slicing, and whole through what rearranges it in ways that are
not followed (`reshape` of a part, `.ap` patterns, index tiles): a box may be larger than what is
really touched, never smaller. Beside the box, which orders operations, it knows the place of each
of its elements, which says what they compute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from math import prod
from typing import Any, NamedTuple, cast

from headway.errors import Diagnostic, HeadwayError
from headway.frontends.nki.affine import Number, Sym
from headway.frontends.nki.layout import UNFOLLOWED, Dynamic, Layout, Table, reshaped, row_major
from headway.frontends.nki.places import diagnostic, here, problem
from headway.frontends.nki.record import Box, Operand, Storage, recorder
from headway.frontends.nki.registers import Register
from headway.frontends.nki.types import PARTITIONS, DType, Memory, dtype_of
from headway.frontends.nki.views import Views

Index = Any  # int, slice, None, Ellipsis, Sym, Register, Tensor or numpy array


class Axis(NamedTuple):
    """A dimension of a view: `size` steps of `step` along dimension `root`, or along none.

    `stride` is the distance of two neighbours in bytes.
    """

    size: int
    root: int | None = None
    step: int = 1
    stride: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Tensor(Views):
    """A view of `storage`, read as an array of shape `root`. `also` are tiles that index it.

    Its first element lies `offset` bytes into the memory; the strides of the axes, or else `table`,
    say where the others are. `dynamic` is what an index adds that is known only at run time.
    """

    storage: Storage
    root: tuple[int, ...]
    box: Box
    axes: tuple[Axis, ...]
    dtype: DType
    also: tuple[Operand, ...] = ()
    offset: Number = 0
    table: Table | None = None
    dynamic: tuple[Dynamic, ...] = ()
    shape: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # Asked for many times for each operation.
        object.__setattr__(self, "shape", tuple([axis.size for axis in self.axes]))

    # ---- what kernels ask

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.axes)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.dtype.itemsize

    @property
    def buffer(self) -> Memory:
        """The memory it lives in."""
        return self.storage.memory

    @property
    def name(self) -> str:
        """The name of its memory."""
        return self.storage.name

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Tensor]:
        return (self[i] for i in range(self.shape[0]))

    # ---- arithmetic, as the language module defines it

    def __add__(self, other: object) -> Tensor:
        return _elementwise().binary("add", self, other)

    def __radd__(self, other: object) -> Tensor:
        return _elementwise().binary("add", other, self)

    def __sub__(self, other: object) -> Tensor:
        return _elementwise().binary("subtract", self, other)

    def __rsub__(self, other: object) -> Tensor:
        return _elementwise().binary("subtract", other, self)

    def __mul__(self, other: object) -> Tensor:
        return _elementwise().binary("multiply", self, other)

    def __rmul__(self, other: object) -> Tensor:
        return _elementwise().binary("multiply", other, self)

    def __truediv__(self, other: object) -> Tensor:
        return _elementwise().binary("divide", self, other)

    def __rtruediv__(self, other: object) -> Tensor:
        return _elementwise().binary("divide", other, self)

    def __neg__(self) -> Tensor:
        return _elementwise().unary("negative", self)

    def __iadd__(self, other: object) -> Tensor:
        return _elementwise().accumulate("add", self, other)

    def __isub__(self, other: object) -> Tensor:
        return _elementwise().accumulate("subtract", self, other)

    def __imul__(self, other: object) -> Tensor:
        return _elementwise().accumulate("multiply", self, other)

    def __pow__(self, other: object) -> Tensor:
        return _elementwise().binary("power", self, other)

    def __matmul__(self, other: object) -> Tensor:
        raise problem("@ of tensors", help="use nl.matmul(a, b), or nisa.nc_matmul")

    def __repr__(self) -> str:
        extents = ",".join(map(str, self.shape))
        return f"<{self.name}: {self.dtype}[{extents}] in {self.buffer.name}>"

    def __float__(self) -> float:
        raise problem(
            f"{self.name!r} is used where its value must be known",
            rule="tensors have values only when the kernel runs",
            help="load a number into a register for a loop or an index, or compute with tiles",
        )

    __int__ = __float__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NoAttribute(_without(self, name))

    def __lt__(self, other: object) -> bool:
        raise problem(
            f"{self.name!r} is compared where the result must be known",
            rule="tensors have values only when the kernel runs",
            help="choose with nl.where(nl.greater(a, b), x, y) or tensor_copy_predicated, mask by "
            "indices, or load a number into a register for a loop",
        )

    __le__ = __gt__ = __ge__ = __lt__

    def __setitem__(self, index: Index, value: object) -> None:
        _elementwise().assign(self[index], value)

    # ---- views

    def __getitem__(self, index: Index) -> Tensor:
        from headway.frontends.nki.indexing import indexed

        return indexed(self, index)

    def reshape(self, shape: Any, *more: int) -> Tensor:
        """Return the same elements in another shape."""
        wanted = _wanted(self, _shape(shape, more))
        if self.is_whole and not (self.buffer.is_on_chip and wanted[0] != self.shape[0]):
            return whole(self.storage, wanted, self.dtype)
        return self._frozen(wanted)

    def broadcast_to(self, shape: Any, *more: int) -> Tensor:
        """Return the same elements, repeated."""
        wanted = _shape(shape, more)
        if self.table is not None:
            offsets = self.table.offsets.reshape(_padded(self.shape, len(wanted)))
            return self._tabled(_numpy().broadcast_to(offsets, wanted))
        pad = len(wanted) - self.ndim
        ours = (1,) * pad + self.shape
        if pad < 0 or any(n not in (1, size) for n, size in zip(ours, wanted, strict=True)):
            raise problem(
                f"broadcast of shape {self.shape} to {wanted}", rule="only a size of 1 is repeated"
            )
        strides = [0] * max(0, pad) + [a.stride if a.size != 1 else 0 for a in self.axes]
        return self._rearranged(wanted, strides[-len(wanted) :])

    def expand_dims(self, axis: int) -> Tensor:
        """Return a view with one more dimension, of size 1."""
        at = axis % (self.ndim + 1)
        if self.table is not None:
            return self._tabled(_numpy().expand_dims(self.table.offsets, at))
        return replace(self, axes=(*self.axes[:at], Axis(1), *self.axes[at:]))

    def permute(self, dims: Sequence[int]) -> Tensor:
        """Return a view with the dimensions in another order."""
        if self.table is not None:
            return self._tabled(_numpy().transpose(self.table.offsets, dims))
        return replace(self, axes=tuple(self.axes[d] for d in dims))

    def view(self, dtype: object) -> Tensor:
        """Return a view that reads the same bytes as another type."""
        new = dtype_of(dtype)
        last = self.shape[-1] * self.itemsize // new.itemsize
        is_dense = self.table is None and self.axes[-1].stride == self.itemsize
        if new.itemsize != self.itemsize and not is_dense:
            raise problem(
                f"a view of {self.dtype} as {new} whose last dimension has gaps",
                rule="the bytes of several elements are one element only if they lie together",
            )
        strides = [axis.stride for axis in self.axes]
        if new.itemsize != self.itemsize:
            strides[-1] = new.itemsize
        return replace(self._rearranged((*self.shape[:-1], last), strides), dtype=new)

    def astype(self, dtype: object) -> Tensor:
        """Return a tile with the elements converted; of a tensor in HBM a view of that type."""
        if self.buffer.is_on_chip and dtype_of(dtype) != self.dtype:
            return _elementwise().copy(self, dtype)
        return replace(self, dtype=dtype_of(dtype))

    def ap(
        self,
        pattern: Sequence[Sequence[int]],
        offset: int | None = None,
        scalar_offset: object = None,
        vector_offset: object = None,
        indirect_dim: int = 0,
        dtype: object = None,
    ) -> Tensor:
        """Return an access pattern of the whole memory; its box is the whole memory.

        Steps and the offset are in elements of the pattern's type; the offset is added to that of
        this view. What the offsets known at run time count are rows of dimension `indirect_dim`.
        """
        base = whole(self.storage, self.storage.shape, self.dtype)
        kind = dtype_of(dtype or self.dtype)
        size = kind.itemsize
        counts = tuple(int(count) for _, count in pattern)
        view = base._rearranged(counts, [int(step) * size for step, _ in pattern])
        row = _row(self.root, self.itemsize, int(indirect_dim))
        also, dynamic = list(self.also), list(self.dynamic)
        shift: Number = 0
        for index, axis in ((scalar_offset, None), (vector_offset, 0)):
            if isinstance(index, Tensor | Register):
                shift = shift + run_time(index, row, axis, also, dynamic)
            elif isinstance(index, int | Sym):
                shift = shift + index * row
        return replace(
            view,
            dtype=kind,
            offset=self.offset + size * (0 if offset is None else offset) + shift,
            also=tuple(also),
            dynamic=tuple(dynamic),
        )

    def indirectly(self, index: Tensor, count: int) -> Tensor:
        """Return `count` columns that a tile names; where they lie is not followed."""
        axes = (self.axes[0], Axis(count))
        also = (*self.also, index.operand(), *index.also)
        return replace(self, axes=axes, also=also, dynamic=(*self.dynamic, UNFOLLOWED))

    @property
    def is_whole(self) -> bool:
        """Whether the view shows all of its memory, unchanged."""
        return self.axes == _plain(self.root, self.itemsize) and self.box == _full(self.root)

    def _frozen(self, shape: tuple[int, ...]) -> Tensor:
        """Return the same elements, in order, in another shape; the box stays."""
        if self.table is None:
            strides = reshaped(self.shape, [axis.stride for axis in self.axes], shape)
            if strides is not None:
                return self._rearranged(shape, strides)
        return self._tabled(self.offsets().reshape(shape))

    def _rearranged(self, shape: Sequence[int], strides: Sequence[int]) -> Tensor:
        axes = tuple(Axis(n, stride=stride) for n, stride in zip(shape, strides, strict=True))
        return replace(self, axes=axes)

    def _tabled(self, offsets: Any) -> Tensor:
        axes = tuple(Axis(int(size)) for size in offsets.shape)
        return replace(self, axes=axes, table=Table(offsets))

    def offsets(self) -> Any:
        """Return the place of each element, in bytes from the first, as a numpy array."""
        if self.table is not None:
            return self.table.offsets
        np = _numpy()
        grids = np.ogrid[tuple(slice(axis.size) for axis in self.axes)]
        strides = [axis.stride for axis in self.axes]
        places = sum(grid * stride for grid, stride in zip(grids, strides, strict=True))
        return np.broadcast_to(np.asarray(places, dtype=np.int64), self.shape)

    def operand(self) -> Operand:
        """Return what an operation on this view touches."""
        if self.table is None and not self.dynamic:
            layout = _strided(self.dtype.name, self.axes)
        else:
            strides = tuple(axis.stride for axis in self.axes)
            layout = Layout(self.dtype.name, self.shape, strides, self.table, self.dynamic)
        return Operand(self.storage, self.root, self.box, self.offset, layout)


@cache
def _strided(dtype: str, axes: tuple[Axis, ...]) -> Layout:
    return Layout(dtype, tuple(a.size for a in axes), tuple(a.stride for a in axes))


@cache
def _full(shape: tuple[int, ...]) -> Box:
    return tuple((0, size) for size in shape)


@cache
def _plain(shape: tuple[int, ...], itemsize: int) -> tuple[Axis, ...]:
    strides = row_major(shape, itemsize)
    return tuple(Axis(size, d, 1, strides[d]) for d, size in enumerate(shape))


def _row(shape: tuple[int, ...], size: int, dim: int) -> int:
    """Return the distance of neighbours along a dimension, in bytes. Raise InvalidProgram."""
    if not 0 <= dim < len(shape):
        raise problem(f"indirect_dim={dim} of a tensor of shape {shape}")
    return row_major(shape, size)[dim]


def _padded(shape: tuple[int, ...], rank: int) -> tuple[int, ...]:
    return (1,) * (rank - len(shape)) + shape


def _numpy() -> Any:
    import numpy as np

    return np


class NoAttribute(HeadwayError, AttributeError):
    """An attribute that tensors of numpy have, or of torch, and those of kernels have not."""


_INSTEAD = {
    "T": "nl.transpose(tile)",
    "astype": "nl.copy(tile, dtype=...)",
    "item": "a register: nisa.register_load",
    "to": "nl.copy(tile, dtype=...)",
}


def _without(tensor: Tensor, name: str) -> Diagnostic:
    is_function = name in ("transpose", *_elementwise().UNARY, *_elementwise().REDUCTIONS)
    instead = f"nl.{name}(tile)" if is_function else _INSTEAD.get(name, "")
    return diagnostic(
        f"{tensor.name!r} has no attribute {name!r}",
        here(),
        rule="a tensor of a kernel has a shape, a type and views; functions are those of nl",
        help=f"use {instead}" if instead else "",
    )


def _elementwise() -> Any:
    # Arithmetic makes tensors, and tensors offer arithmetic.
    from headway.frontends.nki import elementwise

    return elementwise


def whole(storage: Storage, shape: tuple[int, ...], dtype: DType) -> Tensor:
    """Return a view of all of a memory as an array of that shape."""
    return Tensor(storage, shape, _full(shape), _plain(shape, dtype.itemsize), dtype)


def allocated(
    shape: Sequence[Any],
    dtype: DType,
    memory: Memory,
    name: str = "",
    place: tuple[int, int] | None = None,
) -> Tensor:
    """Return a new tensor. Raise InvalidProgram if it does not fit the partitions."""
    extents = extents_of(shape, memory)
    storage = recorder().allocate(extents, dtype, memory, name, place=place)
    return whole(storage, extents, dtype)


def extents_of(shape: Sequence[Any], memory: Memory) -> tuple[int, ...]:
    """Return a shape as numbers. Raise InvalidProgram if a tile cannot have it."""
    extents = tuple(_extent(size) for size in shape)
    if memory.is_on_chip and len(extents) < 2:
        extents = (*extents, *(1,) * (2 - len(extents)))
    if memory.is_on_chip and extents[0] > PARTITIONS:
        raise problem(
            f"a tile of shape {extents} has {extents[0]} partitions",
            rule=f"the first dimension of a tile is the partition, at most {PARTITIONS}",
        )
    return extents


def _extent(size: Any) -> int:
    if type(size) is int and size >= 0:
        return size
    if isinstance(size, Sym | Register | Tensor):
        raise problem("the shape of a tensor depends on a run-time value", rule="shapes are static")
    if int(size) < 0:
        raise problem(f"a tensor has an extent of {int(size)}", rule="an extent is 0 or more")
    return int(size)


def _shape(shape: Any, more: tuple[int, ...]) -> tuple[int, ...]:
    """Shapes are given as one sequence or as separate arguments."""
    return (*sequence(shape), *more)


def sequence(value: Any) -> tuple[Any, ...]:
    """Return a tuple or list as a tuple, anything else as the only element of one."""
    return tuple(cast(list[Any], value)) if isinstance(value, list | tuple) else (value,)


def _wanted(tensor: Tensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    known = prod(size for size in shape if size != -1)
    filled = tuple(tensor.size // max(1, known) if size == -1 else int(size) for size in shape)
    if prod(filled) != tensor.size:
        raise problem(f"{tensor.size} elements of shape {tensor.shape} do not fill shape {shape}")
    return filled


def run_time(
    index: Tensor | Register,
    stride: int,
    axis: int | None,
    also: list[Operand],
    dynamic: list[Dynamic],
) -> int:
    """Note what an index adds to an address that is known only at run time.

    `also` and `dynamic` grow; return the bytes that are known.
    """
    if isinstance(index, Tensor):
        dynamic.append(Dynamic(len(also), stride, axis))
        also += (index.operand(), *index.also)
        return 0
    if index.factor is None or (index.factor and len(index.reads) != 1):
        dynamic.append(UNFOLLOWED)
    elif index.factor:
        dynamic.append(Dynamic(len(also), stride * index.factor, axis))
    also += index.reads
    return stride * index.shift


def index_operands(index: object) -> tuple[Operand, ...]:
    """Return the memory that an index known only at run time is read from."""
    if isinstance(index, Tensor):
        return (index.operand(), *index.also)
    return index.reads if isinstance(index, Register) else ()
