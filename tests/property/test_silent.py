"""Random programs with silent instructions: every strategy, the judge, the clock, all orders."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from budget import programs

from headway.check import check
from headway.check.explore import compare
from headway.check.fuzz import difference, violation
from headway.check.generate import Shape, generate, with_random_durations
from headway.check.mutate import mutants
from headway.check.trial import Trial
from headway.cli.fuzz import simulated, synchronized
from headway.errors import InvalidInput
from headway.ir import to_text
from headway.ir.program import Program
from headway.passes.cover_silent import covered, unmarked
from headway.spec import ideal
from headway.strategies import names
from headway.targets.generic import TARGET

pytestmark = pytest.mark.property

PROGRAMS = programs(one_in=80, least=24)
PARTS = 4
EXACT = ("counted", "scoreboard")


def seeds(part: int, count: int) -> range:
    return range(part, max(PARTS, count), PARTS)


def shown(program: Program) -> Program:
    return covered(program, TARGET)[0]


@pytest.mark.parametrize("part", range(PARTS))
def test_strategies_hold_where_some_instructions_are_silent(part: int) -> None:
    for seed in seeds(part, PROGRAMS):
        case = generate(seed, Shape(14, 400, silent=0.4))
        program, inputs = shown(case.program), case.inputs
        issues = ideal(program, inputs)
        for name in set(names()) - {"static"}:
            synced = synchronized(name, program)
            verdict, times = check(synced, inputs), simulated(synced, inputs)
            where = f"seed {seed}, {name}: {verdict}\n{to_text(program)}"
            assert verdict.verdict in ("exact",) if name in EXACT else ("exact", "late"), where
            assert violation(program, inputs, times) == "", where
            if name in EXACT:
                assert difference(issues, times) == "", where


@pytest.mark.parametrize("part", range(PARTS))
def test_exact_means_ideal_whatever_instructions_take(part: int) -> None:
    for seed in seeds(part, PROGRAMS // 5):
        case = generate(seed, Shape(12, 300, silent=0.4))
        synced = synchronized("counted", shown(case.program))
        for run in range(3):
            program = with_random_durations(synced.program, random.Random(f"{seed}/{run}"))
            times = simulated(replace(synced, program=program), case.inputs)
            assert difference(ideal(program, case.inputs), times) == "", f"seed {seed}, run {run}"


@pytest.mark.parametrize("part", range(PARTS))
def test_control_values_in_memory_are_never_read_too_early(part: int) -> None:
    for seed in seeds(part, PROGRAMS // 3):
        case = generate(seed, Shape(12, 300, control_in_memory=True, silent=0.4))
        program = shown(case.program)
        for name in set(names()) - {"static"}:
            verdict = check(synchronized(name, program), case.inputs)
            assert verdict.verdict in ("exact", "late"), f"seed {seed}, {name}: {verdict}"


def test_all_orders_of_small_programs_are_those_of_the_ideal_machine() -> None:
    tried = 0
    for seed in range(40):
        case = generate(seed, Shape(5, 12, silent=0.5))
        synced = synchronized("counted", shown(case.program))
        try:
            found = compare(synced, case.inputs, limit=4_000)
        except InvalidInput:
            continue  # too many states
        tried += 1
        assert (found.given.verdict, found.is_equal) == ("sound", True), f"seed {seed}"
    assert tried > 5


@pytest.mark.parametrize("part", range(PARTS))
def test_judge_misses_no_mutant_where_some_are_silent(part: int) -> None:
    fates: list[str] = []
    for seed in seeds(part, min(PROGRAMS // 6, 120)):
        case = generate(seed, Shape(8, 80, silent=0.4))
        for name in ("scoreboard", "counted", "flags"):
            synced = synchronized(name, shown(case.program))
            trial = Trial(synced, case.inputs, simulated, seed)
            for mutant in mutants(synced):
                fate, why = trial.fate(mutant)
                assert fate != "missed", f"seed {seed}, {name}, {mutant.kind}: {why}"
                fates.append(fate)
    assert "caught" in fates


def test_judge_finds_who_takes_a_silent_instruction_for_a_signal() -> None:
    verdicts: list[str] = []
    for seed in range(30):
        case = generate(seed, Shape(10, 200, silent=0.4))
        program = shown(case.program)
        loud = synchronized("scoreboard", unmarked(program))
        verdicts.append(check(replace(loud, program=program), case.inputs).verdict)
    assert sum(verdict in ("early", "deadlock") for verdict in verdicts) > 10
