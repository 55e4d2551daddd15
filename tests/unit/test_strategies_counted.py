"""The engine programs that the strategy counted writes, and that they are exact."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headway.analysis import flow
from headway.check import check
from headway.check.generate import Shape, generate
from headway.ir import parse
from headway.strategies.counted import STRATEGY, Counted
from headway.strategies.options import options
from headway.sync import to_text, verify_sync
from headway.sync.program import SyncProgram
from headway.targets import bind
from headway.targets.generic import TARGET

OPTIONS = tuple(options(STRATEGY))
ROLLED = replace(STRATEGY, copies=False)
"""What it makes of loops, however short they are."""
DATA = Path(__file__).parents[1] / "data"


def synced(source: str, strategy: Counted = ROLLED) -> SyncProgram:
    found = strategy.synchronize(bind(parse(source), TARGET), TARGET)
    verify_sync(found)
    return found


def engine(source: str, name: str, strategy: Counted = ROLLED) -> str:
    """Return the text of one engine program, without its frame."""
    text = to_text(synced(source, strategy))
    inside = text.partition(f"\n  engine {name} {{\n")[2].partition("\n  }\n")[0]
    return inside.replace("    ", "", 1).replace("\n    ", "\n") if inside else ""


def example(name: str) -> str:
    return next((DATA / "examples").glob(f"{name}-*.hwy")).read_text()


def test_straight_line_code_waits_for_fixed_positions_that_nothing_implies():
    assert engine(example("e01"), "C") == "r waits B >= 1"  # B has seen A
    assert engine(example("e01"), "A") == "p\nw waits C >= 1"


def test_wait_stays_where_a_loop_may_not_run():
    assert (
        engine(example("e02"), "C")
        == """\
registers shadow.B
shadow.B := shadow.B + n
c waits A >= 1, B >= shadow.B"""
    )


def test_loop_without_work_is_captured_in_closed_form_only_if_it_runs():
    assert (
        engine(example("e02b"), "C")
        == """\
registers shadow.B, write.B.b
loop j m {
  if n > 0 {
    write.B.b := shadow.B + 1 + 2 * (n - 1)
  }
  shadow.B := shadow.B + 2 * n
  c waits B >= write.B.b
  shadow.B := shadow.B + 1
}"""
    )


def test_branches_leave_equal_offsets():
    assert (
        engine(example("e03"), "C")
        == """\
registers shadow.A, shadow.B
loop i 2 {
  if k[i] {
    shadow.A := shadow.A + 1
  } else {
    shadow.B := shadow.B + 2
  }
  c waits A >= shadow.A, B >= shadow.B - 1
}"""
    )


def test_rotating_buffer_needs_no_capture():
    assert (
        engine(example("e04"), "SP")
        == """\
registers shadow.PE
loop i n {
  ld waits PE >= shadow.PE - 1
  shadow.PE := shadow.PE + 1
}"""
    )


def test_rotating_buffer_that_is_entered_again_is_captured_by_slot():
    assert (
        engine(example("e06"), "A")
        == """\
registers shadow.B, access.B.b[2]
loop j 2 {
  loop i n {
    p waits B >= access.B.b[i % 2]
    access.B.b[i % 2] := shadow.B + 1
    shadow.B := shadow.B + 1
  }
}"""
    )


def test_trigger_waits_for_its_own_host():
    assert "st waits ACT >= shadow.ACT + 1" in engine(example("e08"), "ACT")


def test_first_iteration_does_not_wait_for_a_signal_before_the_loop():
    assert "use waits Q >= write.Q.b" in engine(example("e09"), "A")


def test_rotation_over_two_loops_is_static():
    source = """program @p { input m engine A engine B buffer b slots 3
      loop j m { loop i 3 { A p writes(b[(j + i) % 3]) B c reads(b[(j + i) % 3]) } } }"""
    assert "c waits A >= shadow.A + 1" in engine(source, "B")


def test_preloaded_value_costs_no_register_and_one_wait():
    source = """program @p { input n engine A queue Q on A engine B buffer w buffer x
      A ld triggers(Q) writes(w) loop i n { B use reads(w) writes(x) } }"""
    assert engine(source, "B") == "loop i n {\n  use waits Q >= 1\n}"


def test_wait_is_hoisted_out_of_a_nest_as_far_as_its_position_is_the_same():
    source = """program @p { input n engine A queue Q on A engine B buffer w buffer x
      A ld triggers(Q) writes(w) loop j 3 { loop i 4 { B use reads(w) writes(x) } } }"""
    assert engine(source, "B") == "wait Q >= 1\nloop j 3 {\n  loop i 4 {\n    use\n  }\n}"


def test_only_waits_of_the_first_instruction_of_a_loop_are_hoisted():
    source = """program @p { input n engine A queue Q on A engine B buffer w buffer x
      A ld triggers(Q) writes(w) loop i 4 { B free B use reads(w) writes(x) } }"""
    assert engine(source, "B") == "loop i 4 {\n  free\n  use waits Q >= 1\n}"


def test_wait_is_not_hoisted_over_the_load_of_a_trip_count():
    source = """program @p { input n engine A queue Q on A engine B buffer v buffer w buffer x
      A ld triggers(Q) writes(w) loop i n load l reads(v) { B use reads(w) writes(x) } }"""
    assert "use waits Q >= 1" in engine(source, "B")


def test_slot_that_does_not_come_round_within_a_static_loop_needs_no_wait():
    source = """program @p { engine A engine B buffer b slots 4 buffer c
      loop j 3 { loop i 3 { A p writes(b[i]) B c reads(b[i]) } B d writes(c) A e reads(c) } }"""
    assert engine(source, "A").startswith("registers shadow.B\n")  # e has seen all of B
    assert "p waits" not in engine(source, "A")
    assert "p waits B >= shadow.B - 3" in engine(source, "A", replace(ROLLED, unrolling=False))


def test_slots_of_static_loops_are_numbers_whatever_their_form():
    source = """program @p { engine A engine B buffer b slots 4
      loop j 4 { A p writes(b[j % 2 * 2], b[j % 2 * 2 + 1])
        loop i 2 { B c reads(b[j % 2 * 2 + i]) } } }"""
    assert "registers shadow.A\n" in engine(source, "B")
    assert "write.A.b" in engine(source, "B", replace(ROLLED, unrolling=False))


def test_iterations_that_need_a_wait_share_its_threshold():
    source = """program @p { engine A engine B queue Q on A buffer w buffer b
      A preload triggers(Q) writes(w) loop i 3 { B use reads(b) A ld triggers(Q) writes(b) } }"""
    assert "use waits Q >= write.Q.b" in engine(source, "B")  # E9: iteration 0 needs no preload


def test_loop_that_signals_nothing_of_interest_is_left_out():
    source = "program @p { input n engine A engine B engine C buffer b A p writes(b) "
    source += "loop i n { C x } B c reads(b) }"
    assert engine(source, "B") == "c waits A >= 1"


def test_if_with_equal_branches_is_left_out():
    source = """program @p { input k engine A engine B buffer b buffer d
      A p writes(d) if k { A x } else { A y } A q writes(b) B c reads(b) }"""
    assert engine(source, "B") == "c waits A >= 3"


def test_last_iterations_are_captured_in_their_order():
    source = """program @p { input n engine A engine B buffer b slots 2
      loop i n { A p writes(b[i % 2]) } loop j 2 { B c writes(b[j]) } }"""
    assert (
        engine(source, "B")
        == """\
registers access.A.b[2]
if n > 0 {
  if n > 1 {
    access.A.b[(n - 2) % 2] := 1 + (n - 2)
  }
  access.A.b[(n - 1) % 2] := 1 + (n - 1)
}
loop j 2 {
  c waits A >= access.A.b[j]
}"""
    )


def test_control_value_is_loaded_by_engines_with_work_inside_only():
    source = """program @p { input n engine A engine B engine C buffer v buffer x
      A w writes(v) loop i n load l reads(v) { B p writes(x) } C y }"""
    assert "load l waits A >= 1" in engine(source, "B")
    assert "load" not in engine(source, "C")


def test_engine_that_counts_inside_a_loop_loads_its_trip_count_once():
    source = """program @p { input n engine A engine B engine C buffer v buffer x
      A w writes(v) loop i n load l reads(v) { B p writes(x) } C y reads(x) A v2 writes(v) }"""
    assert engine(source, "C").startswith("registers shadow.B\nload l waits A >= 1\n")
    assert "B.control >= 1, C.control >= 1" in engine(source, "A")


BOUND = """program @p { input n engine A engine B engine C buffer v buffer x
  B w writes(v) takes(1000) loop i n load l reads(v) { A p writes(x) } C free """


def test_work_that_needs_no_trip_count_does_not_wait_for_it():  # H4
    assert (
        engine(BOUND + "C y reads(x) }", "C")
        == """\
registers shadow.A
free
load l waits B >= 1
shadow.A := shadow.A + n
y waits A >= shadow.A"""
    )


def test_late_load_comes_before_the_value_is_overwritten():
    text = engine(BOUND + "B v2 writes(v) C z C y reads(x) }", "C")
    assert text.splitlines()[1:4] == ["free", "load l waits B >= 1", "shadow.A := shadow.A + n"]


def test_load_is_not_late_if_its_own_loop_overwrites_the_value():
    source = """program @p { input n engine A engine B engine C buffer v buffer x buffer y
      loop j 2 { loop i n load l reads(v) { A p writes(v) } C q writes(y) B r reads(y) }
      B z reads(v) }"""
    lines = engine(source, "B").splitlines()
    assert lines[2].startswith("  load l waits A >= ")
    assert check(synced(source), {"n": 2}).verdict == "late"  # B has no work inside the loop


def test_engine_with_work_inside_loads_where_the_loop_stands():
    text = engine(BOUND.replace("A p", "A p C q") + "}", "C")
    assert text == "loop i n load l waits B >= 1 {\n  q\n}\nfree"


@pytest.mark.thorough
@pytest.mark.parametrize("option", [None, *OPTIONS])
def test_each_option_can_be_switched_off(option: str | None):
    strategy = (
        STRATEGY if option is None else replace(STRATEGY, **{option: not getattr(STRATEGY, option)})
    )
    for seed in range(25):
        case = generate(seed, Shape(9, 400))
        verdict = check(strategy.synchronize(case.program, TARGET), case.inputs)
        assert verdict.verdict == "exact", f"seed {seed}: {verdict}"


@pytest.mark.thorough
@pytest.mark.parametrize("refined", [0, 250_000])
def test_less_effort_is_exact_too(monkeypatch: pytest.MonkeyPatch, refined: int):
    monkeypatch.setattr(flow, "MAX_THOROUGH", 0)
    monkeypatch.setattr(flow, "MAX_REFINED", refined)
    for seed in range(60, 100):
        case = generate(seed, Shape(9, 400))
        verdict = check(STRATEGY.synchronize(case.program, TARGET), case.inputs)
        assert verdict.verdict == "exact", f"seed {seed}: {verdict}"


@pytest.mark.thorough
def test_control_values_in_memory_are_never_early_and_late_only_for_engines_without_work():
    for seed in range(40):
        case = generate(seed, Shape(9, 400, control_in_memory=True))
        verdict = check(STRATEGY.synchronize(case.program, TARGET), case.inputs)
        assert verdict.verdict in ("exact", "late"), f"seed {seed}: {verdict}"


@pytest.mark.thorough
def test_waits_are_fewer_with_each_reason_to_leave_one_out():
    def waits(strategy: Counted) -> int:
        cases = (generate(seed, Shape(9, 400)) for seed in range(30))
        return sum(check(strategy.synchronize(p, TARGET), i).waits for _, p, i in cases)

    nothing = waits(Counted(redundancy=False, transitive=False))
    known = waits(Counted(transitive=False))
    assert waits(STRATEGY) < known < nothing


@pytest.mark.thorough
def test_deep_nests_work():
    depth = 1000
    source = "program @p { input n engine A engine B buffer b "
    source += " ".join(f"loop i{d} n {{" for d in range(depth))
    source += " A p writes(b) B c reads(b) " + "}" * depth + " }"
    assert check(synced(source), {"n": 1}).verdict == "exact"


def test_options_off_leave_the_plain_form():
    assert (
        engine(example("e04"), "PE", Counted(static_gaps=False, offsets=False))
        == """\
registers shadow.Q, write.Q.b[2]
loop i n {
  shadow.Q := shadow.Q + 1
  write.Q.b[i % 2] := shadow.Q
  mm waits Q >= write.Q.b[i % 2]
}"""
    )


def test_loop_that_is_written_out_has_the_dependences_that_it_had():
    """A box with run-time bounds is all of its slot, whatever its bounds are in an iteration."""
    source = """program @t { engine A engine C buffer a shape(8)
      loop i 2 { C p writes(a[0][i : i + 1]) takes(10) }
      A q writes(a[0][6:7]) takes(10) }"""
    assert check(synced(source, STRATEGY), {}).verdict == "exact"
    assert engine(source, "A", STRATEGY) == "q waits C >= 2"


def test_short_loop_that_always_runs_as_often_is_written_out():
    source = """program @t { input n engine A engine B buffer b slots 2
      loop i n { loop k 3 { A p writes(b[k % 2]) takes(10) B q reads(b[k % 2]) takes(10) } } }"""
    assert (
        engine(source, "A", STRATEGY)
        == """\
registers shadow.B
loop i n {
  p at k 0 waits B >= shadow.B
  p at k 1
  p at k 2 waits B >= shadow.B + 1
  shadow.B := shadow.B + 3
}"""
    )


def test_long_loops_stay_and_a_program_does_not_become_twice_as_long():
    long = "loop k 65 { A p reads(b) }"
    assert "loop k 65" in engine(f"program @t {{ engine A buffer b {long} }}", "A", STRATEGY)
    loops = " ".join(f"loop k{n} 60 {{ A p{n} reads(b) }}" for n in range(50))
    text = engine(f"program @t {{ engine A buffer b {loops} }}", "A", STRATEGY)
    assert text.count("loop") == 50


@pytest.mark.parametrize("slot", ["3 % (k - 1)", "3 // k % 4", "9 * k", "k - 1"])
def test_slots_that_are_wrong_only_where_no_run_comes_refuse_nothing(slot: str) -> None:
    source = f"""program @p {{ input n input m engine A engine B buffer b slots 4
      loop i m {{
        if n {{ loop k 2 {{ A p writes(b[{slot}]) takes(3) }} loop k 2 {{ A t takes(1) }} }}
        A q writes(b[i % 2]) takes(1)
        B r reads(b[(i + 1) % 3]) takes(2)
        if n {{ loop k 2 {{ B s reads(b[{slot}]) takes(3) }} }} }} }}"""
    found = synced(source, STRATEGY)
    assert check(found, {"n": 0, "m": 5}).verdict == "exact"
