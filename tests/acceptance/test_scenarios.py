"""Every scenario has the verdict that was derived by hand, and the page shows the same."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from clock import violated

from headway.bench import scenarios
from headway.bench.scenarios import Judged, Scenario
from headway.certify import certify
from headway.check import check
from headway.check.fuzz import difference
from headway.check.generate import with_random_durations
from headway.cli.fuzz import simulated
from headway.errors import InvalidProgram
from headway.ir.expr import Inputs
from headway.spec import ideal
from headway.sync import parse_any
from headway.sync.program import SyncProgram

UNSEEN = "t05-rotation.lapped.hwy"
"""What the clock cannot see: simulated flags have room for any number of tokens."""

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "data" / "scenarios"
TABLE = {scenario.id: scenario for scenario in scenarios.read(FOLDER)}


@cache
def judged(id: str) -> tuple[Judged, ...]:
    return tuple(TABLE[id].judged(FOLDER))


@pytest.mark.parametrize("id", TABLE)
def test_scenario_has_the_expected_verdicts(id: str) -> None:
    for row in judged(id):
        assert row.is_as_expected, " | ".join(row.cells())


def by_the_clock(synced: SyncProgram, inputs: Inputs, seed: int) -> str:
    """Return what a run with random durations shows: early, deadlock, late, or exact."""
    program = with_random_durations(synced.program, random.Random(seed))
    try:
        times = simulated(replace(synced, program=program), inputs)
    except InvalidProgram:
        return "deadlock"
    if violated(synced, inputs, times):
        return "early"
    return "late" if difference(ideal(program, inputs), times) else "exact"


@pytest.mark.parametrize("id", TABLE)
def test_clock_confirms_the_verdicts_on_programs_by_hand(id: str) -> None:
    for row in TABLE[id].rows:
        if row.by != (scenarios.BY_HAND,) or row.expected == ("refused",) or row.program == UNSEEN:
            continue
        synced = parse_any((FOLDER / row.program).read_text(encoding="utf-8"), row.program)
        assert isinstance(synced, SyncProgram)
        for inputs in row.inputs:
            seen = {by_the_clock(synced, inputs, seed) for seed in range(12)}
            (expected,) = row.expected
            allowed = {"exact": {"exact"}, "late": {"exact", "late"}}.get(expected, seen)
            assert expected in seen, f"{row.program} {inputs}: {seen}"
            assert seen <= allowed, f"{row.program} {inputs}: {seen}"


def test_both_judges_say_the_same_of_programs_by_hand() -> None:
    pytest.importorskip("numba")
    rows = [row for scenario in TABLE.values() for row in scenario.rows]
    for row in rows:
        if row.by != (scenarios.BY_HAND,) or row.expected == ("refused",) or "four" in row.program:
            continue  # semaphores that wrap are for the reference alone
        synced = parse_any((FOLDER / row.program).read_text(encoding="utf-8"), row.program)
        assert isinstance(synced, SyncProgram)
        for inputs in row.inputs:
            plain, fast = (check(synced, inputs, judge) for judge in ("reference", "compiled"))
            assert str(fast) == str(plain), f"{row.program} {inputs}"


def test_nothing_that_goes_wrong_is_proved() -> None:
    rows = [row for scenario in TABLE.values() for row in scenario.rows]
    wrong = {row.program for row in rows if {"early", "deadlock"} & {*row.expected}}
    assert len(wrong) > 30
    for name in wrong:
        synced = parse_any((FOLDER / name).read_text(encoding="utf-8"), name)
        assert isinstance(synced, SyncProgram)
        assert not certify(synced).is_complete, name


def test_the_page_shows_the_current_table() -> None:
    lines = scenarios.lines((scenario, judged(id)) for id, scenario in TABLE.items())
    page = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
    assert page == scenarios.page(lines)


def test_another_verdict_than_expected_is_marked() -> None:
    (row, *_) = TABLE["T1"].rows
    scenario = Scenario("T1", "wrong", (row._replace(expected=("late",)),))
    (found,) = scenario.judged(FOLDER)
    assert not found.is_as_expected
    assert scenarios.lines([(scenario, (found,))])[-1].endswith(
        "| late, 0 ns lost, proved | **not as expected** exact, 0 ns lost, proved |"
    )
