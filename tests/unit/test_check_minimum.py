"""The fewest waits with which a run is not early."""

from __future__ import annotations

import pytest

from headway.check import check
from headway.check.generate import Shape, generate
from headway.check.minimum import fewest_waits
from headway.ir import parse
from headway.strategies.counted import STRATEGY
from headway.targets import bind
from headway.targets.generic import TARGET


def fewest(body: str, **inputs: int) -> int:
    return fewest_waits(bind(parse(f"program @p {{ {body} }}"), TARGET), inputs)


def test_wait_that_another_wait_of_the_instruction_implies_is_not_needed():
    body = """buffer b buffer c engine A engine B engine C
      A p writes(b) B q reads(b) writes(c) C r reads(b, c)"""
    assert fewest(body) == 2


def test_wait_for_what_the_engine_has_seen_is_not_needed_again():
    assert fewest("buffer b input n A p writes(b) loop i n { B q reads(b) }", n=5) == 1


def test_each_iteration_that_depends_on_the_one_before_needs_its_waits():
    body = "input n buffer b loop i n { A p writes(b) B q reads(b) }"
    assert fewest(body, n=4) == 4 + 3
    assert fewest(body, n=0) == 0


def test_serial_engine_needs_no_wait_for_itself_and_a_pipelined_one_does():
    body = "buffer b A p writes(b) A q reads(b)"
    assert fewest(body) == 0
    assert fewest(f"engine A pipelined {body}") == 1


@pytest.mark.parametrize("seed", range(40))
def test_exact_program_never_executes_fewer(seed: int):
    case = generate(seed, Shape(9, 400))
    verdict = check(STRATEGY.synchronize(case.program, TARGET), case.inputs)
    assert verdict.verdict == "exact"
    assert verdict.waits >= fewest_waits(case.program, case.inputs)
