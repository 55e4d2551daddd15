"""Try mutants: the judge has to catch every one that makes a difference.

In     random programs, synchronized, and their mutants
Out    caught      the judge finds something else than in the original
       equivalent  the engines do the same; or the judge finds the same, and under random durations
                   everything is issued at the same times: those of the ideal machine if the
                   original is exact, else those of the original; where instructions are silent,
                   nothing is issued too early
       missed      the judge finds the same, and the clock says otherwise: a hole in the judge
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

from headway.check.fuzz import Candidate, Simulate, Times, difference, in_turn, overtaken
from headway.check.generate import Shape, generate, with_random_durations
from headway.check.judge import Replay, reference
from headway.check.mutate import Mutant, mutants
from headway.errors import HeadwayError, UnsupportedByTarget
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.ir.walk import instructions
from headway.spec import Issue, ideal
from headway.sync.expand import Event, expand
from headway.sync.program import SyncProgram

RUNS = 5
"""How many assignments of random durations a mutant has to survive to count as equivalent."""

SMALL = Shape(instructions=9, instances=100)
"""Every program has hundreds of mutants, so the programs are small."""

Fate = Literal["caught", "equivalent", "missed"]

Found = tuple[str, str, str, int, int]
"""A finding: kind, instance, counter, threshold and what is required."""

SAME_ACTIONS = "the engines do the same"
IDEAL_TIMES = f"everything is issued when the ideal machine issues it, in {RUNS} runs"
SAME_TIMES = f"everything is issued when the original issues it, in {RUNS} runs"
NOTHING_EARLY = f"nothing is issued before what it depends on has completed, in {RUNS} runs"
"""How it is established that a mutant is equivalent: what it has changed is redundant."""


class Tried(NamedTuple):
    """What became of one mutant; `message` says what a missed one does, and why one is
    equivalent."""

    seed: int
    strategy: str
    kind: str
    engine: str
    place: str
    fate: Fate
    message: str = ""


@dataclass(frozen=True, slots=True)
class Mutation:
    """What every seed is tried with. All of it can be sent to another process.

    `is_in_turn`: with one of the candidates, the next one for the next seed.
    """

    candidates: tuple[Candidate, ...]
    simulate: Simulate
    shape: Shape = SMALL
    is_in_turn: bool = False

    def outcome(self, seed: int) -> list[Tried]:
        """Try every mutant of every candidate on the program of a seed."""
        case = generate(seed, self.shape)
        chosen = in_turn(self.candidates, seed) if self.is_in_turn else self.candidates
        return [
            Tried(seed, candidate.name, *mutant[:3], *trial.fate(mutant))
            for candidate in chosen
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
        self._found = self._judge(synced, self._events)

    def fate(self, mutant: Mutant) -> tuple[Fate, str]:
        """Return what becomes of a mutant, and what a missed one does or why it is equivalent."""
        changed = mutant.program.engine(mutant.engine)
        try:
            alone = expand(replace(self.synced, engines=(changed,)), self._inputs)
        except HeadwayError:
            return "caught", ""  # it does not even run
        if _actions(alone[mutant.engine]) == _actions(self._events[mutant.engine]):
            return "equivalent", SAME_ACTIONS  # thresholds do not depend on time: nothing differs
        if self._judge(mutant.program, {**self._events, **alone}) != self._found:
            return "caught", ""
        wrong = self._by_the_clock(mutant.program)
        if wrong:
            return "missed", wrong
        if self._has_silent:
            return "equivalent", NOTHING_EARLY
        return "equivalent", SAME_TIMES if self._found else IDEAL_TIMES

    def _judge(self, synced: SyncProgram, events: dict[str, list[Event]]) -> frozenset[Found]:
        """Return what the judge finds, apart from places and words; nothing if all is exact."""
        replay = Replay(synced, self._needs, events)
        replay.run()
        return frozenset(
            (f.kind, f.instance, f.counter, f.threshold, f.required) for f in replay.findings
        )

    @cached_property
    def _has_silent(self) -> bool:
        """Whether the ideal machine may be late: it waits for the signal that shows a silent
        instruction, though on a serial engine the issue of the next one shows it before."""
        return any(instr.silent for instr in instructions(self.synced.program.body))

    @cached_property
    def _runs(self) -> Sequence[tuple[Program, list[Issue], Times]]:
        """Runs with random durations: the program, the ideal machine, and the original."""
        return [
            (program, ideal(program, self._inputs), self._timed(self.synced, program))
            for run in range(RUNS)
            for program in (
                with_random_durations(self.synced.program, random.Random(f"{self._seed}/{run}")),
            )
        ]

    def _timed(self, synced: SyncProgram, program: Program) -> Times:
        return self._simulate(replace(synced, program=program), self._inputs)

    def _by_the_clock(self, synced: SyncProgram) -> str:
        """Return what a program that should be like the original does otherwise, or ""."""
        for program, issues, original in self._runs:
            try:
                times = self._timed(synced, program)
            except HeadwayError as error:
                return str(error)
            wrong = overtaken(program, self._needs, times)
            if not wrong and not self._found and not self._has_silent:
                wrong = difference(issues, times)
            if not wrong and self._found and not self._has_silent and times != original:
                wrong = "something is issued at another time than in the original"
            if wrong:
                return wrong
        return ""
