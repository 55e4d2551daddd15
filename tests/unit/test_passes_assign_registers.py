"""Too few registers: shared and computed where that is exact, else coarser captures."""

from __future__ import annotations

from dataclasses import replace

import pytest
from effort import effort

from headway import kernels, targets
from headway.check import check
from headway.check.generate import Shape, generate
from headway.compiler import fit, synchronize
from headway.errors import UnsupportedByTarget
from headway.ir import parse
from headway.passes._captures import Coarser, choices
from headway.passes._closed_forms import computed
from headway.passes._sharing import shared
from headway.passes.assign_registers import PASS, exact_attempts, register_count
from headway.sim import simulate
from headway.strategies import load
from headway.strategies.counted import STRATEGY
from headway.sync import parse_sync, to_text, verify_sync
from headway.sync.program import EngineProgram, SyncProgram
from headway.targets import bind
from headway.targets.generic import TARGET
from headway.targets.limits import limited

AGAIN = """program @p { input n engine A engine B buffer b slots 4
  loop j 2 { loop i n { A p writes(b[i % 4]) B c reads(b[i % 4]) } } }"""


def synced(source: str) -> SyncProgram:
    return STRATEGY.synchronize(bind(parse(source), TARGET), TARGET)


def fitted(sync: SyncProgram, most: int) -> SyncProgram:
    found, _ = PASS.fit(sync, replace(TARGET, registers=most))
    verify_sync(found)
    return found


SYNCED = """sync @p {{ program @p {{ input n engine A engine B buffer b
  A p writes(b) takes(1) B c reads(b) takes(1) }}
  engine A {{ p }} engine B {{ {} }} }}"""


def engine(body: str) -> EngineProgram:
    """Return the program of engine B, which issues c as often as it likes."""
    return parse_sync(SYNCED.format(body)).engine("B")


def engine_text(sync: SyncProgram, name: str) -> str:
    inside = to_text(sync).partition(f"  engine {name} {{\n")[2].partition("\n  }\n")[0]
    return " ".join(inside.split())


def counts(program: EngineProgram) -> list[int]:
    return list(map(register_count, exact_attempts(program)))


def text(program: EngineProgram) -> str:
    sync = parse_sync(SYNCED.format("c"))
    return engine_text(replace(sync, engines=(sync.engine("A"), program)), "B")


def test_programs_that_fit_stay_as_they_are():
    sync = synced(AGAIN)
    assert fitted(sync, 5) == sync


def test_row_of_slots_shares_one_register_that_holds_the_latest():
    assert engine_text(fitted(synced(AGAIN), 4), "A") == (
        "registers access.B.b[4] loop j 2 { loop i n { p waits B >= access.B.b[i % 4]"
        " access.B.b[i % 4] := j * n + i + 1 } }"
    )
    assert engine_text(fitted(synced(AGAIN), 1), "A") == (
        "registers access.B.b loop j 2 { loop i n { p waits B >= access.B.b"
        " access.B.b := max(access.B.b, j * n + i + 1) } }"
    )


def test_row_becomes_as_short_as_its_largest_divisor_before_it_is_one():
    assert engine_text(fitted(synced(AGAIN), 3), "A") == (
        "registers access.B.b[2] loop j 2 { loop i n { p waits B >= access.B.b[i % 2]"
        " access.B.b[i % 2] := max(access.B.b[i % 2], j * n + i + 1) } }"
    )
    body = "registers s[6] loop i n {{ c waits A >= s[{0}] s[{0}] := i + 1 }}"
    for index, shorter in (("i % 6", "i % 3"), ("(i + 1) % 6", "(i + 1) % 3"), ("n", "n % 3")):
        given = engine(body.format(index))
        first, second = (Coarser(given).with_shared(choice) for choice in choices(given))
        assert f"c waits A >= s[{shorter}]" in text(first)
        assert [register_count(found) for found in (first, second)] == [3, 1]


def test_registers_that_are_never_needed_at_the_same_time_are_one():
    found = engine("registers s, t s := 3 c waits A >= s t := 4 c waits A >= t")
    assert counts(found)[:2] == [2, 1]
    assert text(list(exact_attempts(found))[1]) == (
        "registers s s := 3 c waits A >= s s := 4 c waits A >= s"
    )


def test_thresholds_are_computed_right_before_their_wait_where_that_saves_a_register():
    found = engine("registers s, t s := n t := n + 1 wait A >= t c waits A >= s")
    assert text(list(exact_attempts(found))[1]) == (
        "registers s s := n + 1 wait A >= s s := n c waits A >= s"
    )


def test_registers_that_hold_0_at_the_start_are_not_shared():
    assert counts(engine("registers s, t c waits A >= s s := n c waits A >= t, A >= s"))[1] == 2


def test_register_of_the_last_iteration_is_not_shared():
    body = "registers s, t loop i n { t := i wait A >= t c waits A >= s s := i + 1 }"
    assert counts(engine(body))[1] == 2


CLOSED = {
    "registers s loop i n { c waits A >= s + 1 s := s + 1 }": (
        "registers s.1 loop i n { s.1 := i + 1 c waits A >= s.1 }"
    ),
    "registers s, t loop i n { s := s + 2 t := s c waits A >= t }": (
        "registers t loop i n { t := 2 * i + 2 c waits A >= t }"
    ),
    "registers s, t loop i n { loop j 5 { s := s + 1 } t := s - 1 c waits A >= t }": (
        "registers t loop i n { t := 5 * i + 4 c waits A >= t }"
    ),
    "registers s, t loop i n { if n { s := s + 1 } else { s := s + 1 } t := s c waits A >= t }": (
        "registers t loop i n { t := i + 1 c waits A >= t }"
    ),
    "registers s s := 4 c waits A >= s - 1": "c waits A >= 3",
    "registers s, t while i (i < n) { s := s + 3 t := s c waits A >= t }": (
        "registers t while i (i < n) { t := 3 * i + 3 c waits A >= t }"
    ),
}


@pytest.mark.parametrize("body", CLOSED)
def test_register_that_only_counts_is_computed(body: str):
    found = computed(engine(body), "s")
    assert found
    assert text(found) == CLOSED[body]


OPEN = {
    "registers s, t loop i n { if n > 1 { s := s + 1 } t := s c waits A >= t }": "a branch adds",
    "registers s, t while i (i < n) { s := s + 1 } t := s c waits A >= t": "after a while",
    "registers s, t loop i n { loop j i { s := s + 1 } t := s c waits A >= t }": "grows with i",
    "registers s, t loop i n { s := s + s + 1 t := s c waits A >= t }": "doubles",
    "registers s, t loop i n { t := s c waits A >= t s := i }": "is set anew",
}


@pytest.mark.parametrize("body", OPEN, ids=list(OPEN.values()))
def test_register_whose_value_has_no_form_stays(body: str):
    assert computed(engine(body), "s") is None


def test_value_that_is_long_is_not_followed():
    def calls(depth: int) -> int:
        nest = "c waits A >= s"
        for level in range(depth):
            nest = f"loop i{level} n {{ {nest} s := s + 1 }}"
        given = engine(f"registers s {nest} c waits A >= s")
        assert computed(given, "s") is None
        return effort(lambda: computed(given, "s"))

    assert calls(48) < 1.5 * calls(24)


def test_too_few_registers_are_refused():
    with pytest.raises(UnsupportedByTarget) as caught:
        fitted(synced(AGAIN), 0)
    assert str(caught.value) == (
        "error: A needs 1 register even if captures share them\n"
        "  rule: the target has 0 registers for each engine\n"
        "  help: use fewer queues, or a strategy that does not count: `headway list strategies`"
    )


def test_what_is_given_up_is_said():
    for most, said in (
        (3, "2 registers for the captures access.B.b[4]: 3 registers"),
        (1, "one register for the captures access.B.b[4]: 1 register"),
    ):
        _, given_up = PASS.fit(synced(AGAIN), replace(TARGET, registers=most))
        assert [str(concession) for concession in given_up] == [f"A: {said}"]


def test_rows_whose_place_is_computed_from_a_register_do_not_share():
    body = "registers s[4], u u := n c waits A >= s[{0}] s[{0}] := 1"
    assert list(choices(engine(body.format("u % 4")))) == []
    assert len(list(choices(engine(body.format("n % 4"))))) == 2


@pytest.mark.parametrize("seed", range(12))
def test_registers_of_a_choice_are_counted_as_they_are_shared(seed: int):
    sync = load("scoreboard").synchronize(generate(seed, Shape(bands=0.3)).program, TARGET)
    for given in sync.engines:
        captures = Coarser(given)
        for choice in choices(given):
            found = shared(captures.with_shared(choice))
            assert captures.count(choice) == register_count(found)


@pytest.mark.thorough
@pytest.mark.parametrize("strategy", ["counted", "scoreboard"])
def test_random_programs_are_never_early_and_degrade_step_by_step(strategy: str):
    for seed in range(3):
        case = generate(seed, Shape(9, 200, control_in_memory=seed % 3 == 0))
        given = load(strategy).synchronize(case.program, TARGET)
        before = check(given, case.inputs)
        late = 10**9
        for most in (0, 1, 2, 3, 4, 6, 9):
            try:
                found, given_up = PASS.fit(given, replace(TARGET, registers=most))
            except UnsupportedByTarget:
                assert late == 10**9, f"seed {seed}: {most} registers are refused, fewer are not"
                continue
            verify_sync(found)
            assert all(register_count(engine) <= most for engine in found.engines)
            verdict = check(found, case.inputs)
            assert verdict.verdict in ("exact", "late"), f"seed {seed}, {most}: {verdict}"
            assert given_up or verdict.verdict == before.verdict, f"seed {seed}, {most}: {verdict}"
            assert len(verdict.findings) + verdict.more <= late, f"seed {seed}, {most}"
            late = len(verdict.findings) + verdict.more


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["calibration-loop", "flash-attention", "matmul", "sync-chain"])
def test_fewer_registers_never_make_a_kernel_faster(name: str):  # T19
    kernel = kernels.load(name)
    inputs = {
        key: min(value, 8) if isinstance(value, int) else value
        for key, value in kernel.inputs.items()
    }
    latencies: list[float] = []
    for most in (0, 1, 3, 5, 8, 64):
        target = limited(targets.load("trn2"), {"registers": most})
        found, report = fit(kernel.program(), target)
        assert max(report.registers.values(), default=0) <= most
        assert check(found, inputs).verdict in ("exact", "late")
        latencies.append(simulate(found, inputs, target).latency)
    assert latencies == sorted(latencies, reverse=True)
    assert (
        latencies[0] == simulate(synchronize(kernel.program(), "trn2", "barrier"), inputs).latency
    )
