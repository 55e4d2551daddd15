"""What the instructions of a program compute, beside the program and by instruction name.

The text of a program says what is touched, which orders it; this says what is computed there. Both
survive loops: an offset is a linear function of the iterations of the loops around an instruction,
and a number that changes in another way has one value for each iteration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headway.errors import Location
from headway.ir.program import Program

Iterations = Sequence[int]
"""The iterations of the loops around an instruction, outermost first."""


@dataclass(frozen=True, slots=True)
class Linear:
    """`const + sum(factors[i] * iterations[i])`."""

    const: int = 0
    factors: tuple[int, ...] = ()

    def at(self, iterations: Iterations) -> int:
        """Return its value."""
        return self.const + sum(f * i for f, i in zip(self.factors, iterations, strict=False))


@dataclass(frozen=True, slots=True)
class PerIteration:
    """Another value in each iteration of the loop at `position`, counted from the outermost."""

    position: int
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class NotFirst:
    """False in the first iteration of all the loops at `positions` together, True after it."""

    positions: tuple[int, ...]


def literal_at(literal: Any, iterations: Iterations) -> Any:
    """Return the value of a literal; IndexError in an iteration that was never recorded."""
    match literal:
        case PerIteration():
            return literal_at(literal.values[iterations[literal.position]], iterations)
        case NotFirst():
            return any(iterations[position] for position in literal.positions)
        case Linear():
            return literal.at(iterations)
        case _:
            return literal


@dataclass(frozen=True, slots=True)
class Dynamic:
    """`stride` bytes per unit of a number in memory, which the operand of that role holds.

    It is one number, or one for each index along dimension `axis` of the view.
    """

    role: str
    stride: int
    axis: int | None


@dataclass(frozen=True, slots=True)
class View:
    """Elements in one slot of a buffer: an array of that shape and type, `offset` bytes into it.

    The slot is `turn % slots`, where the buffer has that many. Element i lies `sum(i * strides)`
    bytes from the offset; with a `table`, an array of the same shape, where the table says, and
    nowhere if it says -1. With `starts` the memory is one array, in which slot i begins at byte
    `starts[i]`.
    """

    buffer: str
    turn: Linear
    slots: int
    offset: Linear
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    table: Any = None
    dynamic: tuple[Dynamic, ...] = ()
    starts: tuple[int, ...] = ()

    def slot(self, iterations: Iterations) -> int:
        """Return the slot in these iterations."""
        return self.turn.at(iterations) % self.slots


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one instruction computes: an operation of `headway.values.operations`.

    `reads` and `writes` are views by role, `literals` the numbers of the call (see `literal_at`),
    `settings` its words. Without an operation it is not known what it computes, for that reason.
    """

    operation: str
    reads: Mapping[str, View]
    writes: Mapping[str, View]
    literals: Mapping[str, Any]
    settings: Mapping[str, str]
    at: Location
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of a buffer: `slots` arrays of that shape and type; `contents` if it is given.

    On the chip the first dimension is the partition, as everywhere. In each partition a slot takes
    `row` bytes, and `addresses` are the first bytes of the slots, where they are known.
    """

    slots: int
    shape: tuple[int, ...]
    dtype: str
    space: str
    contents: Any = None
    addresses: tuple[int, ...] = ()
    row: int = 0


@dataclass(frozen=True, slots=True)
class Values:
    """What a program computes: meanings by instruction, memories by name.

    `arguments` are the memories of the kernel's tensor arguments, `results` what it returns;
    `unused` are tensor arguments that no instruction touches, which have no memory.
    """

    meanings: Mapping[str, Meaning]
    memories: Mapping[str, Memory]
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    results: tuple[View, ...] = ()
    unused: frozenset[str] = frozenset()

    def is_in_engine(self, view: View) -> bool:
        """Tell whether a view lies in what an engine keeps inside of it, such as accumulators."""
        return self.memories[view.buffer].space == "engine"

    def bytes_used(self, space: str) -> int | None:
        """Return how many bytes of each partition of `sbuf` or `psum` hold something.

        None if it is not known where everything lies.
        """
        inside = [memory for memory in self.memories.values() if memory.space == space]
        if not all(memory.addresses for memory in inside):
            return None
        ranges = sorted((a, a + memory.row) for memory in inside for a in memory.addresses)
        used = end = 0
        for low, high in ranges:
            used += max(0, high - max(low, end))
            end = max(end, high)
        return used


@dataclass(frozen=True, slots=True)
class Traced:
    """A sequential program with what its instructions compute."""

    program: Program
    values: Values
