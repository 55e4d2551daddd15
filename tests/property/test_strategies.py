"""Random programs: no strategy is early, those without barriers are exact, by judge and by clock.

HEADWAY_PROGRAMS sets how many (300 by default). Each is tried with `scoreboard`, minimal barriers
and `counted`, whose options are switched in every other one; one in five with all strategies. A
failure prints a small program that fails too.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest
from budget import programs
from clock import violated

from headway.check import check
from headway.check.fuzz import Campaign, Candidate, difference, first_of_each, to_file, violation
from headway.check.generate import Shape, generate, with_random_durations
from headway.check.trial import Mutation
from headway.cli.fuzz import ALL, candidates, simulated, synchronized, ways
from headway.errors import UnsupportedByTarget
from headway.ir.program import Program
from headway.spec import ideal
from headway.strategies import names
from headway.sync.program import Exec, SyncProgram

pytestmark = pytest.mark.property

PROGRAMS = programs()
PARTS = 8
"""Parts of the campaign, for as many processes."""

EVERYTHING = 5
"""One in so many programs is tried with all strategies."""

WAYS = tuple(ways("counted", (ALL,)))
"""`counted` with each option switched, and with all."""


def tried(seed: int) -> tuple[str, ...]:
    """Return what the program of a seed is tried with."""
    if seed % EVERYTHING == 0:
        return names()
    return "scoreboard", "barrier", WAYS[seed // 10 % len(WAYS)] if seed % 2 else "counted"


def seeds(part: int, programs: int = PROGRAMS) -> range:
    return range(part, programs, PARTS)


def failures(campaign: Campaign, chosen: Iterable[int]) -> str:
    """Return every kind of failure once, as a small program; "" if there is none."""
    found = [failure for seed in chosen for failure in campaign.outcome(seed).failures]
    texts = (to_file(campaign.shrunk(failure), failure) for failure in first_of_each(found))
    return "\n".join(texts)


@pytest.mark.parametrize("part", range(PARTS))
def test_strategies_hold_on_random_programs(part: int):
    campaigns = ((seed, Campaign(candidates(tried(seed)), simulated)) for seed in seeds(part))
    found = (failures(campaign, [seed]) for seed, campaign in campaigns)
    assert next(filter(None, found), "") == ""


def test_every_strategy_and_option_has_its_share():
    programs = 30 * len(WAYS)  # as often each option's turn
    shares = Counter(name for seed in range(programs) for name in tried(seed))
    assert shares["scoreboard"] == shares["barrier"] == programs
    assert min(shares[name] for name in names()) == programs // 5
    assert sum(shares[way] for way in WAYS) == programs
    assert min(shares[way] for way in WAYS) >= 12


def test_campaign_finds_a_strategy_that_forgets_a_wait():
    def forgetful(program: Program) -> SyncProgram:
        synced = synchronized("scoreboard", program)
        first = synced.engines[0]
        body = tuple(
            replace(node, waits=()) if isinstance(node, Exec) else node for node in first.body
        )
        return replace(synced, engines=(replace(first, body=body), *synced.engines[1:]))

    assert failures(Campaign((Candidate("forgetful", forgetful),), simulated), range(60)) != ""


@pytest.mark.parametrize("part", range(PARTS))
def test_exact_means_the_ideal_issue_times_whatever_instructions_take(part: int):
    for seed in seeds(part, PROGRAMS // 10):
        case = generate(seed)
        synced = synchronized("scoreboard", case.program)
        assert check(synced, case.inputs).verdict == "exact"
        for run in range(3):
            program = with_random_durations(case.program, random.Random(f"{seed}/{run}"))
            times = simulated(replace(synced, program=program), case.inputs)
            assert difference(ideal(program, case.inputs), times) == "", f"seed {seed}, run {run}"
            assert violation(program, case.inputs, times) == "", f"seed {seed}, run {run}"


@pytest.mark.parametrize("part", range(PARTS))
def test_control_values_in_memory_are_late_at_most_where_an_engine_follows(part: int):
    # H4: scoreboard lets engines without work inside a loop load its trip count, to count along.
    for seed in seeds(part, PROGRAMS // 10):
        case = generate(seed, Shape(control_in_memory=True))
        verdict = check(synchronized("scoreboard", case.program), case.inputs)
        others = [f for f in verdict.findings if "without work inside" not in f.message]
        assert others == [], f"seed {seed}: {others[0]}"


@pytest.mark.parametrize("part", range(PARTS))
def test_barriers_and_flags_are_never_early_with_control_values_in_memory(part: int):
    for number, seed in enumerate(seeds(part, PROGRAMS // 5)):
        case = generate(seed, Shape(control_in_memory=True))
        name = ("barrier", "barrier-always", "flags", "phase")[number % 4]
        verdict = check(synchronized(name, case.program), case.inputs)
        assert verdict.verdict in ("exact", "late"), f"seed {seed}, {name}: {verdict}"


@pytest.mark.parametrize("part", range(PARTS))
def test_control_values_are_loaded_after_they_are_written_by_the_clock_too(part: int):
    for seed in seeds(part, PROGRAMS // 40):
        case = generate(seed, Shape(control_in_memory=True))
        program = with_random_durations(case.program, random.Random(seed))
        for name in names():
            try:
                synced = replace(synchronized(name, case.program), program=program)
            except UnsupportedByTarget:
                continue
            assert violated(synced, case.inputs, simulated(synced, case.inputs)) == "", f"{seed}"


@pytest.mark.parametrize("part", range(PARTS))
def test_judge_misses_no_mutant(part: int):
    mutation = Mutation(candidates(("scoreboard", "barrier", "flags", "phase")), simulated)
    tried = [
        mutant for seed in seeds(part, min(PROGRAMS // 5, 240)) for mutant in mutation.outcome(seed)
    ]
    assert [mutant for mutant in tried if mutant.fate == "missed"] == []
    assert any(mutant.fate == "caught" for mutant in tried)
