"""The engine programs that the strategy flags writes: sound, with any number of ids."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from headway.check import Verdict, check
from headway.check.fuzz import violation
from headway.check.generate import Shape, generate, with_random_durations
from headway.cli.fuzz import simulated
from headway.ir import parse
from headway.strategies.flags import Flags
from headway.sync import parse_sync, to_text, verify_sync
from headway.sync.program import SyncProgram
from headway.targets import bind
from headway.targets.generic import TARGET


def synced(source: str, ids: int = 8) -> SyncProgram:
    found = Flags(ids=ids).synchronize(bind(parse(f"program @p {{ {source} }}"), TARGET), TARGET)
    verify_sync(found)
    assert parse_sync(to_text(found)) == found
    return found


def engine(source: str, name: str, ids: int = 8) -> str:
    """Return the text of one engine program in one line, with short names of flags."""
    text = to_text(synced(source, ids)).partition(f"\n  engine {name} {{\n")[2]
    return " ".join(text.partition("\n  }\n")[0].replace("flag.", "").split())


def judged(source: str, ids: int = 8, **inputs: int) -> Verdict:
    return check(synced(source, ids), inputs)


def rotating(slots: int) -> str:
    return f"""input n engine A engine B buffer b slots {slots}
    loop i n {{ A p writes(b[i % {slots}]) takes(10) B c reads(b[i % {slots}]) takes(10) }}"""


def fan_out(width: int) -> str:
    steps = [f"buffer x{k}" for k in range(width)]
    steps += [f"A p{k} writes(x{k}) takes(10)" for k in range(width)]
    steps += [f"B c{k} reads(x{k}) takes(10)" for k in range(width)]
    return f"engine A engine B {' '.join(steps)}"


NESTED = """input n engine A engine B buffer x slots 2 buffer y slots 2 buffer z slots 2
loop i n { A p0 writes(x[i % 2]) takes(10) B q0 reads(x[i % 2]) takes(10)
  loop j n { A p1 writes(y[j % 2]) takes(10) B q1 reads(y[j % 2]) takes(10)
    loop k n { A p2 writes(z[k % 2]) takes(10) B q2 reads(z[k % 2]) takes(10) }
    A p3 writes(y[j % 2]) takes(10) B q3 reads(x[i % 2], y[j % 2]) takes(10) } }"""


def test_backward_flag_is_primed_and_drained_once_for_each_slot() -> None:
    assert engine(rotating(2), "A") == ("loop i n { take B.A.0 p set A.B.0 } take B.A.0 take B.A.0")
    assert engine(rotating(2), "B") == "set B.A.0 set B.A.0 loop i n { take A.B.0 c set B.A.0 }"
    assert judged(rotating(2), n=5).verdict == "exact"
    assert judged(rotating(2), n=0).verdict == "exact"


def test_flags_go_around_a_nested_loop_that_holds_the_producer() -> None:
    source = """input n engine A engine B buffer b
    loop i n { A p writes(b) } B c reads(b)"""
    assert engine(source, "A") == "loop i n { p } set A.B.0"
    assert engine(source, "B") == "take A.B.0 c"


def test_condition_in_memory_is_written_before_the_next_test_loads_it() -> None:
    source = """input n engine A engine B buffer go buffer x
    while t (t < n) load l reads(go) { A p writes(x) B c reads(x) writes(go) }"""
    assert engine(source, "A") == (
        "while t (t < n) load l { set A.control.B.0 p set A.B.0 take B.A.0 }"
    )
    assert engine(source, "B") == (
        "while t (t < n) load l { take A.B.0 take A.control.B.0 c set B.A.0 set B.B.0 take B.B.0 }"
    )
    assert judged(source, n=3).verdict == "exact"


@pytest.mark.parametrize(("slots", "ids"), [(2, 1), (8, 4), (16, 8)])
def test_too_many_slots_are_used_as_if_there_were_fewer(slots: int, ids: int) -> None:
    assert engine(rotating(slots), "B", ids).count("set B.A.0") == ids + 1
    assert judged(rotating(slots), ids, n=2 * slots).verdict == "late"
    assert judged(rotating(slots), slots, n=2 * slots).verdict == "exact"


@pytest.mark.parametrize("width", [7, 8, 9, 12, 30])
def test_fan_out_shares_flags_when_the_ids_run_out(width: int) -> None:
    assert len(synced(fan_out(width)).flags) <= 8
    assert judged(fan_out(width)).verdict == ("exact" if width <= 8 else "late")
    assert judged(fan_out(width), width).verdict == "exact"


def test_one_id_serves_flags_that_follow_each_other() -> None:
    source = "engine A engine B buffer b A p writes(b) B c reads(b) A q writes(b) B d reads(b)"
    assert engine(source, "B", 1) == "take A.B.0 c set B.A.0 take A.B.0 d"
    assert judged(source, 1).verdict == "exact"


@pytest.mark.parametrize("ids", [1, 2, 3, 4, 8, 100])
def test_nests_get_by_with_any_number_of_ids(ids: int) -> None:
    assert all(int(flag.name.rpartition(".")[2]) < ids for flag in synced(NESTED, ids).flags)
    for n in (0, 1, 3):
        assert judged(NESTED, ids, n=n).verdict in ("exact", "late")


def test_more_ids_are_never_slower_in_a_nest() -> None:
    ends = [
        max(
            done for spans in simulated(synced(NESTED, ids), {"n": 3}).values() for _, done in spans
        )
        for ids in (1, 3, 8)
    ]
    assert ends == sorted(ends, reverse=True)
    assert ends[0] > ends[-1]


def test_flag_may_not_be_called_like_a_counter() -> None:
    source = "engine A engine flag.A.B.0 buffer b A p writes(b) flag.A.B.0 c reads(b)"
    assert [flag.name for flag in synced(source).flags] == ["flag_.A.flag.A.B.0.0"]


@pytest.mark.thorough
@pytest.mark.parametrize("ids", [1, 2, 8])
@pytest.mark.parametrize("control_in_memory", [False, True])
def test_random_programs_are_never_early_and_leave_no_tokens(
    ids: int, control_in_memory: bool
) -> None:
    shape = Shape(instructions=12, instances=200, control_in_memory=control_in_memory)
    for seed in range(40):
        case = generate(seed, shape)
        found = Flags(ids=ids).synchronize(case.program, TARGET)
        verdict = check(found, case.inputs)
        assert verdict.verdict in ("exact", "late"), f"seed {seed}: {verdict}"
        bound = with_random_durations(case.program, random.Random(seed))
        times = simulated(replace(found, program=bound), case.inputs)
        assert violation(bound, case.inputs, times) == "", f"seed {seed}"
