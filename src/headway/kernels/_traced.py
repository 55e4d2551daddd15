"""Kernels that are an NKI kernel of the folder `nki`, traced by the front end.

A kernel takes `tiles`, how many tiles an iteration of its loop over tiles has. Loops over a list
stay unrolled when they are traced; loops over a range become loops again. Each tile of an iteration
is allocated anew, and has as many slots of its own as the parameter says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from headway.frontends import ArgSpec, record
from headway.frontends.nki.memory import Buffers
from headway.ir.program import Program
from headway.values import Traced

FOLDER = Path(__file__).parent / "nki"
TRIPS = 4
"""Iterations that are traced where the trip count is known only at run time."""


@dataclass(frozen=True, slots=True)
class Source:
    """A kernel; `file` is the one that it is in, if that is not called like it.

    `loops` are those that may have run-time trip counts, with the inputs that say how often they
    run. `arguments` takes the trip counts, with attributes called like the inputs that are numbers;
    those of loops over tiles count tiles. Another attribute is `tiles`. `in_memory` are the inputs
    for bounds that lie in memory, besides lists: they never become constants.
    """

    name: str
    arguments: Callable[[Any], Mapping[str, str]]
    loops: Mapping[str, str] = field(default_factory=lambda: {"i": "n"})
    file: str = ""
    in_memory: Collection[str] = ()

    def program(
        self,
        tiles: int,
        buffers: int,
        inputs: Mapping[str, int | list[int]],
        per_tile: Collection[str],
        static: int = 0,
    ) -> Program:
        """Return the program of `traced`. Raise HeadwayError."""
        return self.traced(tiles, buffers, inputs, per_tile, static).program

    def traced(
        self,
        tiles: int,
        buffers: Buffers,
        inputs: Mapping[str, int | list[int]],
        per_tile: Collection[str],
        static: int = 0,
    ) -> Traced:
        """Return the kernel; loops that have no input run as often as usual. Raise HeadwayError.

        `per_tile` are the inputs of loops over tiles. With `static` only loops whose bounds lie in
        memory have inputs.
        """
        numbers = {name: value for name, value in inputs.items() if isinstance(value, int)}
        known = numbers.keys() - set(self.in_memory) if static else ()
        open_loops = {loop: name for loop, name in self.loops.items() if name not in known}
        trips = {
            name: (TRIPS if name in open_loops.values() else value)
            * (tiles if name in per_tile else 1)
            for name, value in numbers.items()
        }
        texts = {**self.arguments(SimpleNamespace(tiles=tiles, **trips)), "tiles": str(tiles)}
        args = {name: ArgSpec.parse(text) for name, text in texts.items()}
        trace = record(FOLDER / f"{self.file or self.name}.py", self.name, args)
        return trace.traced(open_loops, buffers)
