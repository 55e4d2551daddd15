"""What is wrong with an engine program that cannot be run."""

from __future__ import annotations

from headway.errors import Diagnostic, InvalidInput, Location, OverLimit


def negative_trip(loop: str, trip: int, at: Location | None) -> InvalidInput:
    """Return the error of a loop that would run less than zero times."""
    return InvalidInput(
        Diagnostic(f"loop {loop!r} would run {trip} times", at, rule="a trip count is 0 or more")
    )


def no_element(register: str, size: int, index: int, at: Location | None) -> InvalidInput:
    """Return the error of an assignment outside a row of registers."""
    return InvalidInput(
        Diagnostic(f"register {register!r} has {size} elements and element {index} was set", at)
    )


def over_limit(limit: int, at: Location | None) -> OverLimit:
    """Return the error of an engine program that is too long to be expanded."""
    return OverLimit(
        Diagnostic(
            f"more than {limit:,} events and iterations",
            at,
            rule="an engine program ends, and is small enough to be expanded",
            help="check the trip counts and conditions, or choose smaller inputs",
        )
    )
