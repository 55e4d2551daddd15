"""The names of `nki.compiler`: where tensors are allocated by hand, and hints.

Decorators and hints change nothing of what a kernel does, so they are accepted and left out. A
place that is given by hand is kept with each tile (`record.Storage.place`), and counts where tiles
are to lie as they are written.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

from headway.frontends.nki.allocation import BANK
from headway.frontends.nki.keywords import checked, keywords_of, only
from headway.frontends.nki.places import problem
from headway.frontends.nki.types import PSUM, SBUF, Memory

Block = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Allocation:
    """Where a kernel puts the tiles of a tensor.

    `place(block, partitions, bytes)` is what the kernel's own function says of a block of so many
    partitions and bytes in each: (partition, byte), in PSUM (bank, partition, byte in the bank).
    """

    memory: Memory
    place: Callable[..., Sequence[int]]

    def of(self, block: Block, partitions: int, size: int) -> tuple[int, int]:
        """Return the first partition of a tile, and its first byte there."""
        named = {"idx": block, "pdim_size": partitions, "fdim_size": size}
        if named.keys() <= inspect.signature(self.place).parameters.keys():
            found = tuple(self.place(**named))
        else:
            found = tuple(self.place(block, partitions, size))
        wanted = 3 if self.memory.name == "psum" else 2
        if len(found) != wanted:
            raise problem(
                f"the place of block {block} in {self.memory.name} is {found}",
                rule="a place is (partition, byte), in PSUM (bank, partition, byte)",
            )
        *bank, partition, byte = (int(part) for part in found)
        return partition, byte + sum(bank) * BANK


@dataclass(frozen=True, slots=True)
class Space:
    """`nki.compiler.sbuf` or `.psum`."""

    memory: Memory

    def auto_alloc(self) -> Memory:
        """Leave the place to the compiler."""
        return self.memory

    def alloc(self, func: Callable[..., Any]) -> Allocation:
        """Let a function of the kernel place each block."""
        return Allocation(self.memory, func)

    def mod_alloc(
        self,
        *,
        base_addr: int = 0,
        base_bank: int = 0,
        base_partition: int = 0,
        num_bank_tiles: Sequence[int] = (),
        num_par_tiles: Sequence[int] = (),
        num_free_tiles: Sequence[int] = (),
        **options: Any,
    ) -> Allocation:
        """Place block i in tile `i % tiles`, along banks, partitions and bytes."""
        only("mod_alloc", options, keywords_of(self.mod_alloc))

        def place(block: Block, partitions: int, size: int) -> tuple[int, ...]:
            inside = (
                base_partition + _turn(block, num_par_tiles) * partitions,
                base_addr + _turn(block, num_free_tiles) * size,
            )
            if self.memory.name != "psum":
                return inside
            return base_bank + _turn(block, num_bank_tiles), *inside

        return Allocation(self.memory, place)


def _turn(block: Block, tiles: Sequence[int]) -> int:
    """Return the tile of a block; () is one tile for all."""
    turns = [i % int(count) for i, count in zip(block, tiles, strict=False)]
    return sum(turn * prod(tiles[at + 1 :]) for at, turn in enumerate(turns))


def decorator(function: Any = None, **options: Any) -> Any:
    """Return a decorated kernel unchanged: `@decorator` and `@decorator(...)`."""
    del options
    return function if callable(function) else decorator


@contextmanager
def no_reorder() -> Generator[None]:
    """Accept a region whose operations keep their order, which every traced program does."""
    yield


def multi_buffer(factor: int = 2) -> tuple[str, int]:
    """Return a hint of how many buffers a tile has."""
    return "multi_buffer", factor


def names() -> dict[str, Any]:
    """Return the names of the compiler module."""
    return {
        "sbuf": Space(SBUF),
        "psum": Space(PSUM),
        "enable_stack_allocator": decorator,
        "force_auto_alloc": decorator,
        "skip_middle_end_transformations": decorator,
        "multi_buffer": checked("multi_buffer", multi_buffer),
        "no_reorder": checked("no_reorder", no_reorder),
    }
