"""Fit what a strategy makes to a target: the passes, and what is done where it has too little.

In     a program, a target, a strategy
Out    engine programs within the limits of the target, and a report of what was given up
Keeps  no instance early, no deadlock

Where registers are too few, captures share some, and no more than they have to. `barrier` needs
none, and takes over where even that does not fit. It may be the faster of the two before that,
which depends on the run: with inputs at hand both are simulated. More registers never make a wait
later, so that they never make the faster of the two slower.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from headway import passes as known_passes
from headway import strategies as known_strategies
from headway import targets
from headway.errors import Diagnostic, UnsupportedByTarget
from headway.ir import verify
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.passes import Concession
from headway.passes.cover_silent import covered
from headway.passes.gather_regions import gathered
from headway.passes.report import Report, report
from headway.sim import simulate
from headway.strategies import Strategy
from headway.sync import verify_sync
from headway.sync.program import SyncProgram
from headway.targets import Target

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
    bound, prepared = covered(gathered(targets.bind(program, on)), on)
    synced, concessions = _Fitting(bound, on, chosen, names).fitted(inputs)
    verify_sync(synced)
    return synced, report(synced, (*prepared, *concessions))


class _Fitted(NamedTuple):
    synced: SyncProgram
    concessions: tuple[Concession, ...]

    @property
    def shares(self) -> bool:
        """Whether captures share registers."""
        return any(concession.kind == "registers" for concession in self.concessions)


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
            first = self._passed(synced, self._on, self._strategy)
        except UnsupportedByTarget as error:
            return self._with_barriers(error)
        if inputs is None or not first.shares:
            return first
        return self._faster(first, inputs)

    def _faster(self, shared: _Fitted, inputs: Inputs) -> _Fitted:
        """Return engine programs that share registers, or the barriers that are faster."""
        try:
            barriers = self._with_barriers(
                UnsupportedByTarget(_is_faster(self._strategy, self._on))
            )
        except UnsupportedByTarget:
            return shared
        latencies = [simulate(x.synced, inputs, self._on).latency for x in (shared, barriers)]
        return barriers if latencies[1] < latencies[0] else shared

    def _passed(self, synced: SyncProgram, on: Target, strategy: Strategy) -> _Fitted:
        steps = known_passes.chosen(self._passes, known_passes.REGISTRY, strategy.synchronize)
        return _Fitted(*known_passes.run(synced, on, steps))

    def _with_barriers(self, error: UnsupportedByTarget) -> _Fitted:
        """Return what `barrier` makes of a program. Raise `error` if that does not fit either."""
        barrier = known_strategies.load(BASELINE)
        try:
            synced = barrier.synchronize(self._bound, self._on)
            found = self._passed(synced, self._on, barrier)
        except UnsupportedByTarget:
            raise error from None
        problem = error.diagnostics[0]
        message = f"synchronized by {BASELINE}: {problem.message}; {problem.rule}"
        return _Fitted(found.synced, (Concession("strategy", "", message), *found.concessions))


def _is_faster(strategy: Strategy, on: Target) -> Diagnostic:
    return Diagnostic(
        f"for these inputs it is faster than {strategy.name} with shared registers",
        rule=f"the target has {int(on.registers)} registers for each engine",
    )
