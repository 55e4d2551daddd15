"""No wait stands inside a region: the engine waits in front, and the report says so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headway import targets
from headway.check import check
from headway.compiler import compare, fit, synchronize
from headway.errors import InvalidProgram, UnsupportedByTarget
from headway.ir import parse
from headway.passes.hoist_waits import PASS
from headway.sync import parse_sync, to_text, verify_sync
from headway.sync.program import SyncProgram
from headway.targets.generic import TARGET
from headway.targets.limits import limited

ACCUMULATE = """program @acc { input n engine tensor pipelined engine vector engine sync
  queue a on sync queue b on sync buffer x slots 2 buffer y slots 2 buffer sum slots 2
  loop i n {
    sync la triggers(a) writes(x[i % 2]) takes(100)
    tensor mm0 reads(x[i % 2]) writes(sum[i % 2]) takes(50, 10)
    sync lb triggers(b) writes(y[i % 2]) takes(100)
    tensor mm1 reads(y[i % 2], sum[i % 2]) writes(sum[i % 2]) takes(50, 10) fused
    vector copy reads(sum[i % 2]) takes(30)
  } }"""

SYNCED = """sync @p {{ program @p {{ engine A engine B buffer b buffer c
  B r writes(b) takes(1) B s writes(c) takes(1)
  A p reads(b) takes(1) silent A q reads(c) takes(1) fused }}
  {} engine A {{ {} }} engine B {{ r s {} }} }}"""


def hoisted(steps: str, flag: str = "", sets: str = "") -> SyncProgram:
    return PASS.apply(parse_sync(SYNCED.format(flag, steps, sets)), TARGET)


def engine_text(sync: SyncProgram, name: str) -> str:
    inside = to_text(sync).partition(f"  engine {name} {{\n")[2].partition("\n  }\n")[0]
    return " ".join(inside.split())


STEPS = {
    "p waits B >= 1 q waits B >= 2": "p waits B >= 2 q",
    "p waits B >= 1 wait B >= 2 q": "p waits B >= 2 q",
    "registers s p waits B >= s s := 2 q waits B >= s": (
        "registers s wait B >= s s := 2 wait B >= s p q"
    ),
    "p q": "p q",
}


@pytest.mark.parametrize("steps", STEPS)
def test_waits_come_in_front_in_their_order(steps: str) -> None:
    raw = SYNCED.format("", "p q", "")
    assert engine_text(parse_sync(raw), "A") == "p q"
    program = parse_sync(raw)
    body = plain(SYNCED.format("", steps, ""))
    found = PASS.apply(with_engine(program, body), TARGET)
    assert engine_text(found, "A") == STEPS[steps]
    verify_sync(found)


def with_engine(program: SyncProgram, steps: SyncProgram) -> SyncProgram:
    return replace(program, engines=steps.engines, flags=steps.flags)


WRONG = {
    "p q waits B >= 2": "a wait stands before 'q', inside a region",
    "p wait B >= 2 q": "'q' does not follow the instruction it is fused with",
    "p barrier q": "'q' does not follow the instruction it is fused with",
}


@pytest.mark.parametrize("steps", WRONG)
def test_wait_inside_a_region_is_not_well_formed(steps: str) -> None:
    with pytest.raises(InvalidProgram) as caught:
        parse_sync(SYNCED.format("", steps, "barrier" if "barrier" in steps else ""))
    assert f"error: {WRONG[steps]}\n" in str(caught.value)
    assert "  rule: no wait stands inside a region\n" in str(caught.value)


def test_barrier_and_token_of_the_region_itself_are_refused() -> None:
    program = parse_sync(SYNCED.format("", "p q", ""))
    steps = SYNCED.format("", "p barrier q", "barrier")
    with pytest.raises(UnsupportedByTarget) as caught:
        PASS.apply(with_engine(program, plain(steps)), TARGET)
    assert "barrier stands inside the region that begins with 'p'" in str(caught.value)
    steps = SYNCED.format("flag f from A to A", "p set f take f q", "")
    with pytest.raises(UnsupportedByTarget) as caught:
        PASS.apply(with_engine(program, plain(steps)), TARGET)
    assert "a take of f, which is set there, stands inside the region" in str(caught.value)


def plain(text: str) -> SyncProgram:
    return parse_sync(text.replace(" silent", "").replace(" fused", ""))


@pytest.mark.thorough
@pytest.mark.parametrize("strategy", ["counted", "scoreboard", "barrier", "flags", "phase"])
@pytest.mark.parametrize("limits", [{}, {"registers": 1}, {"width": 3}, {"thresholds": 0}])
def test_regions_have_no_wait_inside_under_any_limit(strategy: str, limits: dict[str, int]) -> None:
    synced = synchronize(parse(ACCUMULATE), limited(TARGET, limits), strategy)
    assert check(synced, {"n": 9}).verdict == "late"  # mm0 waits for what mm1 needs


def test_report_names_what_waits_and_compare_says_what_it_costs() -> None:
    _, report = fit(parse(ACCUMULATE), "trn2")
    assert [str(concession) for concession in report.concessions] == [
        "tensor: mm0 waits for what mm1 needs: no wait may stand between"
    ]
    text = ACCUMULATE.replace(", sum[i % 2]) writes(sum[i % 2]) takes(50, 10) fused", ") fused")
    text = text.replace("takes(50, 10)", "takes(900)").replace(") fused", ") takes(900) fused")
    found = compare(parse(text), {"n": 16}, targets.load("trn2"), ["counted"], cost=True)
    assert (found.strategies["counted"].cost_ns or 0) > 0
