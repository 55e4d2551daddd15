"""Numbers that an operation computes with, where loops may change them.

A literal is a number, an array, a `Number` of the index of a device loop, or one of these classes.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from headway.frontends.nki.affine import Sym, substituted


@dataclass(frozen=True, slots=True)
class PerTurn:
    """Another value in each iteration of the loop at `level`."""

    level: int
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class NotFirst:
    """False in the first iteration of all the loops at `levels` together, True after it."""

    levels: tuple[int, ...]


class Array:
    """An array of numbers, compared by its values."""

    def __init__(self, values: Any) -> None:
        self.values = values

    @cached_property
    def _key(self) -> tuple[Hashable, ...]:
        return self.values.shape, str(self.values.dtype), self.values.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Array) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def per_turn(level: int, values: Sequence[Any]) -> Any:
    """Return one value if all are the same, else one for each iteration of a loop."""
    first = values[0]
    if all(value is first or _is_same(value, first) for value in values):
        return first
    return PerTurn(level, tuple(values))


def _is_same(one: object, other: object) -> bool:
    """1, 1.0 and True are different things to compute with."""
    return type(one) is type(other) and one == other


def literal_at(literal: Any, turns: Mapping[int, int]) -> Any:
    """Return a literal in these iterations; of loops that are not among them it still depends."""
    if isinstance(literal, PerTurn) and literal.level in turns:
        return literal_at(literal.values[turns[literal.level]], turns)
    if isinstance(literal, Sym):
        return substituted(literal, turns)
    return literal
