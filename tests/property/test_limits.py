"""Narrow targets on random programs, and semaphores of every width around their largest count.

Each program is tried with every strategy: one for 50 of HEADWAY_PROGRAMS.
"""

from __future__ import annotations

import random

import pytest
from budget import programs

from headway.check import check
from headway.check.fuzz import violation
from headway.check.generate import Shape, generate
from headway.check.mutate import mutants
from headway.compiler import synchronize
from headway.errors import InvalidProgram, UnsupportedByTarget
from headway.ir import parse, to_text
from headway.sim import simulate
from headway.targets.generic import TARGET
from headway.targets.limits import limited

pytestmark = pytest.mark.property

PROGRAMS = programs(one_in=50, least=16)
PARTS = 4
STRATEGIES = ("counted", "scoreboard", "barrier", "flags")
CHOICES = {
    "registers": (0, 1, 2, 4, 64),
    "semaphores": (0, 1, 2, 3, 100),
    "width": (3, 4, 6, 32),
    "signed": (0, 1),
    "waits": (0, 1, 2),
    "updates": (0, 1, 1),
    "sums": (0, 1),
    "thresholds": (0, 1, 1),
}
NARROW = (
    {"width": 2, "signed": 0, "sums": 0, "waits": 1},
    {"width": 3, "registers": 6},
    {"width": 5, "registers": 3, "sums": 0},
    {"thresholds": 0, "width": 4},
)
PAIR = parse("""program @p { input n engine A engine B buffer b
  loop i n { A p writes(b) takes(10) B c reads(b) takes(30) } }""")


@pytest.mark.parametrize("width", range(4, 17))
def test_counts_around_the_largest_are_right_for_every_width(width: int) -> None:  # T18
    synced = synchronize(PAIR, limited(TARGET, {"width": width, "signed": 0}))
    naive = synchronize(
        PAIR, limited(TARGET, {"width": width, "signed": 0}), passes=["assign-semaphores"]
    )
    for n in (2**width - 1, 2**width, 2**width + 1):
        assert check(synced, {"n": n}).verdict == "exact"
        if width <= 12:
            wraps = n >= 2**width
            assert check(naive, {"n": n}).verdict == ("early" if wraps else "exact")


@pytest.mark.parametrize("part", range(PARTS))
def test_all_limits_together_make_nothing_early_and_nobody_stand_still(part: int) -> None:
    for seed in range(part, PROGRAMS // 2, PARTS):
        case = generate(seed, Shape(10, 200, seed % 3 == 0, 0.2, 0.4, relapses=0.5))
        dice = random.Random(seed)
        limits = {name: dice.choice(values) for name, values in CHOICES.items()}
        for strategy in (*STRATEGIES, "phase"):
            try:
                synced = synchronize(case.program, limited(TARGET, limits), strategy)
            except UnsupportedByTarget:
                continue
            verdict = check(synced, case.inputs)
            where = f"seed {seed}, {strategy}, {limits}: {verdict}\n{to_text(case.program)}"
            assert verdict.verdict in ("exact", "late"), where
            tracks = simulate(synced, case.inputs, TARGET).tracks
            times = {track.counter: [(t.issue, t.done) for t in track] for track in tracks}
            assert violation(synced.program, case.inputs, times) == "", where


def test_judge_finds_mutants_of_programs_that_had_to_fit() -> None:
    caught = 0
    for seed in range(4):
        case = generate(seed, Shape(7, 60, silent=0.3, fused=0.4))
        limits = {"registers": 3, "semaphores": 2, "sums": 0, "waits": 1}
        synced = synchronize(case.program, limited(TARGET, limits))
        before = check(synced, case.inputs).verdict
        for mutant in mutants(synced, ("wait-deleted", "barrier-dropped", "instruction-dropped")):
            try:
                verdict = check(mutant.program, case.inputs).verdict
            except InvalidProgram:
                verdict = "invalid"
            caught += verdict not in (before, "exact", "late")
    assert caught > 5


@pytest.mark.parametrize("part", range(PARTS))
def test_no_limit_makes_an_instance_early_or_an_engine_stand_still(part: int) -> None:
    for seed in range(part, PROGRAMS, PARTS):
        case = generate(seed, Shape(12, 400, seed % 3 == 0, relapses=seed % 2))
        limits = NARROW[seed // PARTS % len(NARROW)]
        for strategy in STRATEGIES:
            try:
                synced = synchronize(case.program, limited(TARGET, limits), strategy)
            except UnsupportedByTarget:
                continue
            verdict = check(synced, case.inputs)
            assert verdict.verdict in ("exact", "late"), f"seed {seed}, {limits}: {verdict}"
            tracks = simulate(synced, case.inputs, TARGET).tracks
            times = {track.counter: [(t.issue, t.done) for t in track] for track in tracks}
            assert violation(synced.program, case.inputs, times) == "", f"seed {seed}, {limits}"
