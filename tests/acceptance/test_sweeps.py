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
    "chain-3": (64, 512),
    "in-place": (2, 3, 8),
    "recurrence": (32, 256),
    "semaphores": (32,),
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
    rows = [f"| {' | '.join(point.cells())} |" for point in points(name).values()]
    assert [row for row in rows if row not in PAGE] == []


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


def test_slots_changed_in_place_need_a_third_one_and_no_more() -> None:
    found = points("in-place", "trn2")
    assert found[2].latencies["counted"] > 1.4 * found[3].latencies["counted"]
    assert found[3].loss("counted") < 0.1
    assert found[8].loss("counted") < 0.001


def test_the_longer_a_chain_the_more_a_barrier_costs() -> None:
    gains = [
        next(iter(sweep.points((128,), ("trn2",)))) for sweep in SWEEPS if "chain-" in sweep.shape
    ]
    ratios = [point.latencies["barrier"] / point.latencies["counted"] for point in gains]
    assert len(ratios) == 3
    assert ratios == sorted(ratios)
    assert min(ratios) > 3.3


def test_narrow_semaphores_cost_barriers_the_more_the_narrower() -> None:
    (sweep,) = (sweep for sweep in SWEEPS if sweep.is_limit)
    losses = [point.loss("counted") for point in sweep.points((6, 10, 32), ("trn2",))]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > 2 * losses[-1]
