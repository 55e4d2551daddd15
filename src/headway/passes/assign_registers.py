"""Fit the registers of each engine into those that the target has.

In     engine programs with any number of registers
Out    engine programs with at most `target.registers` for each engine
Keeps  no instance early, no deadlock; exact as long as step 3 is not needed
Cost   linear in the engine programs, times their registers where there are too few

Where there are too few, one step after the other until it fits:

1. Registers that are never needed at the same time are one. Thresholds are computed right in front
   of their wait, so that they are not either.
2. Registers that only count are computed where they are read, if their value has a closed form;
   then so are rows of captures that a nest of loops fills.
3. Captures are made coarser: slots share registers, those of the longest row first, which becomes
   as short as its largest divisor; then all captures of a counter do. What is shared holds the
   latest of the positions, which is never after the point that waits, so that it is waited for
   longer at worst.

    write.q.x[i % 4] := shadow.q        ->      write.q.x[i % 2] := shadow.q
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace

from headway.errors import Diagnostic, UnsupportedByTarget, counted
from headway.ir.walk import deep_nests
from headway.passes._captures import Coarser
from headway.passes._captures import choices as coarser
from headway.passes._closed_forms import computed
from headway.passes._closed_rows import candidates, row_computed
from headway.passes._liveness import Shared
from headway.passes._mentions import Mentions
from headway.passes._sharing import shared
from headway.passes.sync_pass import Concession
from headway.sync.program import EngineProgram, Register, SyncProgram
from headway.targets.target import Target


def register_count(engine: EngineProgram) -> int:
    """Return how many registers an engine program uses."""
    return sum(register.size for register in engine.registers)


def exact_attempts(
    engine: EngineProgram, mentions: Mentions | None = None
) -> Iterator[EngineProgram]:
    """Yield programs with ever fewer registers that wait for the same."""
    yield engine
    mentions = mentions or Mentions()
    engine = shared(engine, mentions)
    yield engine
    for register in engine.registers:
        found = computed(engine, register.name, mentions) if register.size == 1 else None
        if found and register_count(fewer := shared(found, mentions)) < register_count(engine):
            engine = fewer
            yield engine
    for row in candidates(engine, mentions):
        found = row_computed(engine, row, mentions)
        if found and register_count(fewer := shared(found, mentions)) < register_count(engine):
            engine = fewer
            yield engine


def fitted(engine: EngineProgram, most: int) -> tuple[EngineProgram, tuple[Concession, ...]]:
    """Return an engine program with at most `most` registers, and what was given up for that.

    Raise UnsupportedByTarget if it needs more in any case.
    """
    exact, mentions = engine, Mentions()
    for exact in exact_attempts(engine, mentions):
        if register_count(exact) <= most:
            return exact, ()
    choices, captures = list(coarser(exact, mentions)), Coarser(exact, mentions)
    # Ever fewer registers.
    first = bisect_left(choices, True, key=lambda choice: captures.count(choice) <= most)
    if first < len(choices):
        attempt = shared(captures.with_shared(choices[first]), mentions)
        return attempt, _concessions(engine, choices[first], most)
    least = shared(captures.with_shared(choices[-1]), mentions) if choices else exact
    raise UnsupportedByTarget(_too_many(engine, register_count(least), most))


def _concessions(engine: EngineProgram, choice: Shared, most: int) -> tuple[Concession, ...]:
    sizes = {register.name: register.size for register in engine.registers}
    groups: dict[Register, list[str]] = {}
    for name, row in choice.items():
        size = sizes.get(name, 1)
        groups.setdefault(row, []).append(name if size == 1 else f"{name}[{size}]")
    return tuple(
        Concession(
            "registers",
            engine.engine,
            f"{'one register' if row.size == 1 else f'{row.size} registers'} for the captures"
            f" {', '.join(names)}: {counted(most, 'register')}",
        )
        for row, names in groups.items()
    )


def _too_many(engine: EngineProgram, count: int, most: int) -> Diagnostic:
    return Diagnostic(
        f"{engine.engine} needs {counted(count, 'register')} even if captures share them",
        engine.at,
        rule=f"the target has {counted(most, 'register')} for each engine",
        help="use fewer queues, or a strategy that does not count: `headway list strategies`",
    )


@dataclass(frozen=True, slots=True)
class AssignRegisters:
    """Share, compute, and make captures coarser where there are not enough registers."""

    name: str = "assign-registers"
    description: str = "fit the registers of each engine; captures share one where they must"

    def fit(self, sync: SyncProgram, target: Target) -> tuple[SyncProgram, tuple[Concession, ...]]:
        """Return the engine programs and what was given up.

        Raise UnsupportedByTarget if they cannot fit.
        """
        with deep_nests():
            found = [fitted(engine, int(target.registers)) for engine in sync.engines]
        engines = tuple(engine for engine, _ in found)
        return replace(sync, engines=engines), tuple(c for _, given_up in found for c in given_up)

    def apply(self, sync: SyncProgram, target: Target) -> SyncProgram:
        """Do what `fit` does."""
        return self.fit(sync, target)[0]


PASS = AssignRegisters()
