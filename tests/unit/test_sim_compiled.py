"""The compiled simulator finds exactly what the reference finds, errors included."""

import random
import sys
from dataclasses import replace

import pytest

from headway import strategies, targets
from headway.check.generate import Shape, generate, with_random_durations
from headway.errors import HeadwayError, InvalidInput, InvalidProgram
from headway.ir.expr import Inputs
from headway.kernels import load
from headway.sim import Timeline, simulate
from headway.sync import parse_sync
from headway.sync.program import SyncProgram
from headway.targets import Figure, Target, bind

pytest.importorskip("numba")

GENERIC, TRN1 = targets.load("generic"), targets.load("trn1")
OPEN = replace(TRN1, name="open", engines=(), default=Figure(10, "this test"))
"""All costs of trn1, but engines of any name."""
SLOW_SEQUENCER = replace(
    OPEN, name="slow-sequencer", sequencer=replace(OPEN.sequencer, overlaps=False)
)
APART = replace(OPEN, name="apart", dma=replace(OPEN.dma, is_shared=False))
MACHINES = (GENERIC, OPEN, SLOW_SEQUENCER, APART)


def facts(timeline: Timeline) -> tuple[object, ...]:
    return replace(timeline, tracks=()), [[track.counter, *track] for track in timeline.tracks]


def assert_same(sync: SyncProgram, inputs: Inputs, target: Target) -> Timeline:
    reference = simulate(sync, inputs, target, "reference")
    assert facts(reference) == facts(simulate(sync, inputs, target, "compiled"))
    return reference


@pytest.mark.thorough
@pytest.mark.parametrize("control_in_memory", [False, True])
@pytest.mark.parametrize("name", ["barrier", "barrier-always", "scoreboard", "counted", "flags"])
def test_random_programs_take_the_same_time(name: str, control_in_memory: bool) -> None:
    strategy = strategies.load(name)
    shape = Shape(instructions=12, instances=200, control_in_memory=control_in_memory)
    for seed in range(12):
        case = generate(seed, shape)
        target = MACHINES[seed % len(MACHINES)]
        bound = with_random_durations(bind(case.program, target), random.Random(seed))
        assert_same(strategy.synchronize(bound, target), case.inputs, target)


@pytest.mark.thorough
def test_long_runs_take_the_same_time() -> None:
    bound = bind(load("calibration-loop").program(), TRN1)
    sync = strategies.load("scoreboard").synchronize(bound, TRN1)
    assert len(assert_same(sync, {"n": 3000}, TRN1)) == 12_000  # more than there is room for


def manual(program: str, engine: str) -> SyncProgram:
    text = f"sync @p strategy manual target generic {{ program @p {{ {program} }}\n{engine} }}"
    return parse_sync(text, "p.hwy")


def both_refuse(sync: SyncProgram, inputs: Inputs, kind: type[HeadwayError], **options: int) -> str:
    """Return the text of the error, the same from both simulators."""
    texts: set[str] = set()
    for engine in ("reference", "compiled"):
        with pytest.raises(kind) as error:
            simulate(sync, inputs, implementation=engine, limit=options.get("limit", 1000))
        texts.add(str(error.value))
    assert len(texts) == 1
    return texts.pop()


EXPRESSIONS = """
    input a
    input b
    input m[]
    loop i {0} {{ A x takes(1) }}
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    "trip",
    [
        "a + b * 3 - 4",
        "min(a, b) + max(a, b)",
        "(a // b) + (a % b)",
        "(0 - a) // b + 8",
        "(0 - a) % b",
        "(a < b) + (a <= b) + (a > b) + (a >= b) + (a == b) + (a != b)",
        "a and b",
        "a or b",
        "b == 0 and 1 // b",
        "b != 0 or 1 // b",
        "m[a % 3] + m[2]",
        "m[m[0]]",
    ],
)
@pytest.mark.parametrize(("a", "b"), [(7, 2), (2, 7), (3, 3), (7, 1)])
def test_expressions_have_the_same_value(trip: str, a: int, b: int) -> None:
    sync = manual(EXPRESSIONS.format(trip), f"engine A {{ loop i {trip} {{ x }} }}")
    assert_same(sync, {"a": a, "b": b, "m": [1, 4, 2]}, GENERIC)


def test_registers_keep_their_values_between_iterations() -> None:
    program = "input n\nloop i n { loop j i { A x takes(1) } }"
    engine = """
        engine A {
          registers r, row[3]
          loop i n {
            row[i % 3] := row[i % 3] + r + i
            r := r + row[(i + 1) % 3]
            loop j (min(r, 4)) { wait A >= row[2] - 100  x }
          }
        }
    """
    assert len(assert_same(manual(program, engine), {"n": 8}, GENERIC)) > 10


def test_missing_input_is_the_same_problem() -> None:
    sync = manual("input n\nloop i n { A x }", "engine A { loop i n { x } }")
    sync = replace(sync, program=bind(sync.program, GENERIC))
    assert both_refuse(sync, {}, InvalidInput) == (
        "error: run-time input 'n' is missing; the program needs a number\n  help: --input n=3"
    )
    assert both_refuse(sync, {"n": [1]}, InvalidInput).startswith(
        "error: run-time input 'n' is [1]"
    )


def test_missing_input_matters_only_where_it_is_used() -> None:
    program = "input k\ninput n\nif k { loop i n { A x takes(1) } }"
    sync = manual(program, "engine A { if k { loop i n { x } } }")
    assert_same(sync, {"k": 0}, GENERIC)


def test_negative_trip_is_the_same_problem() -> None:
    sync = manual("input n\nloop i n { A x takes(1) }", "engine A { loop i n { x } }")
    assert both_refuse(sync, {"n": -2}, InvalidInput) == (
        "p.hwy:3:12: error: loop 'i' would run -2 times\n  rule: a trip count is 0 or more"
    )


def test_division_by_zero_is_the_same_problem() -> None:
    trip = "4 // (n - 1)"
    sync = manual(
        f"input n\nloop i {trip} {{ A x takes(1) }}", f"engine A {{ loop i {trip} {{ x }} }}"
    )
    assert both_refuse(sync, {"n": 1}, InvalidInput) == (
        "p.hwy:3:12: error: division by zero in '4 // (n - 1)'"
    )


def test_element_outside_an_input_is_the_same_problem() -> None:
    sync = manual(
        "input m[]\ninput n\nloop i m[n] { A x takes(1) }", "engine A { loop i m[n] { x } }"
    )
    assert both_refuse(sync, {"m": [1, 2], "n": 2}, InvalidInput) == (
        "p.hwy:4:12: error: 'm' has 2 elements and element 2 was asked for\n"
        "  help: make it longer, or index it modulo its length"
    )


def test_element_outside_a_row_of_registers_is_the_same_problem() -> None:
    program = "input n\nA x takes(1)"
    sync = manual(program, "engine A { registers r[2]\nr[n] := 1\nx }")
    assert both_refuse(sync, {"n": 5}, InvalidInput) == (
        "p.hwy:4:1: error: register 'r' has 2 elements and element 5 was set"
    )
    sync = manual(program, "engine A { registers r\nx waits A >= r[n] }")
    assert both_refuse(sync, {"n": 5}, InvalidInput).startswith(
        "p.hwy:4:9: error: 'r' has 1 element and element 5 was asked for"
    )


def test_loop_that_does_not_end_is_the_same_problem() -> None:
    sync = manual("while t (t >= 0) { A x takes(1) }", "engine A { while t (t >= 0) { x } }")
    assert both_refuse(sync, {}, InvalidInput) == (
        "p.hwy:2:12: error: still running after 1,000 instances and iterations\n"
        "  rule: an engine program ends\n"
        "  help: check the condition or the trip count of the loop, or raise the limit"
    )


def test_limit_is_not_passed_by_a_run_that_just_fits() -> None:
    sync = manual("loop i 500 { A x takes(1) }", "engine A { loop i 500 { x } }")
    for engine in ("reference", "compiled"):
        assert len(simulate(sync, {}, implementation=engine, limit=1000)) == 500
    assert "999" in both_refuse(sync, {}, InvalidInput, limit=999)


def test_deadlock_names_every_engine_with_what_it_waits_for() -> None:
    sync = manual(
        "A x takes(1)\nA x2 takes(1)\nB y takes(1)\nC z takes(1)\nD v takes(1)",
        """
        engine A { exec x  x2 waits B >= 1 }
        engine B { y waits A >= 2 }
        engine C { barrier z }
        engine D { exec v }
        """,
    )
    assert both_refuse(sync, {}, InvalidProgram) == (
        "p.hwy:7:37: error: deadlock: no engine can go on\n"
        "  note: p.hwy:7:37: 'A' waits for B >= 1, which has reached 0\n"
        "  note: p.hwy:8:28: 'B' waits for A >= 2, which has reached 1\n"
        "  note: p.hwy:9:20: 'C' stands at a barrier\n"
        "  note: 'D' has ended\n"
        "  rule: a wait is for a signal that comes; at a barrier all engines meet\n"
        "  help: `headway check` tells which wait asks for too much"
    )


def test_values_beyond_62_bits_are_left_to_the_reference() -> None:
    program = "input n\nloop i (n * n * n * n * n > 7) { A x takes(1) }"
    sync = manual(program, "engine A { loop i (n * n * n * n * n > 7) { x } }")
    for n in (2**15, 2**64):
        assert len(simulate(sync, {"n": n}, implementation="reference")) == 1
        with pytest.raises(InvalidInput) as error:
            simulate(sync, {"n": n}, implementation="compiled")
        assert str(error.value) == (
            "error: a value does not fit the 62 bits of the compiled simulator\n"
            "  help: take the reference simulator"
        )


@pytest.mark.thorough
def test_auto_takes_the_reference_for_short_runs_and_the_compiled_one_for_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from headway.sim import compiled

    runs: list[int] = []

    def count(*args: object) -> Timeline:
        runs.append(1)
        return real(*args)  # type: ignore[arg-type]

    real = compiled.run
    monkeypatch.setattr(compiled, "run", count)
    sync = manual("input n\nloop i n { A x takes(1) }", "engine A { loop i n { x } }")
    assert len(simulate(sync, {"n": 10})) == 10
    assert runs == []
    assert len(simulate(sync, {"n": 30_000})) == 30_000
    assert runs == [1]


def test_auto_does_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(_: str) -> None:
        """Find no module."""

    monkeypatch.setattr("importlib.util.find_spec", nothing)
    monkeypatch.setattr(sys.modules["headway.sim.simulate"], "SHORT", 10)
    sync = manual("loop i 20 { A x takes(1) }", "engine A { loop i 20 { x } }")
    assert len(simulate(sync, {})) == 20
    with pytest.raises(InvalidInput) as error:
        simulate(sync, {}, implementation="compiled")
    assert str(error.value) == (
        "error: the compiled simulator needs numba, which is not installed\n"
        "  help: install headway[fast], or take the reference simulator"
    )


def test_unknown_simulator_is_named() -> None:
    sync = manual("A x takes(1)", "engine A { exec x }")
    with pytest.raises(InvalidInput) as error:
        simulate(sync, {}, implementation="compile")
    assert str(error.value) == (
        "error: unknown simulator 'compile'\n"
        "  help: did you mean 'compiled'? known: auto, reference, compiled"
    )
