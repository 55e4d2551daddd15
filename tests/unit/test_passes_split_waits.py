"""Surplus waits stand in front of their instruction."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headway.check import check
from headway.check.generate import Shape, generate
from headway.ir import parse
from headway.passes.split_waits import PASS
from headway.strategies.scoreboard import STRATEGY
from headway.sync import to_text, verify_sync
from headway.sync.program import Exec, Load, SyncProgram, walk_sync
from headway.targets import bind
from headway.targets.generic import TARGET


def split(sync: SyncProgram, most: int) -> SyncProgram:
    found = PASS.apply(sync, replace(TARGET, waits_per_instruction=most))
    verify_sync(found)
    return found


def test_wait_for_a_transfer_is_attached_and_the_other_stands_before():
    source = """program @p { engine A engine B engine C queue Q on A buffer x buffer y
      A ld triggers(Q) writes(x) B w writes(y) C c reads(x, y) }"""
    text = to_text(split(STRATEGY.synchronize(bind(parse(source), TARGET), TARGET), 1))
    assert "    wait B >= write.B.y\n    c waits Q >= write.Q.x\n" in text


def test_waits_of_a_load_before_a_loop_stand_before_the_loop():
    source = """program @p { input n engine A engine B engine C buffer v
      A w writes(v) loop i n load l reads(v) { C x } }"""
    text = to_text(split(STRATEGY.synchronize(bind(parse(source), TARGET), TARGET), 0))
    assert "    wait A >= write.A.v\n    loop i n load l {" in text


@pytest.mark.parametrize("most", [0, 1, 2])
def test_no_instruction_carries_more_than_it_can_and_nothing_changes(most: int):
    for seed in range(12):
        case = generate(seed, Shape(9, 400, control_in_memory=True))
        before = STRATEGY.synchronize(case.program, TARGET)
        after = split(before, most)
        found, given = check(after, case.inputs), check(before, case.inputs)
        assert (found.verdict, found.waits) == (given.verdict, given.waits)
        assert set(found.findings) == set(given.findings)
        for engine in after.engines:
            nodes = list(walk_sync(engine.body))
            carriers = [node for node in nodes if isinstance(node, Exec | Load)]
            assert all(len(node.waits) <= most for node in carriers)
