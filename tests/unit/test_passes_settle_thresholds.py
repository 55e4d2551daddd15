"""Sums and negative thresholds are computed in front of the wait where the target has none."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headway.check import check
from headway.check.generate import Shape, generate
from headway.ir import parse
from headway.passes.settle_thresholds import PASS
from headway.strategies.counted import STRATEGY
from headway.sync import to_text, verify_sync
from headway.sync.expand import expand
from headway.sync.program import Exec, SyncProgram, Waits, walk_sync
from headway.targets import bind
from headway.targets.generic import TARGET

UNSIGNED = replace(TARGET, semaphores=replace(TARGET.semaphores, is_signed=False))
NO_SUMS = replace(TARGET, has_register_sums=False)
ROTATING = """program @p { input n engine PE engine SP queue Q on SP buffer b slots 2
  loop i n { SP ld triggers(Q) writes(b[i % 2]) PE mm reads(b[i % 2]) } }"""


def synced(source: str) -> SyncProgram:
    return STRATEGY.synchronize(bind(parse(source), TARGET), TARGET)


def thresholds(sync: SyncProgram, inputs: dict[str, int | list[int]]) -> list[int]:
    events = expand(sync, inputs).values()
    return [wait.threshold for found in events for event in found for wait in event.waits]


def test_negative_threshold_becomes_0_for_semaphores_without_sign():  # H3
    before = synced(ROTATING)
    after = PASS.apply(before, UNSIGNED)
    verify_sync(after)
    assert min(thresholds(before, {"n": 3})) == -1
    assert min(thresholds(after, {"n": 3})) == 0
    assert "threshold.1 := max(shadow.PE - 1, 0)\n      ld waits PE >= threshold.1" in to_text(
        after
    )
    assert "mm waits Q >= shadow.Q + 1" in to_text(after)


def test_target_that_can_do_both_changes_nothing():
    assert PASS.apply(synced(ROTATING), TARGET) == synced(ROTATING)


@pytest.mark.thorough
@pytest.mark.parametrize("target", [UNSIGNED, NO_SUMS], ids=["unsigned", "no sums"])
def test_random_programs_keep_their_verdict(target: object):
    assert target in (UNSIGNED, NO_SUMS)
    chosen = UNSIGNED if target is UNSIGNED else NO_SUMS
    for seed in range(16):
        case = generate(seed, Shape(9, 400, control_in_memory=seed % 2 == 0))
        before = STRATEGY.synchronize(case.program, TARGET)
        after = PASS.apply(before, chosen)
        verify_sync(after)
        found, given = check(after, case.inputs), check(before, case.inputs)
        assert found.verdict == given.verdict, f"seed {seed}: {found}"
        if chosen is UNSIGNED:
            assert min(thresholds(after, case.inputs), default=0) >= 0, f"seed {seed}"
        else:
            nodes = (node for e in after.engines for node in walk_sync(e.body))
            waits = [w for n in nodes if isinstance(n, Exec | Waits) for w in n.waits]
            assert not any(w.threshold.register and w.threshold.offset for w in waits)
