"""Every scenario has the verdict that was derived by hand, and the page shows the same."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from headway.bench import scenarios
from headway.bench.scenarios import Judged, Scenario

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
        "| late, 0 ns lost | **not as expected** exact, 0 ns lost |"
    )
