"""Fit what a strategy makes to a target: the passes, and what is done where it has too little.

In     a program, a target, a strategy
Out    engine programs within the limits of the target, and a report of what was given up
Keeps  no instance early, no deadlock

Where semaphores are too few, transfers of one engine share a queue; where registers are, captures
share some, and no more than they have to. `barrier` needs few semaphores and no registers, and
takes over where even that does not fit; with fewer semaphores it has more barriers. It may be
faster before that, which depends on the run: with inputs at hand the variants that fit are
simulated. More registers never make a wait later, and with more semaphores all variants of fewer
fit too, so that neither makes the fastest of them slower.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from headway import passes as known_passes
from headway import strategies as known_strategies
from headway import targets
from headway.errors import Diagnostic, UnsupportedByTarget
from headway.ir import verify
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.passes import Concession
from headway.passes.assign_semaphores import TooFewSemaphores
from headway.passes.cover_silent import covered
from headway.passes.gather_regions import gathered
from headway.passes.limit_counters import limited_counters
from headway.passes.merge_queues import merged
from headway.passes.report import Report, report, semaphores
from headway.sim import simulate
from headway.strategies import Strategy
from headway.sync import verify_sync
from headway.sync.program import SyncProgram
from headway.targets import Target
from headway.targets.limits import limited

BASELINE = "barrier"


def fit(
    program: Program,
    target: str | Target = "trn2",
    strategy: str | Strategy = "counted",
    passes: Iterable[str] | None = None,
    inputs: Inputs | None = None,
) -> tuple[SyncProgram, Report]:
    """Return engine programs as `headway.compiler.synchronize` does, and report their needs.

    `inputs` are those of a trial that decides between shared registers and barriers, where there
    are too few registers; without them captures share registers as long as that is enough. Raise as
    `synchronize` does, and InvalidInput if the inputs do not fit.
    """
    chosen = known_strategies.load(strategy) if isinstance(strategy, str) else strategy
    on = targets.load(target) if isinstance(target, str) else target
    names = None if passes is None else tuple(passes)
    verify(program)
    bound, before = prepared(program, on)
    synced, concessions = _Fitting(bound, on, chosen, names).fitted(inputs)
    verify_sync(synced)
    return synced, report(synced, (*before, *concessions))


def prepared(program: Program, target: Target) -> tuple[Program, tuple[Concession, ...]]:
    """Return a program as strategies take it: bound, what the target cannot do made up for.

    Raise UnsupportedByTarget if that is impossible.
    """
    return covered(gathered(targets.bind(program, target)), target)


class _Fitted(NamedTuple):
    synced: SyncProgram
    concessions: tuple[Concession, ...]

    @property
    def shares(self) -> bool:
        """Whether captures share registers, or transfers queues."""
        return any(c.kind in ("registers", "semaphores") for c in self.concessions)


class _Fitting:
    """Fits one bound program."""

    def __init__(
        self, bound: Program, on: Target, strategy: Strategy, passes: tuple[str, ...] | None
    ) -> None:
        self._bound = bound
        self._on = on
        self._strategy = strategy
        self._passes = passes

    def fitted(self, inputs: Inputs | None) -> _Fitted:
        synced = self._strategy.synchronize(self._bound, self._on)
        try:
            first = self._merged(synced)
        except TooFewSemaphores as error:
            return self._fastest(self._barriers(error), inputs)
        except UnsupportedByTarget as error:
            return self._with_barriers(error, self._on)
        if inputs is None or not first.shares:
            return first
        reason = UnsupportedByTarget(_is_faster(self._strategy, self._on))
        return self._fastest(chain((first,), self._barriers(reason)), inputs)

    def _merged(self, synced: SyncProgram) -> _Fitted:
        """Return what the strategy makes, with queues in one as long as semaphores are too few."""
        bound, given_up = self._bound, list[Concession]()
        while True:
            try:
                found = self._passed(synced, self._on, self._strategy)
                return _Fitted(found.synced, (*given_up, *found.concessions))
            except TooFewSemaphores:
                fewer = merged(bound)
                if fewer is None:
                    raise
                bound, concession = fewer
                synced = self._strategy.synchronize(bound, self._on)
                given_up.append(concession)

    def _fastest(self, variants: Iterator[_Fitted], inputs: Inputs | None) -> _Fitted:
        """Return the first of the variants, or with inputs the one that they take least time with.

        Raise as the first of them does; the others are left out then.
        """
        first = next(variants)
        if inputs is None:
            return first
        found = [first]
        try:
            found += variants
        except UnsupportedByTarget:
            pass
        return min(found, key=lambda x: simulate(x.synced, inputs, self._on).latency)

    def _barriers(self, error: UnsupportedByTarget) -> Iterator[_Fitted]:
        """Yield what `barrier` makes, then with fewer semaphores than there are: all of it fits."""
        first = self._with_barriers(error, self._on)
        yield first
        for count in range(len(semaphores(first.synced)) - 1, -1, -1):
            yield self._with_barriers(error, limited(self._on, {"semaphores": count}))

    def _passed(self, synced: SyncProgram, on: Target, strategy: Strategy) -> _Fitted:
        steps = known_passes.chosen(self._passes, known_passes.REGISTRY, strategy.synchronize)
        return _Fitted(*known_passes.run(synced, on, steps))

    def _with_barriers(self, error: UnsupportedByTarget, on: Target) -> _Fitted:
        """Return what `barrier` makes of a program. Raise `error` if that does not fit either."""
        barrier = known_strategies.load(BASELINE)
        synced, given_up = barrier.synchronize(self._bound, on), ()
        try:
            if len(semaphores(synced)) > on.semaphores.count:
                synced, limit = limited_counters(synced, on, barrier.synchronize)
                given_up = (limit,)
            found = self._passed(synced, on, barrier)
        except UnsupportedByTarget:
            raise error from None
        problem = error.diagnostics[0]
        message = f"synchronized by {BASELINE}: {problem.message}; {problem.rule}"
        given_up = (Concession("strategy", "", message), *given_up, *found.concessions)
        return _Fitted(found.synced, given_up)


def _is_faster(strategy: Strategy, on: Target) -> Diagnostic:
    return Diagnostic(
        f"for these inputs it is faster than {strategy.name} with what it has to share",
        rule=f"target {on.name!r} has too few registers or semaphores",
    )
