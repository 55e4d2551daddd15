"""The views that `NkiTensor` has beside indexing, each in terms of indexing and reshaping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, cast

from headway.frontends.nki.places import problem

if TYPE_CHECKING:
    from headway.frontends.nki.tensor import Tensor


class Views:
    """What a tensor offers beside indexing."""

    __slots__ = ()
    __array_ufunc__: ClassVar[None] = None  # arithmetic with index arrays is ours

    @property
    def _tensor(self) -> Tensor:
        return cast("Tensor", self)

    def slice(self, dim: int, start: Any, end: Any, step: int = 1) -> Tensor:
        """Return a part of one dimension."""
        return self._along(dim, slice(start, end, step))

    def select(self, dim: int, index: Any) -> Tensor:
        """Return one index of a dimension; the partition dimension stays, of size 1."""
        return self._along(dim, index)

    def vector_select(self, dim: int, vector_offset: Any) -> Tensor:
        """Return the indices of a dimension that a tile holds."""
        return self._along(dim, vector_offset)

    def broadcast(self, dim: int, size: int) -> Tensor:
        """Repeat a dimension of size 1."""
        shape = list(self._tensor.shape)
        if shape[dim] != 1:
            raise problem(
                f"broadcast of dimension {dim} of shape {tuple(shape)}",
                rule="only a dimension of size 1 is repeated",
            )
        shape[dim] = size
        return self._tensor.broadcast_to(tuple(shape))

    def expand_dim(self, dim: int) -> Tensor:
        """Return a view with one more dimension, of size 1."""
        return self._tensor.expand_dims(dim)

    def squeeze_dim(self, dim: int) -> Tensor:
        """Return a view without a dimension of size 1."""
        shape = self._tensor.shape
        if shape[dim] != 1:
            raise problem(
                f"squeeze of dimension {dim} of shape {shape}", rule="it has to have size 1"
            )
        at = dim % len(shape)
        return self._tensor.reshape((*shape[:at], *shape[at + 1 :]))

    def reshape_dim(self, dim: int, shape: Sequence[int]) -> Tensor:
        """Split one dimension into several."""
        whole = self._tensor.shape
        at = dim % len(whole)
        known = prod(size for size in shape if size != -1)
        split = tuple(whole[at] // known if size == -1 else size for size in shape)
        return self._tensor.reshape((*whole[:at], *split, *whole[at + 1 :]))

    def flatten_dims(self, start_dim: int, end_dim: int) -> Tensor:
        """Join neighbouring dimensions, both ends included."""
        shape = self._tensor.shape
        first, last = start_dim % len(shape), end_dim % len(shape)
        joined = prod(shape[first : last + 1])
        return self._tensor.reshape((*shape[:first], joined, *shape[last + 1 :]))

    def rearrange(
        self,
        src_pattern: Sequence[Any],
        dst_pattern: Sequence[Any],
        fixed_sizes: Mapping[str, int] | None = None,
    ) -> Tensor:
        """Split, reorder and join dimensions: `(("b", ("h", "w")), ("b", "w", "h"), {"h": 4})`."""
        sizes = dict(fixed_sizes or {})
        for names, extent in zip(map(_group, src_pattern), self._tensor.shape, strict=True):
            known = prod(sizes[name] for name in names if name in sizes)
            open_names = [name for name in names if name not in sizes]
            if len(open_names) > 1 or extent % known:
                raise problem(
                    f"rearrange of dimension {names} of {extent} elements",
                    rule="the sizes of all but one name of a group are given, and divide it",
                )
            sizes |= dict.fromkeys(open_names, extent // known)
        source = [name for part in src_pattern for name in _group(part)]
        wanted = [name for part in dst_pattern for name in _group(part)]
        if sorted(source) != sorted(wanted):
            raise problem(f"rearrange from {tuple(source)} to {tuple(wanted)}: other names")
        split = self._tensor.reshape(tuple(sizes[name] for name in source))
        moved = split.permute([source.index(name) for name in wanted])
        return moved.reshape(
            tuple(prod(sizes[name] for name in _group(part)) for part in dst_pattern)
        )

    @property
    def strides(self) -> tuple[int, ...]:
        """The distance of neighbours along each dimension, in elements."""
        return tuple(axis.stride // self._tensor.itemsize for axis in self._tensor.axes)

    def get_pattern(self) -> list[list[int]]:
        """Return [stride, count] of each dimension, as `ap` takes them."""
        return [list(pair) for pair in zip(self.strides, self._tensor.shape, strict=True)]

    def is_contiguous(self) -> bool:
        """Tell whether elements lie side by side; on the chip in each partition."""
        first = 1 if self._tensor.buffer.is_on_chip else 0
        shape = self._tensor.shape
        return all(
            self.strides[d] == prod(shape[d + 1 :]) or shape[d] == 1
            for d in range(first, len(shape))
        )

    def is_indirect(self) -> bool:
        """Tell whether a tile says where the elements lie."""
        return bool(self._tensor.also)

    def indirect(self, index: Tensor, num_elem: int | None = None) -> Tensor:
        """Return the columns of each partition that a tile of offsets names."""
        tensor = self._tensor
        rows = tensor.shape[0]
        view = tensor.reshape((rows, prod(tensor.shape[1:])))
        count = num_elem or prod(index.shape)
        return view.indirectly(index, count)

    def as_tile(self) -> Tensor:
        """Return the tensor: it is a tile already."""
        return self._tensor

    def depends_on(self, *producers: object) -> Tensor:
        """Refuse: the order of the recording is the order of the program."""
        del producers
        raise problem(
            "depends_on is not traced",
            rule="instructions depend on each other through what they read and write",
            help="leave it out if the data says the same",
        )

    def _along(self, dim: int, part: Any) -> Tensor:
        at = dim % self._tensor.ndim
        return self._tensor[(*(slice(None),) * at, part)]


def _group(part: Any) -> tuple[str, ...]:
    """The names of one dimension of a pattern: one, or several that are split or joined."""
    return (part,) if isinstance(part, str) else tuple(part)
