"""Random programs whose loops begin outside: as exact as before, with no more waits.

The text is read back, and both machines, the judge and the reference say the same.
"""

from __future__ import annotations

import random

import pytest
from budget import programs

from headway import sim
from headway.check import check
from headway.check.generate import Shape, generate
from headway.check.mutate import mutants
from headway.isa import lower
from headway.isa.timing import simulate
from headway.passes.peel_loops import PASS
from headway.strategies import load
from headway.sync import parse_sync, to_text, verify_sync
from headway.sync.program import SyncLoop, SyncProgram, walk_sync
from headway.sync.written_out import likewise
from headway.targets.generic import TARGET

pytestmark = pytest.mark.property

PROGRAMS = programs(one_in=10, least=40)
PARTS = 4
SHAPES = (Shape(), Shape(control_in_memory=True))

MISTAKES = ("wait-deleted", "threshold-raised", "threshold-lowered", "assign-dropped")


def begun(sync: SyncProgram) -> int:
    """Return how many loops begin outside."""
    nodes = (node for engine in sync.engines for node in walk_sync(engine.body))
    return sum(isinstance(node, SyncLoop) and node.first > 0 for node in nodes)


@pytest.mark.parametrize("part", range(PARTS))
def test_first_iterations_put_back_do_the_same_even_where_something_is_wrong(part: int) -> None:
    found = 0
    for seed in range(part, PROGRAMS // 4, PARTS):
        case = generate(seed)
        after = PASS.apply(load("counted").synchronize(case.program, TARGET), TARGET)
        if begun(after):
            found += 1
            wrong = [mutant.program for mutant in mutants(after, MISTAKES)]
            for sync in (after, *random.Random(seed).sample(wrong, min(len(wrong), 8))):
                back = likewise(sync)
                assert begun(back) == 0
                inputs = case.inputs
                old, new = check(sync, inputs), check(back, inputs)
                assert (old.verdict, old.waits) == (new.verdict, new.waits), f"seed {seed}"
    assert found > 0


@pytest.mark.parametrize("strategy", ["counted", "scoreboard"])
@pytest.mark.parametrize("part", range(PARTS))
def test_loops_that_begin_outside_wait_for_the_same(strategy: str, part: int) -> None:
    found = 0
    for seed in range(part, PROGRAMS, PARTS):
        case = generate(seed, SHAPES[seed // PARTS % len(SHAPES)])
        before = load(strategy).synchronize(case.program, TARGET)
        after = PASS.apply(before, TARGET)
        found += begun(after) > 0
        verify_sync(after)
        assert parse_sync(to_text(after)) == after, f"seed {seed}"
        old, new = check(before, case.inputs), check(after, case.inputs)
        assert (old.verdict, old.waits >= new.waits) == (new.verdict, True), f"seed {seed}: {new}"
        slow = check(after, case.inputs, implementation="reference")
        assert (slow.verdict, slow.waits) == (new.verdict, new.waits), f"seed {seed}"
        latency = sim.simulate(after, case.inputs, implementation="reference").latency
        assert latency == sim.simulate(after, case.inputs).latency, f"seed {seed}"
        assert latency == simulate(lower(after), case.inputs).latency, f"seed {seed}"
    assert found > 0
