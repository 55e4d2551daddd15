"""Random programs whose registers are set earlier: they wait for the same, right or wrong."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from budget import programs

from headway.check import check
from headway.check.generate import Shape, generate
from headway.check.mutate import mutants
from headway.passes.advance_registers import PASS
from headway.passes.split_waits import PASS as SPLIT
from headway.strategies import load
from headway.sync import verify_sync
from headway.targets.generic import TARGET

pytestmark = pytest.mark.property

PROGRAMS = programs(one_in=10, least=40)
PARTS = 4
SHAPES = (Shape(), Shape(control_in_memory=True))
MISTAKES = ("wait-deleted", "threshold-raised", "threshold-lowered", "assign-dropped")
ONE_WAIT = replace(TARGET, waits_per_instruction=1)


@pytest.mark.parametrize("strategy", ["counted", "scoreboard"])
@pytest.mark.parametrize("part", range(PARTS))
def test_registers_that_are_set_earlier_say_the_same(strategy: str, part: int) -> None:
    moved = 0
    for seed in range(part, PROGRAMS, PARTS):
        case = generate(seed, SHAPES[seed // PARTS % len(SHAPES)])
        right = load(strategy).synchronize(case.program, TARGET)
        wrong = [mutant.program for mutant in mutants(right, MISTAKES)]
        for given in (right, *random.Random(seed).sample(wrong, min(len(wrong), 3))):
            before = SPLIT.apply(given, ONE_WAIT)
            after = PASS.apply(before, TARGET)
            verify_sync(after)
            moved += after != before
            old, new = check(before, case.inputs), check(after, case.inputs)
            assert (new.verdict, new.waits) == (old.verdict, old.waits), f"seed {seed}: {new}"
            assert set(new.findings) == set(old.findings), f"seed {seed}"
    assert moved > 0
