"""Kernels that are an NKI kernel of the folder `nki`, traced by the front end.

A kernel takes `tiles`, how many tiles an iteration of its loop over tiles has. Loops over a list
stay unrolled when they are traced; loops over a range become loops again. Each tile of an iteration
is allocated anew, and has as many slots of its own as the parameter says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from headway.frontends import ArgSpec, record
from headway.ir.program import Program

FOLDER = Path(__file__).parent / "nki"
TRIPS = 4
"""Iterations that are traced where the trip count is known only at run time."""


@dataclass(frozen=True, slots=True)
class Source:
    """A kernel called like its file. `arguments` takes the number of tiles of the whole run.

    `loop` is the loop over tiles, and `trips` the input that says how often it runs.
    """

    name: str
    arguments: Callable[[int], Mapping[str, str]]
    loop: str = "i"
    trips: str = "n"

    def program(self, tiles: int, buffers: int, trips: int | None = None) -> Program:
        """Return the program, with `trips` as a constant if it is given. Raise HeadwayError."""
        texts = self.arguments(tiles * (trips or TRIPS))
        args = {name: ArgSpec.parse(text) for name, text in texts.items()}
        args["tiles"] = ArgSpec.parse(str(tiles))
        trace = record(FOLDER / f"{self.name}.py", self.name, args)
        return trace.program({} if trips else {self.loop: self.trips}, buffers)
