"""Captures share registers where the target has too few: late at worst, and no more than needed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headway.check import check
from headway.check.generate import Shape, generate
from headway.errors import UnsupportedByTarget
from headway.ir import parse
from headway.passes.assign_registers import PASS, coarsened, register_count
from headway.strategies.counted import STRATEGY
from headway.sync import to_text, verify_sync
from headway.sync.program import SyncProgram
from headway.targets import bind
from headway.targets.generic import TARGET

AGAIN = """program @p { input n engine A engine B buffer b slots 4
  loop j 2 { loop i n { A p writes(b[i % 4]) B c reads(b[i % 4]) } } }"""


def synced(source: str) -> SyncProgram:
    return STRATEGY.synchronize(bind(parse(source), TARGET), TARGET)


def fitted(sync: SyncProgram, most: int) -> SyncProgram:
    found = PASS.apply(sync, replace(TARGET, registers=most))
    verify_sync(found)
    return found


def test_programs_that_fit_stay_as_they_are():
    sync = synced(AGAIN)
    assert fitted(sync, 5) == sync


def test_row_of_slots_shares_one_register_that_holds_the_latest():
    text = to_text(fitted(synced(AGAIN), 4))
    assert "registers shadow.B, access.B.b\n" in text
    assert "access.B.b := max(access.B.b, shadow.B + 1)" in text
    assert "p waits B >= access.B.b\n" in text


def test_what_shares_a_register_is_known():
    engine = synced(AGAIN).engine("A")
    assert coarsened(engine, 5) == {}
    assert coarsened(engine, 2) == {"access.B.b": "access.B.b"}


def test_too_few_registers_are_refused():
    with pytest.raises(UnsupportedByTarget) as caught:
        fitted(synced(AGAIN), 1)
    assert str(caught.value) == (
        "error: 'A' needs 2 registers even if captures share them\n"
        "  rule: the target has 1 registers per engine\n"
        "  help: use fewer queues, or a strategy that does not count: `headway list strategies`"
    )


def test_random_programs_are_never_early_and_degrade_step_by_step():
    for seed in range(60):
        case = generate(seed, Shape(9, 400))
        sync = STRATEGY.synchronize(case.program, TARGET)
        for most in (2, 4, 6, 9):
            try:
                found = fitted(sync, most)
            except UnsupportedByTarget:
                continue
            assert all(register_count(engine) <= most for engine in found.engines)
            verdict = check(found, case.inputs)
            assert verdict.verdict in ("exact", "late"), f"seed {seed}, {most}: {verdict}"
            if found == sync:
                assert verdict.verdict == "exact"
