"""States as plain data, and back."""

from __future__ import annotations

from math import inf
from typing import Any

from headway.certify.numbers import Form, form, known
from headway.certify.state import Limits, State, Value


def write_form(f: Form) -> list[Any]:
    """Return a form as plain data."""
    return [[list(atoms), n] for atoms, n in f]


def read_form(data: Any) -> Form:
    """Return the form in plain data."""
    return form({tuple(atoms): int(n) for atoms, n in data})


def write_state(state: State) -> dict[str, Any]:
    """Return a state as plain data."""
    return {
        "numbers": [
            [write_form(f), n.rest, n.modulus, None if n.least == -inf else n.least]
            for f, n in state.numbers.items()
        ],
        "known": {holder: f"{marks:x}" for holder, marks in state.known.items()},
        "told": {q: _write(limits) for q, limits in state.told.items()},
        "recent": {q: _write(limits) for q, limits in state.recent.items()},
        "values": [
            [*key, v.distance and write_form(v.distance), v.least, f"{v.told:x}", f"{v.after:x}"]
            for key, v in state.values.items()
        ],
    }


def read_state(data: Any, start: State) -> State:
    """Return the state in plain data. What `start` has and it does not name is not known."""
    return State(
        {
            read_form(f): known(rest, modulus, -inf if least is None else least)
            for f, rest, modulus, least in data["numbers"]
        },
        {holder: int(data["known"].get(holder, "0"), 16) for holder in start.known},
        {q: _read(data["told"].get(q, {})) for q in start.told},
        {q: _read(data["recent"].get(q, {})) for q in start.recent},
        dict.fromkeys(start.values, Value())
        | {
            (engine, name, place, q): Value(
                None if distance is None else read_form(distance),
                least,
                int(told, 16),
                int(after, 16),
            )
            for engine, name, place, q, distance, least, told, after in data["values"]
        },
    )


def _write(limits: Limits) -> dict[str, str]:
    return {str(age): f"{marks:x}" for age, marks in sorted(limits.items())}


def _read(data: dict[str, str]) -> Limits:
    return {int(age): int(marks, 16) for age, marks in data.items()}
