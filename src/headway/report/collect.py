"""What a report is made of: for each strategy its run, its program as text, and what it requires.

The text of a synchronized program is read again, so that every step of a run knows its line of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from headway import targets
from headway.comparison import IDEAL
from headway.errors import InvalidInput, Location, OverLimit, UnsupportedByTarget
from headway.fitting import BASELINE, fit
from headway.ir import parse, to_text, verify
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.ir.walk import instructions
from headway.passes.report import Report
from headway.sim import Timeline, simulate, simulate_ideal
from headway.spec import MAX_INSTANCES, required
from headway.sync import parse_sync
from headway.sync import to_text as sync_text
from headway.sync.program import SyncProgram
from headway.targets import Target

STRATEGIES = (BASELINE, "counted")
"""What is shown if nothing is chosen."""

LISTING = "report"
"""The file name of texts that are read again."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One strategy: its run with a log, the text that lines refer to, and what it needs.

    `synced` is None for the ideal machine, which has no engine programs.
    """

    strategy: str
    timeline: Timeline
    text: str
    program: Program
    synced: SyncProgram | None
    needs: Report | None


Requirements = Mapping[str, list[Mapping[str, int]]]
"""For each counter and instance: which position of which counters it requires."""


@dataclass(frozen=True, slots=True)
class Collected:
    """Everything that a report shows.

    `sources` is where each instruction stands in the file that the program came from;
    `unsupported` says why a strategy is not shown.
    """

    program: str
    target: str
    inputs: Inputs
    ideal: float
    runs: tuple[Shown, ...]
    sources: Mapping[str, Location]
    requirements: Requirements
    unsupported: Mapping[str, str]


def collect(
    program: Program,
    inputs: Inputs,
    target: str | Target = "trn2",
    strategies: Iterable[str] | None = None,
    *,
    progress: Callable[[str], None] = lambda strategy: None,
    passes: Iterable[str] | None = None,
) -> Collected:
    """Run a program with the strategies named, in that order; `progress` is told each before.

    Raise as `headway.compiler.compare` does, and InvalidInput if no strategy can be shown.
    """
    on = targets.load(target) if isinstance(target, str) else target
    verify(program)
    bound = targets.bind(program, on)
    steps = None if passes is None else tuple(passes)
    progress(IDEAL)
    names = tuple(dict.fromkeys(STRATEGIES if strategies is None else strategies))
    ideal = _ideal(bound, inputs, on, detail=IDEAL in names)
    runs: list[Shown] = []
    unsupported: dict[str, str] = {}
    for name in names:
        if name == IDEAL:
            runs.append(ideal)
            continue
        progress(name)
        try:
            runs.append(_strategy(program, inputs, on, name, steps))
        except UnsupportedByTarget as error:
            unsupported[name] = error.diagnostics[0].message
    if not runs:
        reasons = [f"{name}: {why}" for name, why in unsupported.items()]
        raise InvalidInput("; ".join(["no strategy to show", *reasons]))
    progress("what is required")
    sources = {i.name: i.at for i in instructions(program.body) if i.at}
    return Collected(
        program.name,
        on.name,
        inputs,
        ideal.timeline.latency,
        tuple(runs),
        sources,
        requirements(bound, inputs),
        unsupported,
    )


def _ideal(bound: Program, inputs: Inputs, on: Target, detail: bool) -> Shown:
    text = to_text(bound)
    listed = parse(text, LISTING)
    timeline = simulate_ideal(listed, inputs, on, detail=detail)
    return Shown(IDEAL, timeline, text, listed, None, None)


def _strategy(
    program: Program, inputs: Inputs, on: Target, name: str, passes: tuple[str, ...] | None
) -> Shown:
    synced, needs = fit(program, on, name, passes)
    text = sync_text(synced)
    listed = parse_sync(text, LISTING)
    timeline = replace(simulate(listed, inputs, on, detail=True), strategy=name)
    return Shown(name, timeline, text, listed.program, listed, needs)


def requirements(program: Program, inputs: Inputs, limit: int = MAX_INSTANCES) -> Requirements:
    """Return what every instance requires; nothing if the program is too long for that."""
    found: dict[str, list[Mapping[str, int]]] = {}
    try:
        for instance, needed in required(program, inputs, limit=limit):
            found.setdefault(instance.counter, []).append(needed)
    except OverLimit:
        return {}
    return found
