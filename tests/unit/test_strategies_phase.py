"""The engine programs that the strategy phase writes: sound, and never two phases ahead."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from headway.check import Verdict, check
from headway.check.fuzz import violation
from headway.check.generate import Shape, generate, with_random_durations
from headway.cli.fuzz import simulated
from headway.ir import parse
from headway.strategies.phase import STRATEGY
from headway.sync import parse_sync, to_text, verify_sync
from headway.sync.program import SyncProgram
from headway.targets import bind
from headway.targets.generic import TARGET


def synced(source: str) -> SyncProgram:
    found = STRATEGY.synchronize(bind(parse(f"program @p {{ {source} }}"), TARGET), TARGET)
    verify_sync(found)
    assert parse_sync(to_text(found)) == found
    return found


def engine(source: str, name: str) -> str:
    """Return the text of one engine program in one line, with short names of flags."""
    text = to_text(synced(source)).partition(f"\n  engine {name} {{\n")[2]
    return " ".join(text.partition("\n  }\n")[0].replace("phase.", "").split())


def holds(source: str) -> dict[str, int]:
    return {flag.name.removeprefix("phase."): flag.holds for flag in synced(source).flags}


def judged(source: str, **inputs: int) -> Verdict:
    return check(synced(source), inputs)


def rotating(slots: int) -> str:
    return f"""input n engine A engine B buffer b slots {slots}
    loop i n {{ A p writes(b[i % {slots}]) takes(10) B c reads(b[i % {slots}]) takes(10) }}"""


@pytest.mark.parametrize("slots", [1, 2, 3, 9])
def test_rotating_buffer_has_rings_as_long_as_it_has_slots(slots: int) -> None:
    assert holds(rotating(slots)) == {"A.B.0": slots, "B.A.0": slots}
    for n in (0, 1, slots, 3 * slots + 1):
        assert judged(rotating(slots), n=n).verdict == "exact"


def test_shorter_ring_would_be_two_phases_ahead() -> None:
    found = synced(rotating(2))
    for number in (0, 1):
        flags = [replace(f, holds=1) if k == number else f for k, f in enumerate(found.flags)]
        verdict = check(replace(found, flags=tuple(flags)), {"n": 3})
        assert verdict.verdict == "deadlock"
        assert "and the flag holds 1: a token is lost" in verdict.findings[0].message


def test_producer_that_nothing_holds_back_waits_for_the_phase_before() -> None:
    source = """input n engine A engine B buffer x slots 100
    loop i n { A p writes(x[i]) takes(10) B c reads(x[i]) takes(30) }"""
    assert holds(source) == {"B.A.0": 1, "A.B.0": 1}
    assert engine(source, "A") == "loop i n { p take B.A.0 set A.B.0 } take B.A.0"
    assert engine(source, "B") == "set B.A.0 loop i n { take A.B.0 set B.A.0 c }"
    assert judged(source, n=0).verdict == "exact"
    assert judged(source, n=9).verdict == "late"


def test_channel_outside_of_loops_needs_no_way_back() -> None:
    source = """input k engine A engine B buffer b buffer c A p writes(b) A q writes(c)
    if k { B c reads(b) A r writes(b) }"""
    assert holds(source) == {"A.B.0": 1, "B.A.0": 1}
    assert judged(source, k=1).verdict == "exact"


def test_phases_go_on_when_a_loop_is_entered_again() -> None:
    source = """input n engine A engine B buffer b slots 2 loop j n { loop i n {
    A p writes(b[i % 2]) takes(10) B c reads(b[i % 2]) takes(10) } }"""
    assert engine(source, "B") == (
        "set B.A.0 set B.A.1 set B.A.1 "
        "loop j n { take A.B.0 loop i n { take A.B.1 c set B.A.1 } set B.A.0 } take A.B.0"
    )
    for n in (0, 1, 2, 3, 4):
        assert judged(source, n=n).verdict in ("exact", "late")


def test_engine_that_waits_for_itself_is_never_ahead_of_itself() -> None:
    source = """input n engine A pipelined buffer b slots 3
    loop i n { A p reads(b[(i + 1) % 3]) writes(b[i % 3]) takes(50, 1) }"""
    assert holds(source) == {"A.A.0": 1}
    assert judged(source, n=7).verdict == "exact"


def test_flag_may_not_be_called_like_a_counter() -> None:
    source = "engine A engine phase.A buffer b A p writes(b) phase.A c reads(b)"
    assert [flag.name for flag in synced(source).flags] == ["phase_.A.phase.A.0"]


@pytest.mark.thorough
@pytest.mark.parametrize("control_in_memory", [False, True])
def test_random_programs_are_never_early_and_never_two_phases_ahead(
    control_in_memory: bool,
) -> None:
    shape = Shape(instructions=12, instances=200, control_in_memory=control_in_memory)
    for seed in range(60):
        case = generate(seed, shape)
        found = STRATEGY.synchronize(case.program, TARGET)
        assert all(flag.holds for flag in found.flags)
        verdict = check(found, case.inputs)
        assert verdict.verdict in ("exact", "late"), f"seed {seed}: {verdict}"
        bound = with_random_durations(case.program, random.Random(seed))
        times = simulated(replace(found, program=bound), case.inputs)
        assert violation(bound, case.inputs, times) == "", f"seed {seed}"
