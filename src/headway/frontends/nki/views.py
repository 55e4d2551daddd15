"""The views that `NkiTensor` has beside indexing, each in terms of indexing and reshaping."""

from __future__ import annotations

from collections.abc import Sequence
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
