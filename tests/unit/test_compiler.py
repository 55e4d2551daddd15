import json

import pytest

from headway import kernels, targets
from headway.check import check
from headway.comparison import Comparison, Measured, aligned, duration
from headway.compiler import compare, synchronize
from headway.errors import InvalidInput, InvalidProgram, UnsupportedByTarget
from headway.fitting import fit
from headway.ir import parse
from headway.ir.program import Program, Takes
from headway.ir.walk import instructions
from headway.targets.limits import limited

PAIR = parse("""\
program @pair {
  queue q on sync
  buffer x
  sync fetch triggers(q) writes(x) takes(50)
  vector add reads(x) takes(10)
}
""")
CHAIN = kernels.load("sync-chain").program()


def test_synchronize_binds_to_the_target() -> None:
    synced = synchronize(kernels.load("matmul").program(), "trn2", "scoreboard")
    assert (synced.target, synced.strategy) == ("trn2", "scoreboard")
    assert all(isinstance(i.cost, Takes) for i in instructions(synced.program.body))


def test_synchronize_verifies_what_it_is_given() -> None:
    with pytest.raises(InvalidProgram, match="program 'empty' has no instruction"):
        synchronize(Program("empty", ()))


def test_synchronize_says_what_it_does_not_know() -> None:
    with pytest.raises(InvalidInput, match="unknown strategy 'scorebord'"):
        synchronize(PAIR, strategy="scorebord")
    with pytest.raises(InvalidInput, match="unknown target 'trn9'"):
        synchronize(PAIR, "trn9")


def test_straight_line_code_is_as_fast_as_the_ideal_machine() -> None:
    comparison = compare(PAIR, {}, "generic", ["static", "scoreboard"])
    assert comparison.unsupported == {}
    latencies = {name: m.latency_ns for name, m in comparison.strategies.items()}
    assert {latencies[name] for name in ("ideal", "static", "scoreboard")} == {60.0}
    assert comparison.strategies["static"].waits == 1
    assert comparison.strategies["static"].semaphores == 1


def test_barriers_cost_latency_where_engines_could_overlap() -> None:
    comparison = compare(CHAIN, {"n": 50}, "generic", ["barrier", "scoreboard"])
    assert comparison.excess("scoreboard") == 0
    assert comparison.strategies["barrier"].barriers == 50
    assert comparison.speedup("scoreboard") == pytest.approx(50 * 3 / 52)
    assert comparison.strategies["scoreboard"].barriers == 0


def test_strategy_that_cannot_carry_the_program_is_listed_with_its_reason() -> None:
    comparison = compare(CHAIN, {"n": 2}, "generic", ["static", "scoreboard"])
    assert list(comparison.strategies) == ["ideal", "scoreboard"]
    assert comparison.unsupported == {"static": "'static' cannot synchronize loops and ifs"}
    assert str(comparison).endswith(
        "\nnot measured: static: 'static' cannot synchronize loops and ifs"
    )


def test_program_that_the_target_cannot_carry_is_refused_whole() -> None:
    with pytest.raises(UnsupportedByTarget, match="target 'trn2' has no engine 'PE'"):
        compare(parse("program @p { PE mm takes(5) }"), {}, "trn2")


def test_missing_input_is_reported_and_not_measured() -> None:
    with pytest.raises(InvalidInput, match="run-time input 'n' is missing"):
        compare(CHAIN, {}, "generic")


def test_no_iteration_leaves_nothing_to_compare() -> None:
    comparison = compare(CHAIN, {"n": 0}, "generic", ["barrier", "scoreboard"])
    assert comparison.excess("scoreboard") is None
    assert "sync-chain on generic, n = 0" in str(comparison)


def test_ideal_may_be_named_among_the_strategies() -> None:
    comparison = compare(PAIR, {}, "generic", ["ideal", "static", "static"])
    assert list(comparison.strategies) == ["ideal", "static"]


def test_table_puts_strategies_side_by_side() -> None:
    measured = {
        "ideal": Measured(1000, 0, 0),
        "barrier": Measured(3000, 10, 4, {"a": 0, "b": 0}, 1),
        "scoreboard": Measured(1250, 1200, 0, {"a": 3, "b": 5}, 2),
    }
    table = Comparison("loop", "trn2", {"n": 7}, measured, {})
    assert str(table).splitlines() == [
        "loop on trn2, n = 7",
        "strategy     latency  vs barrier  over ideal  waits  barriers  max registers  semaphores",
        "ideal       1,000 ns       3.00x       +0.0%      0         0              0           0",
        "barrier     3,000 ns       1.00x     +200.0%     10         4              0           1",
        "scoreboard  1,250 ns       2.40x      +25.0%  1,200         0              5           2",
    ]


def test_json_form_is_the_documented_one() -> None:
    form = json.loads(json.dumps(compare(CHAIN, {"n": 2}, "generic", ["scoreboard"]).to_json()))
    assert form["program"] == "sync-chain"
    assert form["target"] == "generic"
    assert form["inputs"] == {"n": 2}
    assert form["unsupported"] == {}
    scoreboard = form["strategies"]["scoreboard"]
    assert set(scoreboard) == {
        "latency_ns",
        "waits",
        "barriers",
        "registers",
        "semaphores",
        "concessions",
    }
    assert set(scoreboard["registers"]) == {"scalar", "vector", "gpsimd"}
    assert scoreboard["latency_ns"] == form["strategies"]["ideal"]["latency_ns"]


@pytest.mark.parametrize(
    ("ns", "text"),
    [(0, "0 ns"), (9999, "9,999 ns"), (12345, "12.35 us"), (2e7, "20.00 ms"), (6e10, "60.00 s")],
)
def test_durations_have_a_unit_that_suits(ns: float, text: str) -> None:
    assert duration(ns) == text


def test_columns_line_up() -> None:
    assert aligned([["a", "bb"], ["ccc", "d"]]) == ["a    bb", "ccc   d"]


@pytest.mark.thorough
def test_program_that_does_not_fit_is_synchronized_by_barriers_and_says_so() -> None:
    for limits, problem in (
        ({"registers": 0}, "scalar needs 1 register even if captures share them"),
        ({"semaphores": 2}, "3 semaphores are needed, for vector, gpsimd, scalar"),
    ):
        synced, needs = fit(CHAIN, limited(targets.load("trn2"), limits))
        assert (synced.strategy, needs.strategy) == ("barrier", "barrier")
        assert max(needs.registers.values()) == 0
        assert needs.concessions[0].kind == "strategy"
        assert problem in str(needs.concessions[0])


def test_without_semaphores_there_is_a_barrier_for_each_dependence() -> None:
    synced, needs = fit(CHAIN, limited(targets.load("trn2"), {"semaphores": 0}))
    assert needs.semaphores == 0
    assert check(synced, {"n": 5}).verdict == "late"


def test_report_is_worth_reading() -> None:
    _, needs = fit(CHAIN, limited(targets.load("trn2"), {"width": 4}))
    assert str(needs.with_cost(1234)).splitlines() == [
        "registers: scalar 1, vector 2, gpsimd 1; semaphores: 3",
        "given up: barriers before vector, gpsimd, scalar could be full: semaphores of 4 bits",
        "cost: +1,234 ns against the same target without limits",
    ]
