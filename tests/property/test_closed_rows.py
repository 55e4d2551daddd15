"""Rows of captures that nests fill: computed from iterations, every instance waits for the same."""

from __future__ import annotations

from dataclasses import replace

import pytest
from budget import programs

from headway import passes
from headway.check import check
from headway.check.generate import Shape, generate
from headway.passes._closed_rows import candidates, row_computed
from headway.passes._mentions import Mentions
from headway.strategies import scoreboard
from headway.strategies.counted import Counted
from headway.strategies.strategy import Strategy
from headway.targets import bind
from headway.targets.generic import TARGET

pytestmark = pytest.mark.property

PROGRAMS = programs(one_in=10, least=60)
PARTS = 4
WALKS = Shape(8, 400, walks=0.5)
UNFITTED = [name for name in passes.ORDER if name != "assign-registers"]
AS_LOOPS = Counted(copies=False, unrolling=False)
ONE_WAIT = replace(TARGET, waits_per_instruction=1, has_register_sums=False)


@pytest.mark.parametrize("strategy", [AS_LOOPS, scoreboard.STRATEGY], ids=lambda s: s.name)
@pytest.mark.parametrize("part", range(PARTS))
def test_rows_that_are_computed_are_waited_for_likewise(strategy: Strategy, part: int) -> None:
    computed = 0
    for seed in range(part, PROGRAMS, PARTS):
        case = generate(seed, WALKS)
        synced = strategy.synchronize(bind(case.program, ONE_WAIT), ONE_WAIT)
        given, _ = passes.run(synced, ONE_WAIT, passes.chosen(UNFITTED, passes.REGISTRY))
        expected = check(given, case.inputs)
        for number, engine in enumerate(given.engines):
            for row in candidates(engine, Mentions()):
                found = row_computed(engine, row)
                if found:
                    engines = (*given.engines[:number], found, *given.engines[number + 1 :])
                    verdict = check(replace(given, engines=engines), case.inputs)
                    assert verdict == expected, f"seed {seed}, {row.name}: {verdict}"
                    computed += 1
    assert computed, "no nest fills a row"
