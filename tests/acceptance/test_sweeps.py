"""The sweeps: what runs out, and that the page shows it. Times of `generic` are the page's own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from headway.bench.sweeps import SWEEPS, Point

PAGE = (Path(__file__).parents[2] / "docs" / "sweeps.md").read_text(encoding="utf-8").splitlines()
QUICK = {
    "fan-out": (8, 9, 30, 300),
    "rotation": (1, 2, 9, 64),
    "bursts": (8, 9, 32),
    "nest": (1, 2, 4),
}


@cache
def points(name: str, target: str = "generic") -> dict[int, Point]:
    (sweep,) = (sweep for sweep in SWEEPS if sweep.shape == name)
    return {point.value: point for point in sweep.points(QUICK[name], (target,))}


@pytest.mark.parametrize("name", QUICK)
def test_counted_loses_nothing_whatever_grows(name: str) -> None:
    assert {point.loss("counted") for point in points(name).values()} == {0}


@pytest.mark.parametrize("name", QUICK)
def test_the_page_shows_these_rows(name: str) -> None:
    assert [str(p) for p in points(name).values() if str(p) not in PAGE] == []


def test_eight_ids_are_too_few_for_nine_of_anything() -> None:
    for name, ample, few in (("fan-out", 8, 9), ("bursts", 8, 9)):
        assert points(name)[ample].loss("flags, 8 ids") == 0
        assert points(name)[few].loss("flags, 8 ids") > 0.01
        assert points(name)[few].loss("flags, any ids") == 0
    assert points("bursts")[32].loss("flags, 8 ids") > 0.3


def test_nests_cost_counted_little_and_flags_much() -> None:
    found = points("nest", "trn2")
    excess = [found[depth].loss("counted") for depth in (1, 2, 4)]
    assert excess == sorted(excess, reverse=True)
    assert excess[-1] < 0.05
    flags = [found[depth].loss("flags, 8 ids") for depth in (1, 2, 4)]
    assert flags == sorted(flags)
    assert flags[-1] > 0.25
