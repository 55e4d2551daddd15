"""Random programs: `counted` is exact in every configuration, by judge and by clock.

Each option switched alone, all switched, seeded mixtures, and each effort of the data flow.
Each program is tried in every configuration, so that there is one for 100 of HEADWAY_PROGRAMS.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

import pytest
from budget import programs

from headway.analysis import flow
from headway.check.fuzz import Campaign, Candidate, first_of_each, to_file
from headway.check.generate import Shape, generate
from headway.cli.fuzz import simulated
from headway.ir.program import Program
from headway.strategies.counted import STRATEGY
from headway.strategies.options import options
from headway.sync.program import SyncProgram
from headway.targets.generic import TARGET

pytestmark = pytest.mark.property

PROGRAMS = programs(one_in=100, least=40)
PARTS = 8
OPTIONS = tuple(options(STRATEGY))
EFFORTS = {"thorough": (10**9, 10**9), "refined": (-1, 10**9), "quick": (-1, -1)}


def switched(*names: str) -> Candidate:
    strategy = replace(STRATEGY, **{name: not getattr(STRATEGY, name) for name in names})

    def synchronize(program: Program) -> SyncProgram:
        return strategy.synchronize(program, TARGET)

    return Candidate(" ".join(["counted", *names]), synchronize)


def configurations() -> tuple[Candidate, ...]:
    dice = random.Random(4)
    mixtures = {tuple(o for o in OPTIONS if dice.random() < 0.5) for _ in range(6)}
    off = [(), OPTIONS, *((name,) for name in OPTIONS), *sorted(mixtures)]
    return tuple(switched(*names) for names in dict.fromkeys(off))


@contextmanager
def walked(name: str) -> Generator[None]:
    thorough, refined = EFFORTS[name]
    with (
        patch.object(flow, "MAX_THOROUGH", thorough),
        patch.object(flow, "MAX_REFINED", refined),
        patch.object(flow, "STRIDE", 1),
    ):
        yield


def failures(candidates: tuple[Candidate, ...], part: int, shape: Shape | None = None) -> str:
    """Return every kind of failure once, as a small program; "" if there is none."""
    campaign = Campaign(candidates, simulated, shape or Shape())
    seeds = range(part, PROGRAMS, PARTS)
    found = [failure for seed in seeds for failure in campaign.outcome(seed).failures]
    return "\n".join(to_file(campaign.shrunk(f), f) for f in first_of_each(found))


def test_every_optimisation_is_an_option():
    assert len(OPTIONS) == 10


@pytest.mark.parametrize("part", range(PARTS))
def test_each_configuration_is_exact(part: int):
    assert failures(configurations(), part) == ""


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_each_effort_is_exact(effort: str, part: int):
    with walked(effort):
        assert failures((switched(), switched("unrolling")), part, Shape(relapses=0.5)) == ""


@pytest.mark.parametrize("effort", EFFORTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_each_effort_is_never_early_with_control_values_in_memory(effort: str, part: int):
    from headway.check import check

    with walked(effort):
        for seed in range(part, PROGRAMS // 4, PARTS):
            case = generate(seed, Shape(control_in_memory=True))
            verdict = check(STRATEGY.synchronize(case.program, TARGET), case.inputs)
            assert verdict.verdict in ("exact", "late"), f"seed {seed}: {verdict}"
