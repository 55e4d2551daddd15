"""Tiles that some instructions touch whole and others in parts: fewer captures, never late."""

from __future__ import annotations

from dataclasses import replace

import pytest
from budget import programs

from headway import passes
from headway.check import check
from headway.check.generate import Shape, generate
from headway.compiler import synchronize
from headway.sync.program import SyncProgram
from headway.targets.generic import TARGET

pytestmark = pytest.mark.property

PROGRAMS = programs(one_in=20, least=60)
PARTS = 4
BANDS = Shape(10, 300, bands=0.6)
WITHOUT = tuple(name for name in passes.ORDER if name != "merge-slots")
ONE_WAIT = replace(TARGET, waits_per_instruction=1, has_register_sums=False)


def registers(synced: SyncProgram) -> int:
    return sum(register.size for engine in synced.engines for register in engine.registers)


@pytest.mark.parametrize("strategy", ["counted", "scoreboard"])
@pytest.mark.parametrize("part", range(PARTS))
def test_captures_that_are_one_wait_for_the_same(strategy: str, part: int) -> None:
    merged = 0
    for seed in range(part, PROGRAMS, PARTS):
        case = generate(seed, BANDS)
        given = synchronize(case.program, ONE_WAIT, strategy, passes=WITHOUT)
        found = synchronize(case.program, ONE_WAIT, strategy)
        before, after = check(given, case.inputs), check(found, case.inputs)
        assert after.verdict == before.verdict, f"seed {seed}: {after}"
        assert after.waits <= before.waits, f"seed {seed}"
        merged += registers(found) < registers(given)
    assert merged, "no program has captures that can be one"
