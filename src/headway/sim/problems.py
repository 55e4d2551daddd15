"""What the simulator has to say when a program cannot be run to its end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from headway.errors import Diagnostic, InvalidProgram, Location, Note, OverLimit


class Stuck(NamedTuple):
    """An engine that cannot go on: its wait, or its barrier if `counter` is empty."""

    engine: str
    counter: str
    threshold: int
    reached: int
    at: Location | None


def deadlock(stuck: Iterable[Stuck], ended: Iterable[str]) -> InvalidProgram:
    """Return the error of a run in which no engine can go on."""
    notes = [*map(_stuck, stuck), *(Note(f"{engine!r} has ended") for engine in ended)]
    return InvalidProgram(
        Diagnostic(
            "deadlock: no engine can go on",
            next((note.at for note in notes if note.at), None),
            notes=tuple(notes),
            rule="a wait is for a signal that comes; at a barrier all engines meet",
            help="`headway check` tells which wait asks for too much",
        )
    )


def _stuck(stuck: Stuck) -> Note:
    if not stuck.counter:
        return Note(f"{stuck.engine!r} stands at a barrier", stuck.at)
    return Note(
        f"{stuck.engine!r} waits for {stuck.counter} >= {stuck.threshold},"
        f" which has reached {stuck.reached}",
        stuck.at,
    )


def over_limit(limit: int, at: Location | None) -> OverLimit:
    """Return the error of a run that is too long; `at` is the place of the innermost loop."""
    return OverLimit(
        Diagnostic(
            f"still running after {limit:,} instances and iterations",
            at,
            rule="an engine program ends",
            help="check the condition or the trip count of the loop, or raise the limit",
        )
    )


def no_duration(instr: str, at: Location | None) -> InvalidProgram:
    """Return the error of an instruction that was not bound to a target."""
    return InvalidProgram(
        Diagnostic(
            f"instruction {instr!r} has no duration",
            at,
            help="bind the program to a target first (headway.targets.bind)",
        )
    )
