"""What late waits cost: the same program with a wait at its required threshold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headway.check.late import costs, late_waits
from headway.errors import InvalidInput
from headway.ir.expr import Inputs
from headway.sim import simulate
from headway.sync import parse_sync
from headway.sync.program import Semaphore, SyncProgram

EXAMPLE = Path(__file__).parents[2] / "examples" / "double-buffer.hwy"
DOUBLE_BUFFER = parse_sync(EXAMPLE.read_text(encoding="utf-8"), "double-buffer.hwy")


def latency(sync: SyncProgram, inputs: Inputs) -> float:
    return simulate(sync, inputs, "generic").latency


def test_late_wait_tells_its_thresholds_as_given_and_as_required():
    (late,) = late_waits(DOUBLE_BUFFER, {"n": 4})
    assert (late.engine, str(late.wait)) == ("scalar", "vector >= used")
    assert (late.given, late.required) == ((0, 1, 2, 3), (0, 0, 1, 2))
    assert (late.times, late.most) == (3, 1)


def test_cost_is_what_the_exact_program_saves():
    # One slot in effect: 9 x (100 + 150) ns; two slots: 100 + 9 x 150 ns.
    steps: list[str] = []
    (cost,) = costs(DOUBLE_BUFFER, {"n": 9}, latency, steps.append)
    assert (cost.latency, cost.ns) == (2250, 800)
    assert steps == ["what 1 late waits cost: 0 %"]
    exact = EXAMPLE.read_text(encoding="utf-8").replace("vector >= used", "vector >= used - 1")
    assert latency(parse_sync(exact), {"n": 9}) == 2250 - 800
    assert costs(parse_sync(exact), {"n": 9}, latency) == []


def test_late_wait_after_barriers_counts_from_the_last_one():
    text = """sync @t strategy manual target generic {
      program @t { engine A engine B A p takes(10) A q takes(10) B c takes(10) B d takes(10) }
      engine A { p barrier q } engine B { c barrier d waits A >= 1 } }"""
    (late,) = late_waits(parse_sync(text), {})
    assert (late.given, late.required) == ((1,), (-1,))


def test_wait_of_a_load_cannot_be_tried():
    text = """sync @t strategy manual target generic {
      program @t { input n engine A engine B buffer f
        B o takes(50) loop i n load l reads(f) { A p takes(10) } }
      engine A { loop i n load l waits B >= 1 { p } } engine B { o } }"""
    (cost,) = costs(parse_sync(text), {"n": 2}, latency)
    assert cost.ns is None
    assert cost.late.most == 1


def test_semaphores_that_no_count_fills_change_nothing():
    cells = (Semaphore(0, "scalar", 4), Semaphore(1, "vector", 4))
    (cost,) = costs(replace(DOUBLE_BUFFER, semaphores=cells), {"n": 9}, latency)
    assert (cost.latency, cost.ns) == (2250, 800)


def test_semaphores_that_wrap_are_refused():
    cells = (Semaphore(0, "scalar", 4), Semaphore(1, "vector", 4))
    with pytest.raises(InvalidInput, match="the semaphore of scalar has 4 bits and wraps"):
        late_waits(replace(DOUBLE_BUFFER, semaphores=cells), {"n": 16})
