"""Tensors as kernels see them: views of memory that know which box of it they cover.

A view keeps the box exactly through slicing, and whole through what rearranges it in ways that are
not followed (`reshape` of a part, `.ap` patterns, index tiles): a box may be larger than what is
really touched, never smaller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, cast

from headway.frontends.nki.affine import Sym
from headway.frontends.nki.places import problem
from headway.frontends.nki.record import Box, Operand, Storage, recorder
from headway.frontends.nki.registers import Register
from headway.frontends.nki.types import PARTITIONS, DType, Memory, PartitionExtent, dtype_of

Index = Any  # int, slice, None, Ellipsis, Sym, Register, Tensor or numpy array


@dataclass(frozen=True, slots=True)
class Axis:
    """A dimension of a view: `size` steps of `step` along dimension `root`, or along none."""

    size: int
    root: int | None = None
    step: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """A view of `storage`, read as an array of shape `root`. `also` are tiles that index it."""

    storage: Storage
    root: tuple[int, ...]
    box: Box
    axes: tuple[Axis, ...]
    dtype: DType
    also: tuple[Operand, ...] = ()

    # ---- what kernels ask

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of each dimension."""
        return tuple(axis.size for axis in self.axes)

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
        return self._frozen(_shape(shape, more))

    def expand_dims(self, axis: int) -> Tensor:
        """Return a view with one more dimension, of size 1."""
        at = axis % (self.ndim + 1)
        return replace(self, axes=(*self.axes[:at], Axis(1), *self.axes[at:]))

    def permute(self, dims: Sequence[int]) -> Tensor:
        """Return a view with the dimensions in another order."""
        return replace(self, axes=tuple(self.axes[d] for d in dims))

    def view(self, dtype: object) -> Tensor:
        """Return a view that reads the same bytes as another type."""
        new = dtype_of(dtype)
        last = self.shape[-1] * self.itemsize // new.itemsize
        return replace(self._frozen((*self.shape[:-1], last)), dtype=new)

    def astype(self, dtype: object) -> Tensor:
        """Return a view with another element type of the same size."""
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
        """Return an access pattern of the whole memory; its box is the whole memory."""
        del offset, indirect_dim
        also = (*index_operands(scalar_offset), *index_operands(vector_offset))
        base = whole(self.storage, self.storage.shape, self.dtype)
        view = base._frozen(tuple(int(count) for _, count in pattern))
        return replace(view, dtype=dtype_of(dtype or self.dtype), also=(*self.also, *also))

    @property
    def is_whole(self) -> bool:
        """Whether the view shows all of its memory, unchanged."""
        plain = tuple(Axis(size, d) for d, size in enumerate(self.root))
        return self.axes == plain and self.box == tuple((0, size) for size in self.root)

    def _frozen(self, shape: tuple[int, ...]) -> Tensor:
        return replace(self, axes=tuple(Axis(size) for size in shape))

    def operand(self) -> Operand:
        """Return what an operation on this view touches."""
        return Operand(self.storage, self.root, self.box, self.storage.dtype.itemsize)


def _elementwise() -> Any:
    # Arithmetic makes tensors, and tensors offer arithmetic.
    from headway.frontends.nki import elementwise

    return elementwise


def whole(storage: Storage, shape: tuple[int, ...], dtype: DType) -> Tensor:
    """Return a view of all of a memory as an array of that shape."""
    box = tuple((0, size) for size in shape)
    axes = tuple(Axis(size, d) for d, size in enumerate(shape))
    return Tensor(storage, shape, box, axes, dtype)


def allocated(shape: Sequence[Any], dtype: DType, memory: Memory, name: str = "") -> Tensor:
    """Return a new tensor. Raise InvalidProgram if it does not fit the partitions."""
    extents = tuple(_extent(size) for size in shape)
    if any(isinstance(size, PartitionExtent) for size in shape[1:]):
        raise problem(
            f"a tensor of shape {extents} has block dimensions before its partition dimension",
            rule="block dimensions (nl.par_dim after the first dimension) are not traced yet",
            help="use a list of tiles, or a loop that allocates each tile",
        )
    if memory.is_on_chip and len(extents) < 2:
        extents = (*extents, *(1,) * (2 - len(extents)))
    if memory.is_on_chip and extents[0] > PARTITIONS:
        raise problem(
            f"a tile of shape {extents} has {extents[0]} partitions",
            rule=f"the first dimension of a tile is the partition, at most {PARTITIONS}",
        )
    return whole(recorder().allocate(extents, dtype, memory, name), extents, dtype)


def _extent(size: Any) -> int:
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


def index_operands(index: object) -> tuple[Operand, ...]:
    """Return the memory that an index known only at run time is read from."""
    if isinstance(index, Tensor):
        return (index.operand(), *index.also)
    return index.reads if isinstance(index, Register) else ()
