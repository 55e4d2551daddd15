"""Counts are computed from iterations where that is no more work."""

from __future__ import annotations

import pytest

from headway.check import check
from headway.check.generate import Shape, generate
from headway.compiler import synchronize
from headway.ir import parse
from headway.passes.compute_counts import PASS, work
from headway.passes.settle_thresholds import PASS as SETTLE
from headway.strategies import load
from headway.sync import to_text, verify_sync
from headway.sync.program import SyncProgram
from headway.targets.generic import TARGET
from headway.targets.limits import limited

NO_SUMS = limited(TARGET, {"sums": 0})
CHAIN = parse("""program @p { input n engine A engine B buffer b slots 2
  loop i n { A p writes(b[i % 2]) takes(10) B c reads(b[i % 2]) takes(10) } }""")
NEST = parse("""program @p { input n input m engine A engine B buffer b
  loop i n { loop j m { A p writes(b) B c reads(b) } } }""")


def engine_text(sync: SyncProgram, engine: str) -> str:
    return to_text(sync).partition(f"  engine {engine} {{\n")[2].partition("\n  }\n")[0]


def test_count_of_a_loop_is_its_iteration() -> None:
    assert engine_text(synchronize(CHAIN, NO_SUMS), "B") == (
        "    registers threshold.1\n"
        "    loop i n {\n"
        "      threshold.1 := i + 1\n"
        "      c waits A >= threshold.1\n"
        "    }"
    )


def test_count_is_kept_where_a_product_would_be_needed_in_the_inner_loop() -> None:
    assert "shadow.A := shadow.A + 1" in engine_text(synchronize(NEST, NO_SUMS), "B")


def test_count_is_kept_where_sums_cost_nothing() -> None:
    assert "c waits A >= shadow.A + 1" in engine_text(synchronize(CHAIN, TARGET), "B")


@pytest.mark.thorough
def test_random_programs_keep_their_verdict_and_do_no_more() -> None:
    less = 0
    for seed in range(12):
        case = generate(seed, Shape(9, 300, control_in_memory=seed % 3 == 0))
        given = SETTLE.apply(load("counted").synchronize(case.program, TARGET), NO_SUMS)
        found = PASS.apply(given, NO_SUMS)
        verify_sync(found)
        assert check(found, case.inputs).verdict == check(given, case.inputs).verdict
        for engine, before in zip(found.engines, given.engines, strict=True):
            assert work(engine)[::-1][-1:] <= work(before)[::-1][-1:] or len(work(engine)) < len(
                work(before)
            )
            less += sum(r.size for r in engine.registers) < sum(r.size for r in before.registers)
    assert less > 2


@pytest.mark.parametrize("strategy", ["counted", "scoreboard"])
def test_load_before_each_test_of_a_while_waits_for_what_the_last_turn_did(strategy: str) -> None:
    program = parse("""program @p { input go[] engine A engine B pipelined buffer f
      while t (go[t]) load c reads(f) { B p writes(f) takes(50, 9) A q takes(1) } }""")
    inputs = {"go": [1, 1, 1, 0]}
    verdict = check(synchronize(program, NO_SUMS, strategy), inputs)
    assert verdict.verdict in ("exact", "late")
