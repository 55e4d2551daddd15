"""From a program to engine programs, and several strategies beside each other.

`synchronize` is the whole pipeline: verify, bind to the target, synchronize, fit to what the target
can carry (`headway.fitting`), verify the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from headway import strategies as known_strategies
from headway import targets
from headway.comparison import IDEAL, Comparison, Measured
from headway.errors import UnsupportedByTarget
from headway.fitting import fit
from headway.ir import verify
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.passes.cover_silent import unmarked
from headway.sim import simulate, simulate_ideal
from headway.strategies import Strategy
from headway.sync.program import SyncProgram
from headway.targets import Target
from headway.targets.limits import unlimited


def synchronize(
    program: Program,
    target: str | Target = "trn2",
    strategy: str | Strategy = "counted",
    passes: Iterable[str] | None = None,
) -> SyncProgram:
    """Return the engine programs of `program`, bound to `target` and within its limits.

    `passes` names those that fit the result to the target; by default all that there are for that.
    Raise InvalidProgram if the program breaks a rule of the model, InvalidInput on an unknown
    target, strategy or pass, UnsupportedByTarget if the target or the strategy cannot carry the
    program.
    """
    return fit(program, target, strategy, passes)[0]


def compare(
    program: Program,
    inputs: Inputs,
    target: str | Target = "trn2",
    strategies: Iterable[str] | None = None,
    *,
    progress: Callable[[str], None] = lambda strategy: None,
    passes: Iterable[str] | None = None,
    cost: bool = False,
    why: bool = False,
) -> Comparison:
    """Synchronize with every strategy, or those named, simulate, and put them side by side.

    `progress` is told the name of each strategy before its turn; `passes` are as in `synchronize`.
    `inputs` also decide where registers are too few (`headway.fitting`).
    `cost` asks what the limits of the target cost, where something was given up for them; `why`,
    where the time goes.
    Raise InvalidProgram, and InvalidInput if the inputs do not fit the program. A strategy that
    cannot carry the program is listed with its reason.
    """
    on = targets.load(target) if isinstance(target, str) else target
    verify(program)
    chosen = known_strategies.names() if strategies is None else tuple(strategies)
    steps = None if passes is None else tuple(passes)
    progress(IDEAL)
    bound = unmarked(targets.bind(program, on))
    ideal = simulate_ideal(bound, inputs, on, detail=why)
    results = {IDEAL: Measured.of(ideal)}
    unsupported: dict[str, str] = {}
    for name in dict.fromkeys(chosen):
        if name == IDEAL:
            continue
        progress(name)
        try:
            synced, found = fit(program, on, name, steps, inputs)
            timeline = simulate(synced, inputs, on, detail=why)
            if cost and found.concessions:
                free = fit(unmarked(program), unlimited(on), name, steps)[0]
                found = found.with_cost(timeline.latency - simulate(free, inputs, on).latency)
            results[name] = Measured.of(timeline, found)
        except UnsupportedByTarget as error:
            unsupported[name] = error.diagnostics[0].message
    return Comparison(program.name, on.name, inputs, results, unsupported)
