"""What a kernel of the suite is: a program with parameters, and the inputs it usually runs with.

A kernel is one file of this folder, named like the kernel, with one object `KERNEL`.
Packages outside register theirs under the entry-point group `headway.kernels`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import mean

from headway.errors import Diagnostic, InvalidInput
from headway.ir.program import InputDecl, Program
from headway.kernels._traced import Source
from headway.registry import unknown


@dataclass(frozen=True, slots=True)
class Parameter:
    """A whole number that shapes the program when it is built."""

    name: str
    default: int
    description: str
    minimum: int = 1
    maximum: int = 1024


@dataclass(frozen=True, slots=True)
class Kernel:
    """A program of the suite. `build` takes the parameters by name; `inputs` are the usual ones.

    `per_tile` names the inputs that say how often a loop over tiles runs. `source` is the NKI
    kernel that it may also be traced from.
    """

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    inputs: Mapping[str, int | list[int]]
    build: Callable[..., Program]
    per_tile: frozenset[str] = frozenset()
    source: Source | None = None

    def program(self, **given: int) -> Program:
        """Return the program for these parameters. Raise InvalidInput on one that does not fit."""
        known = {parameter.name: parameter for parameter in self.parameters}
        problems = [
            _problem(self.name, known, name, value)
            for name, value in given.items()
            if name not in known or not _fits(known[name], value)
        ]
        if problems:
            raise InvalidInput(*problems)
        return self.build(**{p.name: given.get(p.name, p.default) for p in self.parameters})

    def usual(self, program: Program, tiles: int = 1, size: int = 1) -> dict[str, int | list[int]]:
        """Return the usual value of each input of one of the kernel's programs.

        With `size` times as many tiles, of which there are `tiles` in an iteration. Where the usual
        value is a list and the program has one number for all executions, it is the mean.
        """

        def scaled(name: str, value: int | list[int]) -> int | list[int]:
            if name not in self.per_tile:
                return value
            if isinstance(value, int):
                return -(-value * size // tiles)
            return [-(-each * size // tiles) for each in value]

        def of(decl: InputDecl) -> int | list[int]:
            value = self.inputs[decl.name]
            if isinstance(value, list) and not decl.is_list:
                value = round(mean(value))
            return scaled(decl.name, value)

        return {decl.name: of(decl) for decl in program.inputs}


def _fits(parameter: Parameter, value: int) -> bool:
    return parameter.minimum <= value <= parameter.maximum


def _problem(kernel: str, known: Mapping[str, Parameter], name: str, value: int) -> Diagnostic:
    parameter = known.get(name)
    if parameter is None:
        return unknown(f"parameter of kernel {kernel!r}:", name, tuple(known))
    return Diagnostic(
        f"parameter {name!r} of kernel {kernel!r} is {value}",
        rule=f"it is {parameter.minimum} to {parameter.maximum}: {parameter.description}",
    )
