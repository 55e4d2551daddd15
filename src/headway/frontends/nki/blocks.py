"""Tensors with block dimensions: grids of tiles, each of which is memory of its own.

`nl.ndarray((4, nl.par_dim(128), 512))` in SBUF or PSUM is four tiles. How many of them are there at
a time is not said, so they get slots as the tiles of a list would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, cast

from headway.frontends.nki import elementwise as ew
from headway.frontends.nki.affine import Number, Sym
from headway.frontends.nki.compiler import Allocation
from headway.frontends.nki.places import problem
from headway.frontends.nki.record import Storage, recorder
from headway.frontends.nki.tensor import Tensor, extents_of, sequence, whole
from headway.frontends.nki.types import DType, Memory, PartitionExtent


def block_dimensions(shape: Sequence[Any], memory: Memory) -> int:
    """Return how many dimensions lie before the partition: those before `nl.par_dim`."""
    if not memory.is_on_chip:
        return 0
    marked = [at for at, size in enumerate(shape) if isinstance(size, PartitionExtent)]
    return marked[0] if marked else 0


class Blocks:
    """Some of the tiles of a tensor with block dimensions, and the same part of each of them.

    `chosen` has for each block dimension the number of a block, which may depend on loops of the
    device, or a range of them. `allocation` is where the kernel puts each block, if it says so.
    """

    def __init__(
        self,
        base: Storage,
        tiles: dict[tuple[Number, ...], Storage],
        chosen: tuple[Number | range, ...],
        rest: tuple[Any, ...] = (),
        allocation: Allocation | None = None,
    ) -> None:
        self._base = base
        self._tiles = tiles
        self._chosen = chosen
        self._rest = rest
        self._allocation = allocation

    @staticmethod
    def allocated(
        shape: Sequence[Any],
        dtype: DType,
        memory: Memory,
        count: int,
        name: str = "",
        allocation: Allocation | None = None,
    ) -> Blocks:
        """Return a new tensor whose first `count` dimensions are blocks. Raise InvalidProgram."""
        blocks = tuple(int(size) for size in shape[:count])
        extents = extents_of(shape[count:], memory)
        base = recorder().allocate(extents, dtype, memory, name, blocks)
        return Blocks(base, {}, tuple(range(size) for size in blocks), (), allocation)

    # ---- what kernels ask

    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of each dimension."""
        ranges = tuple(len(part) for part in self._chosen if isinstance(part, range))
        return (*ranges, *self._tile(self._first()).shape)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        if not self._rest:
            blocks = sum(isinstance(part, range) for part in self._chosen)
            return blocks + len(self._base.shape)
        return len(self.shape)

    @property
    def dtype(self) -> DType:
        """The type of an element."""
        return self._base.dtype

    @property
    def buffer(self) -> Memory:
        """The memory that the tiles live in."""
        return self._base.memory

    @property
    def name(self) -> str:
        """The name of the tensor."""
        return self._base.name

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        parts = _full(sequence(index), self.ndim)
        chosen: list[Number | range] = []
        for part in self._chosen:
            if isinstance(part, range):
                chosen.append(_chosen(parts[0], part))
                parts = parts[1:]
            else:
                chosen.append(part)
        rest = self._rest
        if any(not _is_everything(part) for part in parts):
            if rest:
                raise problem("an index of a part of tiles that were indexed already")
            rest = parts
        view = Blocks(self._base, self._tiles, tuple(chosen), rest, self._allocation)
        is_one = not any(isinstance(part, range) for part in chosen)
        return view._tile(view._first()) if is_one else view

    def __setitem__(self, index: Any, value: Any) -> None:
        view = self[index]
        if isinstance(view, Tensor):
            ew.assign(view, value)
            return
        for number, tile in view.numbered():
            is_split = isinstance(value, Blocks) or getattr(value, "ndim", 0) == view.ndim
            ew.assign(tile, value[number] if is_split else value)

    def __iadd__(self, other: Any) -> Blocks:
        for number, tile in self.numbered():
            ew.accumulate("add", tile, other[number] if isinstance(other, Blocks) else other)
        return self

    def as_tile(self) -> Any:
        """Return the tile, if it is one."""
        return self[tuple(0 for part in self._chosen if isinstance(part, range))]

    # ---- the tiles

    def numbered(self) -> Iterator[tuple[tuple[int, ...], Tensor]]:
        """Yield each tile with its number among the chosen ones."""
        ranges = [part if isinstance(part, range) else (part,) for part in self._chosen]
        is_range = [isinstance(part, range) for part in self._chosen]
        for at in product(*(range(len(part)) for part in ranges)):
            block = tuple(part[i] for part, i in zip(ranges, at, strict=True))
            yield tuple(i for i, kept in zip(at, is_range, strict=True) if kept), self._tile(block)

    def _first(self) -> tuple[Number, ...]:
        return tuple(part.start if isinstance(part, range) else part for part in self._chosen)

    def _tile(self, block: tuple[Number, ...]) -> Tensor:
        storage = self._tiles.get(block)
        if storage is None:
            base, by_hand = self._base, self._allocation
            place = by_hand.of(_known(block), base.shape[0], base.row) if by_hand else None
            storage = replace(base, index=(*base.index, *block), place=place)
            self._tiles[block] = storage
        tile = whole(storage, storage.shape, storage.dtype)
        return tile[self._rest] if self._rest else tile


def _full(parts: tuple[Any, ...], rank: int) -> tuple[Any, ...]:
    """Return one part for each dimension."""
    used = sum(part is not None and part is not Ellipsis for part in parts)
    if used > rank:
        raise problem(f"{used} indices for a tensor of {rank} dimensions")
    missing = (slice(None),) * (rank - used)
    for at, part in enumerate(parts):
        if part is Ellipsis:
            return (*parts[:at], *missing, *parts[at + 1 :])
    return (*parts, *missing)


def _is_everything(part: Any) -> bool:
    return isinstance(part, slice) and part == slice(None)


def _known(block: tuple[Number, ...]) -> tuple[int, ...]:
    """Return a number that depends on no loop of the device. Raise InvalidProgram."""
    if any(isinstance(number, Sym) for number in block):
        raise problem(
            "the index of a device loop names a block that is placed by hand",
            help="leave its place open, or write this loop with affine_range",
        )
    return tuple(int(number) for number in cast(tuple[int, ...], block))


def _chosen(part: Any, blocks: range) -> Number | range:
    """Return the blocks that an index of a block dimension names."""
    if isinstance(part, Sym):
        return part * blocks.step + blocks.start
    if isinstance(part, slice):
        return blocks[part]
    if hasattr(part, "min") and hasattr(part, "ndim") and part.min() == part.max():
        part = part.min()
    try:
        return blocks[int(part)]
    except IndexError:
        raise problem(f"block {int(part)} of a dimension of {len(blocks)} blocks") from None
    except (TypeError, ValueError):
        raise problem(
            "an index of several blocks at once",
            rule="a block dimension is indexed by one number, or by a slice",
            help="loop over the blocks",
        ) from None
