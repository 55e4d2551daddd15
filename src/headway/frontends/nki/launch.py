"""The launch of a kernel: the grid of its programs, and which of them are traced.

A program of the grid is the kernel run with its own `program_id`. In the old style a grid has any
number of dimensions; the new style has one, of one or two programs that run on two cores at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from headway.errors import Diagnostic, InvalidInput
from headway.frontends.nki.places import problem


@dataclass(frozen=True, slots=True)
class Launch:
    """A grid, and the program of it that is traced; None: all of them, one after the other."""

    grid: tuple[int, ...] = ()
    program: tuple[int, ...] | None = ()

    @staticmethod
    def parse(grid: str, program: str = "") -> Launch:
        """Read `4,2` and `1,0`, or `all`; the first program by default. Raise InvalidInput."""
        extents = _numbers("--grid", grid)
        if any(extent < 1 for extent in extents):
            raise InvalidInput(Diagnostic(f"a grid of {grid}", help="write --grid 4,2"))
        if program == "all":
            return Launch(extents, None)
        numbers = _numbers("--program", program) if program else (0,) * len(extents)
        return Launch(extents, numbers).checked()

    def checked(self) -> Launch:
        """Return this. Raise InvalidInput if there is no such program."""
        if self.program is None:
            return self
        is_inside = len(self.program) == len(self.grid) and all(
            0 <= number < extent for number, extent in zip(self.program, self.grid, strict=True)
        )
        if not is_inside:
            raise InvalidInput(
                Diagnostic(
                    f"there is no program {_shown(self.program)} in a grid of {_shown(self.grid)}",
                    help="name one number for each dimension, below its extent, or all",
                )
            )
        return self

    @property
    def programs(self) -> int:
        """How many programs are traced."""
        return prod(self.grid) if self.program is None else 1

    def __str__(self) -> str:
        which = "all programs" if self.program is None else f"program {_shown(self.program)}"
        return f"{which} of a grid of {_shown(self.grid)}" if self.grid else "no grid"


ONE = Launch()  # one program and no grid


def _numbers(option: str, text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise InvalidInput(
            Diagnostic(f"{option} {text!r} is no list of numbers", help=f"write {option} 4,2")
        )
    return tuple(map(int, parts))


def _shown(numbers: Sequence[int]) -> str:
    return ",".join(map(str, numbers))


@dataclass(slots=True)
class Running:
    """The program that is being traced."""

    grid: tuple[int, ...]
    program: tuple[int, ...]

    def program_id(self, axis: int = 0) -> int:
        """Return the number of this program along one dimension; 0 without a grid."""
        if not self.grid:
            return 0
        return self.program[self._axis(axis)]

    def num_programs(self, axes: Any = None) -> Any:
        """Return how many programs there are along one dimension, some or all."""
        if isinstance(axes, int):
            return self.grid[self._axis(axes)] if self.grid else 1
        wanted = range(len(self.grid)) if axes is None else tuple(axes)
        extents = tuple(self.grid[self._axis(axis)] for axis in wanted) if self.grid else ()
        return extents if len(extents) > 1 else (extents or (1,))[0]

    def program_ndim(self) -> int:
        """Return the number of dimensions of the grid."""
        return len(self.grid)

    def _axis(self, axis: int) -> int:
        if not -len(self.grid) <= axis < len(self.grid):
            raise problem(
                f"dimension {axis} of a launch grid of {len(self.grid)} dimensions",
                help="give the grid: --grid 4,2",
            )
        return axis
