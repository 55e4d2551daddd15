"""Targets whose waits compare with numbers only: groups of unrolled iterations between barriers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headway import kernels, targets
from headway.check import check
from headway.check.fuzz import violation
from headway.check.generate import Shape, generate
from headway.compiler import fit, synchronize
from headway.errors import UnsupportedByTarget
from headway.ir import parse
from headway.passes._unrolled import has_register_thresholds
from headway.passes.insert_epochs import filled
from headway.passes.unroll_thresholds import PASS
from headway.sim import simulate
from headway.sync import parse_sync, to_text
from headway.sync.program import SyncProgram
from headway.targets.generic import TARGET
from headway.targets.limits import limited

NUMBERS = limited(TARGET, {"thresholds": 0})
PAIR = """program @p { input n engine A engine B buffer b slots 2
  loop i n { A p writes(b[i % 2]) takes(10) B c reads(b[i % 2]) takes(30) } }"""


def engine_text(sync: SyncProgram, engine: str) -> str:
    inside = to_text(sync).partition(f"  engine {engine} {{\n")[2].partition("\n  }\n")[0]
    return " ".join(inside.split())


def violated(sync: SyncProgram, inputs: dict[str, int | list[int]]) -> str:
    tracks = simulate(sync, inputs, TARGET).tracks
    times = {track.counter: [(t.issue, t.done) for t in track] for track in tracks}
    return violation(sync.program, inputs, times)


def test_loop_is_unrolled_in_groups_and_the_rest_has_a_barrier_in_every_iteration() -> None:
    found = synchronize(parse(PAIR.replace("slots 2", "slots 3").replace("% 2", "% 3")), NUMBERS)
    assert engine_text(found, "A") == (
        "loop group.i n // 6 { if group.i > 0 { barrier } p p p"
        " p waits B >= 1 p waits B >= 2 p waits B >= 3 } barrier"
        " loop i n % 6 { if i > 0 { barrier } p }"
    )


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 16, 29])
def test_any_number_of_iterations_is_right(n: int) -> None:
    found = synchronize(parse(PAIR), NUMBERS)
    assert check(found, {"n": n}).verdict in ("exact", "late")
    assert violated(found, {"n": n}) == ""
    assert parse_sync(to_text(found)) == found


def test_short_loop_with_a_known_trip_count_is_straight_line_code() -> None:
    found = synchronize(
        parse(PAIR.replace("input n ", "").replace("loop i n", "loop i 12")), NUMBERS
    )
    assert "loop i " not in engine_text(found, "A")
    assert check(found, {}).verdict == "exact"


def test_slots_that_are_known_at_run_time_only_are_taken_for_one() -> None:
    program = parse(PAIR.replace("input n ", "input n input k[] ").replace("i % 2", "k[i] % 2"))
    found = synchronize(program, NUMBERS)
    assert "p waits B >= 1 p waits B >= 2" in engine_text(found, "A")
    inputs: dict[str, int | list[int]] = {"n": 9, "k": [0, 1, 1, 0, 1, 0, 0, 1, 1]}
    assert check(found, inputs).verdict == "late"
    assert violated(found, inputs) == ""


def test_no_group_is_longer_than_the_semaphores_are_wide() -> None:
    target = limited(NUMBERS, {"width": 2, "signed": 0})
    found = synchronize(parse(PAIR), target)
    assert filled(found, 3) == ()
    assert check(found, {"n": 11}).verdict in ("exact", "late")


@pytest.mark.thorough
@pytest.mark.parametrize("strategy", ["counted", "scoreboard", "barrier"])
def test_random_programs_compare_with_numbers_only_and_are_never_early(strategy: str) -> None:
    for seed in range(4):
        case = generate(seed, Shape(9, 200, control_in_memory=seed % 3 == 0))
        found = synchronize(case.program, NUMBERS, strategy)
        assert not has_register_thresholds(found)
        assert all(not engine.registers for engine in found.engines)
        verdict = check(found, case.inputs)
        assert verdict.verdict in ("exact", "late"), f"seed {seed}: {verdict}"
        assert violated(found, case.inputs) == "", f"seed {seed}"


@pytest.mark.parametrize("name", ["calibration-loop", "matmul", "sync-chain"])
def test_kernels_are_faster_than_with_the_fewest_barriers(name: str) -> None:
    kernel, target = kernels.load(name), limited(targets.load("trn2"), {"thresholds": 0})
    found, report = fit(kernel.program(), target)
    barrier = synchronize(kernel.program(), "trn2", "barrier")
    inputs = {key: min(v, 24) if isinstance(v, int) else v for key, v in kernel.inputs.items()}
    latency = simulate(found, inputs, target).latency
    assert 1.5 * latency < simulate(barrier, inputs, target).latency
    assert [str(concession) for concession in report.concessions] == [
        "barriers between groups of iterations: thresholds have to be numbers"
    ]


def test_programs_without_registers_and_targets_with_them_stay_as_they_are() -> None:
    counted = synchronize(parse(PAIR), TARGET)
    assert PASS.apply(counted, TARGET) == counted
    barrier = synchronize(parse(PAIR), TARGET, "barrier")
    assert PASS.apply(barrier, NUMBERS) == barrier


def test_pass_alone_cannot_ask_the_strategy_again() -> None:
    with pytest.raises(UnsupportedByTarget) as caught:
        PASS.apply(synchronize(parse(PAIR), TARGET), replace(NUMBERS, name="small"))
    assert str(caught.value) == (
        "error: a wait compares with a register\n"
        "  rule: a threshold of target 'small' is a number\n"
        "  help: run the pass unroll-thresholds with the strategy that made the program"
    )


def test_box_with_run_time_bounds_stays_all_of_its_slot_where_they_are_known() -> None:
    program = parse("""program @p { input n engine A engine B buffer b shape(8) loop i n {
      A p writes(b[0][i % 4 : 4]) takes(9) B q reads(b[0][0:1]) takes(1) } }""")
    synced = synchronize(program, limited(TARGET, {"thresholds": 0}))
    assert check(synced, {"n": 9}).verdict in ("exact", "late")
