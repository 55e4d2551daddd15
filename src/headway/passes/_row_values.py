"""What a row of captures holds, where a nest of loops has filled it, and what that is at an index.

All is tried out, number by number, for a row is short.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NamedTuple

from headway.ir.expr import Binary, Expr, Iteration, evaluate, leaves
from headway.passes._closed_forms import NoFormError, Value, operations
from headway.passes._polynomial import Polynomial
from headway.sync.program import RegisterRef

MOST_OPERATIONS = 12
MOST_READS = 4096
"""How many combinations of iterations are tried for a wait."""

Scalars = Mapping[str, Value]
"""What the registers that are no rows hold."""

Trips = Mapping[str, int]
"""The trip counts of the loops around, where they are numbers."""


@dataclass(frozen=True, slots=True)
class Table:
    """A row that holds `base + offsets[slot]`."""

    base: Polynomial
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """A row that holds something in the first iteration of a loop and something else later."""

    loop: str
    first: Held
    later: Table


Held = Table | Turn | None
"""What a row holds; None = nothing is known."""


class Setting(NamedTuple):
    """A register of the row is set."""

    slot: Expr
    value: Polynomial


class Reading(NamedTuple):
    """A register of the row is waited for."""

    slot: Expr


class Nest(NamedTuple):
    """A loop around what happens to the row."""

    loop: str
    trip: int
    inside: list[Event]


Event = Setting | Reading | Nest


def set_count(events: Iterable[Event]) -> int:
    """Return how often something of the row is set."""
    return sum(
        event.trip * set_count(event.inside)
        if isinstance(event, Nest)
        else isinstance(event, Setting)
        for event in events
    )


def table_of(events: Sequence[Event], size: int) -> Table | None:
    """Return what the row holds behind that; None if something is set twice, or set, then read."""
    found: dict[int, int] = {}
    bases: set[Polynomial] = set()

    def happen(events: Iterable[Event], turns: dict[str, int]) -> None:
        for event in events:
            if isinstance(event, Nest):
                for turn in range(event.trip):
                    happen(event.inside, {**turns, event.loop: turn})
                continue
            slot = _slot(event.slot, turns)
            if slot in found:
                raise NoFormError
            if isinstance(event, Setting):
                base = event.value
                for loop, turn in turns.items():
                    base = base and base.substituted(Iteration(loop), Polynomial.of(turn))
                if base is None:
                    raise NoFormError
                number = sum(factor for part, factor in base.terms if not part)
                found[slot] = number
                bases.add(base - Polynomial.of(number))

    try:
        happen(events, {})
    except NoFormError:
        return None
    is_full = found.keys() == set(range(size)) and len(bases) == 1
    return Table(bases.pop(), tuple(found[slot] for slot in range(size))) if is_full else None


def _slot(index: Expr, turns: Mapping[str, int]) -> int:
    if any(not isinstance(leaf, Iteration) or leaf.loop not in turns for leaf in leaves(index)):
        raise NoFormError
    return evaluate(index, turns, {})


def at_turn(table: Table, loop: str, turn: Polynomial) -> Table | None:
    """Return a table with another number for an iteration."""
    base = table.base.substituted(Iteration(loop), turn)
    return Table(base, table.offsets) if base is not None else None


def value_at(held: Held, index: Expr, trips: Trips, offset: int, scalars: Scalars) -> Expr:
    """Return what a row holds there, and `offset` more. Raise NoFormError if that is unknown."""
    match held:
        case Table():
            found = _shortest(_sum(held, index, trips) + Polynomial.of(offset), scalars)
        case Turn(loop, Table() as first, later):
            turn = Iteration(loop)
            sum_ = _sum(later, index, trips)
            more = (_sum(first, index, trips) - sum_).substituted(turn, Polynomial.of(0))
            if more is None:
                raise NoFormError
            found = _shortest(sum_ + Polynomial.of(offset), scalars)
            if more.terms:
                is_first = Binary("-", 1, Binary("min", turn, 1))
                found = Binary("+", found, Binary("*", is_first, more.expression()))
        case _:
            raise NoFormError
    if operations(found) > MOST_OPERATIONS:
        raise NoFormError
    return found


def _sum(table: Table, index: Expr, trips: Trips) -> Polynomial:
    """Return what a table holds at an index, as a sum of iterations."""
    loops = sorted({leaf.loop for leaf in leaves(index) if isinstance(leaf, Iteration)})
    counts = [trips.get(loop, MOST_READS + 1) for loop in loops]
    if prod(counts) > MOST_READS or 0 in counts:
        raise NoFormError

    def at(*turns: int) -> int:
        return table.offsets[_slot(index, dict(zip(loops, turns, strict=True)))]

    origin = at(*(0 for _ in loops))
    steps = [
        at(*(int(other == loop) for other in loops)) - origin if count > 1 else 0
        for loop, count in zip(loops, counts, strict=True)
    ]
    for turns in product(*map(range, counts)):
        if at(*turns) != origin + sum(a * b for a, b in zip(steps, turns, strict=True)):
            raise NoFormError
    found = table.base + Polynomial.of(origin)
    for loop, step in zip(loops, steps, strict=True):
        found += Polynomial.of(Iteration(loop)) * Polynomial.of(step)
    return found


def _shortest(value: Polynomial, scalars: Scalars) -> Expr:
    """Return the value, from a register that counts if that takes fewer operations."""
    ways = [value.expression()]
    for name, known in scalars.items():
        if known:
            register = Polynomial.of(RegisterRef(name))
            ways.append((value - known + register).expression())
    return min(ways, key=operations)
