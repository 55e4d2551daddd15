"""Try mutants: the judge has to catch every one that makes a difference.

In     random programs, synchronized, and their mutants
Out    caught      the verdict is not that of the original
       equivalent  the engines do the same; or the verdict is the same, and so are the issue
                   times under random durations
       missed      the verdict is the same, and the clock says otherwise: a hole in the judge
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

from headway.check.fuzz import Candidate, Simulate, difference, violation
from headway.check.generate import Shape, generate, with_random_durations
from headway.check.judge import Replay, reference
from headway.check.mutate import Mutant, mutants
from headway.check.verdict import verdict
from headway.errors import HeadwayError, UnsupportedByTarget
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.spec import Issue, ideal
from headway.sync.expand import Event, expand
from headway.sync.program import SyncProgram

RUNS = 5
"""How many assignments of random durations a mutant has to survive to count as equivalent."""

SMALL = Shape(instructions=9, instances=100)
"""Every program has hundreds of mutants, so the programs are small."""

Fate = Literal["caught", "equivalent", "missed"]

SAME_ACTIONS = "the engines do the same"
SAME_TIMES = "everything is issued at the same times"
"""How it is established that a mutant is equivalent: what it has changed is redundant."""


class Tried(NamedTuple):
    """What became of one mutant; `message` says what a missed one does, and why one is
    equivalent."""

    seed: int
    strategy: str
    kind: str
    engine: str
    fate: Fate
    message: str = ""


@dataclass(frozen=True, slots=True)
class Mutation:
    """What every seed is tried with. All of it can be sent to another process."""

    candidates: tuple[Candidate, ...]
    simulate: Simulate
    shape: Shape = SMALL

    def outcome(self, seed: int) -> list[Tried]:
        """Try every mutant of every candidate on the program of a seed."""
        case = generate(seed, self.shape)
        return [
            Tried(seed, candidate.name, mutant.kind, mutant.engine, *trial.fate(mutant))
            for candidate in self.candidates
            for trial in self._trial(candidate, case.program, case.inputs, seed)
            for mutant in mutants(trial.synced)
        ]

    def _trial(
        self, candidate: Candidate, program: Program, inputs: Inputs, seed: int
    ) -> Iterator[Trial]:
        try:
            yield Trial(candidate.synchronize(program), inputs, self.simulate, seed)
        except UnsupportedByTarget:
            return


def _actions(events: Sequence[Event]) -> list[tuple[str, str, dict[str, int]]]:
    """Return what an engine does: a wait for nothing, or for less than another one, is nothing."""
    actions: list[tuple[str, str, dict[str, int]]] = []
    for event in events:
        waits: dict[str, int] = {}
        for wait in event.waits:
            if wait.threshold > waits.get(wait.counter, 0):
                waits[wait.counter] = wait.threshold
        actions.append((event.kind, event.name, waits))
    return actions


class Trial:
    """A synchronized program with all that its mutants share."""

    def __init__(self, synced: SyncProgram, inputs: Inputs, simulate: Simulate, seed: int) -> None:
        self.synced = synced
        self._inputs = inputs
        self._simulate = simulate
        self._seed = seed
        self._needs = list(reference(synced, inputs))
        self._events = expand(synced, inputs)
        self._verdict = self._judge(synced, self._events)

    def fate(self, mutant: Mutant) -> tuple[Fate, str]:
        """Return what becomes of a mutant, and what a missed one does or why it is equivalent."""
        changed = mutant.program.engine(mutant.engine)
        try:
            alone = expand(replace(self.synced, engines=(changed,)), self._inputs)
        except HeadwayError:
            return "caught", ""  # it does not even run
        if _actions(alone[mutant.engine]) == _actions(self._events[mutant.engine]):
            return "equivalent", SAME_ACTIONS  # thresholds do not depend on time: nothing differs
        if self._judge(mutant.program, {**self._events, **alone}) != self._verdict:
            return "caught", ""
        wrong = self._by_the_clock(mutant.program)
        return ("missed", wrong) if wrong else ("equivalent", SAME_TIMES)

    def _judge(self, synced: SyncProgram, events: dict[str, list[Event]]) -> str:
        replay = Replay(synced, self._needs, events)
        replay.run()
        return verdict(replay.findings, len(self._needs), replay.waits).verdict

    @cached_property
    def _runs(self) -> Sequence[tuple[Program, list[Issue]]]:
        programs = (
            with_random_durations(self.synced.program, random.Random(f"{self._seed}/{run}"))
            for run in range(RUNS)
        )
        return [(program, ideal(program, self._inputs)) for program in programs]

    def _by_the_clock(self, synced: SyncProgram) -> str:
        """Return what a program that should be like the original does wrong in some run, or ""."""
        for program, issues in self._runs:
            try:
                times = self._simulate(replace(synced, program=program), self._inputs)
            except HeadwayError as error:
                return str(error)
            wrong = violation(program, self._inputs, times)
            if not wrong and self._verdict == "exact":
                wrong = difference(issues, times)
            if wrong:
                return wrong
        return ""
