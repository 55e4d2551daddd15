"""Random programs, all strategies: the reasons of each engine and of the critical path sum up.

A failure writes the program to a file and names it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from budget import programs

from headway import strategies, targets
from headway.check.generate import Case, Shape, generate, with_random_durations
from headway.compiler import synchronize
from headway.errors import UnsupportedByTarget
from headway.ir import to_text
from headway.sim import Timeline, simulate, simulate_ideal
from headway.sim.attribution import Attribution, attribute, by_reason
from headway.sim.critical import critical_path
from headway.sim.reason import Reason
from headway.sim.run import Run
from headway.targets import Target, bind
from headway.targets.figures import Figure

pytestmark = pytest.mark.property

PARTS = 4
TRN1 = targets.load("trn1")
OPEN = replace(TRN1, name="open", engines=(), default=Figure(10, "this test"))
"""All costs of trn1, but engines of any name."""
SLOW_SEQUENCER = replace(
    OPEN, name="slow-sequencer", sequencer=replace(OPEN.sequencer, overlaps=False)
)
APART = replace(OPEN, name="apart", dma=replace(OPEN.dma, is_shared=False))
MACHINES = (targets.load("generic"), OPEN, SLOW_SEQUENCER, APART)


def timelines(case: Case, target: Target) -> Iterator[Timeline]:
    """Simulate a program with random durations on the ideal machine and with every strategy."""
    dice = random.Random(case.seed)
    program = with_random_durations(bind(case.program, target), dice)
    yield simulate_ideal(program, case.inputs, target, detail=True)
    for name in strategies.names():
        try:
            synced = synchronize(program, target, name)
        except UnsupportedByTarget:
            continue
        yield simulate(synced, case.inputs, target, detail=True)


def problem(timeline: Timeline, found: Attribution) -> str:
    """Return what is wrong with an attribution, "" if nothing is."""
    for place, totals in {**found.engines, **found.queues, "path": found.path}.items():
        if sum(totals.values()) != found.latency:
            return f"{timeline.strategy}: {place} sums to {sum(totals.values())} ps"
    for engine in timeline.engines:
        working = by_reason(found.engines[engine.engine]).get(Reason.WORKING, 0)
        if working != round(engine.busy * 1000):
            return f"{timeline.strategy}: {engine.engine} works {working} ps"
    at = 0
    for span in critical_path(Run(timeline)):
        if span.begin != at or span.end <= at:
            return f"{timeline.strategy}: the critical path has a gap at {at} ps"
        at = span.end
    return "" if at == found.latency else f"{timeline.strategy}: the critical path ends at {at} ps"


@pytest.mark.parametrize("part", range(PARTS))
def test_reasons_sum_to_the_latency_exactly(part: int, tmp_path: Path) -> None:
    for seed in range(part, programs(one_in=100, least=2 * PARTS), PARTS):
        case = generate(seed, Shape(control_in_memory=seed % 3 == 0))
        for timeline in timelines(case, MACHINES[seed // PARTS % len(MACHINES)]):
            if found := problem(timeline, attribute(timeline)):
                path = tmp_path / f"seed-{seed}.hwy"
                path.write_text(to_text(case.program))
                pytest.fail(f"seed {seed}: {found}; inputs {case.inputs}; program in {path}")


def test_wrong_logs_do_not_sum() -> None:
    timeline = next(timelines(generate(1), OPEN))
    assert timeline.log is not None
    assert problem(timeline, attribute(timeline)) == ""
    steps = next(engine.steps for engine in timeline.log.engines if len(engine.steps))
    steps.ends[-1] = timeline.log.model.costs.hop + round(timeline.latency * 1000) + 1
    assert problem(timeline, attribute(timeline)) != ""
