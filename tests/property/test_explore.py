"""The judge against all interleavings: two independent answers to the same question."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

import pytest
from budget import programs

from headway import strategies, synchronize, targets
from headway.check import judge
from headway.check.explore import compare, explore
from headway.check.generate import Shape, generate
from headway.check.mutate import mutants
from headway.check.schedule import with_schedules
from headway.errors import HeadwayError, InvalidInput
from headway.ir.expr import Inputs
from headway.ir.walk import instructions
from headway.sync.program import SyncProgram
from headway.targets.generic import TARGET
from headway.targets.limits import limited

PROGRAMS = programs(one_in=10, least=300)
MUTANTS = 4
STATES = 50_000

pytestmark = pytest.mark.property


def cases() -> Iterator[tuple[int, SyncProgram, Inputs, bool]]:
    """Yield small programs, synchronized by one strategy after the other, and their mutants."""
    names = strategies.names()
    for seed in range(PROGRAMS):
        case = generate(seed, Shape(instructions=5, instances=12, control_in_memory=seed % 2 == 0))
        try:
            strategy = strategies.load(names[seed % len(names)])
            synced = strategy.synchronize(case.program, targets.load("generic"))
        except HeadwayError:
            continue
        yield seed, synced, case.inputs, True
        made = [mutant.program for mutant in mutants(synced)]
        random.Random(seed).shuffle(made)
        yield from ((seed, mutant, case.inputs, False) for mutant in islice(made, MUTANTS))


def test_judge_finds_what_some_order_shows():
    explored = 0
    for seed, synced, inputs, _ in cases():
        try:
            verdict = judge.check(synced, inputs)
            found = explore(synced, inputs, STATES)
        except InvalidInput:  # it does not run, or not in turn, or it is not small enough
            continue
        early = {(f.instance, f.counter, f.required) for f in verdict.findings if f.kind == "early"}
        assert early == set(map(tuple, found.early)), seed
        is_stuck = any(f.kind == "deadlock" for f in verdict.findings)
        assert is_stuck == bool(found.stuck or found.lost), seed
        explored += 1
    assert explored >= PROGRAMS


def test_exact_programs_reach_what_the_ideal_machine_reaches():
    compared = 0
    for seed, synced, inputs, is_whole in cases():
        if not is_whole or judge.check(synced, inputs).verdict != "exact":
            continue
        try:
            assert compare(synced, inputs, STATES).is_equal, seed
        except InvalidInput:
            continue
        compared += 1
    assert compared >= PROGRAMS // 5


def test_schedules_can_happen_and_end_early():
    shown = 0
    for seed, synced, inputs, _ in cases():
        try:
            verdict = judge.check(synced, inputs)
        except InvalidInput:
            continue
        for finding in with_schedules(verdict, synced, inputs).findings:
            if finding.schedule:
                assert finding.schedule[-1] == f"issue {finding.instance}", seed
                assert is_legal(finding.schedule), seed
                seen = sum(names(synced, event, finding.counter) for event in finding.schedule)
                assert seen < finding.required, seed
                shown += 1
    assert shown >= PROGRAMS // 10


def names(synced: SyncProgram, event: str, counter: str) -> bool:
    """Tell whether an event is a completion on that counter."""
    kind, _, instance = event.partition(" ")
    name = instance.partition("[")[0]
    counters = {instr.name: instr.counter for instr in instructions(synced.program.body)}
    return kind == "complete" and counters.get(name) == counter


def is_legal(schedule: tuple[str, ...]) -> bool:
    """Tell whether everything is issued once, and before it completes."""
    issued: list[str] = []
    for event in schedule:
        kind, _, name = event.partition(" ")
        if kind == "issue":
            issued.append(name)
        if kind == "complete" and name not in issued:
            return False
    return True


def test_judge_misses_nothing_that_semaphores_of_two_bits_do():
    """With and without barriers that reset them in time. A wait that may look late is enough."""
    explored = wrong = 0
    for seed in range(PROGRAMS // 8):
        case = generate(seed, Shape(instructions=5, instances=12))
        target = limited(TARGET, {"width": 2, "signed": seed % 2})
        for passes in (None, ["assign-semaphores"]):
            try:
                given = synchronize(case.program, target, "scoreboard", passes=passes)
            except HeadwayError:
                continue
            made = [mutant.program for mutant in mutants(given)]
            random.Random(seed).shuffle(made)
            for synced in (given, *made[:MUTANTS]):
                try:
                    found = explore(synced, case.inputs, STATES)
                    verdict = judge.check(synced, case.inputs)
                except InvalidInput:
                    continue
                kinds = {finding.kind for finding in verdict.findings}
                assert bool(found.early) == ("early" in kinds), seed
                assert "deadlock" in kinds or not found.stuck, seed
                explored += 1
                wrong += found.verdict != "sound"
    assert explored > wrong > PROGRAMS // 16
