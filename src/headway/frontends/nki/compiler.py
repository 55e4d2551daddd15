"""The names of `nki.compiler`: where tensors are allocated by hand, and hints.

Decorators and hints change nothing of what a kernel does, so they are accepted and left out. A
place that is given by hand says which memory a tensor is in; how it is used is up to `Allocation`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from headway.frontends.nki.types import PSUM, SBUF, Memory


@dataclass(frozen=True, slots=True)
class Allocation:
    """Where a kernel puts the blocks of a tensor.

    `tiles` is how many tiles the blocks of each block dimension share, block i being in tile
    `i % tiles`; () is one tile for all. `place` gives the place of a block as the kernel's own
    function computes it, None if the compiler chooses.
    """

    memory: Memory
    tiles: tuple[int, ...] = ()
    place: Callable[..., Any] | None = None
    base: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Space:
    """`nki.compiler.sbuf` or `.psum`."""

    memory: Memory

    def auto_alloc(self) -> Memory:
        """Leave the place to the compiler."""
        return self.memory

    def alloc(self, func: Callable[..., Any]) -> Allocation:
        """Let a function of the kernel place each block."""
        return Allocation(self.memory, place=func)

    def mod_alloc(self, **options: Any) -> Allocation:
        """Place block i in tile `i % tiles`."""
        banks = options.pop("num_bank_tiles", ())
        free = options.pop("num_free_tiles", ())
        parts = options.pop("num_par_tiles", ())
        longest = max((tuple(t) for t in (banks, free, parts)), key=len)
        products = [1] * len(longest)
        for tiles in (banks, free, parts):
            for at, count in enumerate(tiles):
                products[at] *= int(count)
        base = tuple((name, int(value)) for name, value in sorted(options.items()))
        return Allocation(self.memory, tuple(products), base=base)


def decorator(function: Any = None, **options: Any) -> Any:
    """Return a decorated kernel unchanged: `@decorator` and `@decorator(...)`."""
    del options
    return function if callable(function) else decorator


@contextmanager
def no_reorder() -> Generator[None]:
    """Accept a region whose operations keep their order, which every traced program does."""
    yield


def names() -> dict[str, Any]:
    """Return the names of the compiler module."""
    return {
        "sbuf": Space(SBUF),
        "psum": Space(PSUM),
        "enable_stack_allocator": decorator,
        "force_auto_alloc": decorator,
        "skip_middle_end_transformations": decorator,
        "multi_buffer": lambda factor=2: ("multi_buffer", factor),
        "no_reorder": no_reorder,
    }
