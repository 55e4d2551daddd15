"""The worked examples E1-E10 and the pitfalls C1-C17: programs with the thresholds they need.

What the comments of these files say is written in `expectations`.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from expectations import Case, Positions, cases

from headway.check import check
from headway.check.fuzz import difference, has_barriers, violation
from headway.cli.fuzz import simulated
from headway.errors import UnsupportedByTarget
from headway.ir import parse
from headway.ir.program import Instr, Program
from headway.spec import ideal, required
from headway.strategies import load, names
from headway.sync import parse_sync
from headway.sync.expand import expand
from headway.sync.program import SyncProgram
from headway.targets import bind
from headway.targets.generic import TARGET

DATA = Path(__file__).parents[1] / "data"
WRONG = sorted(DATA.glob("pitfalls/*.wrong.hwy"))
RIGHT = sorted({*DATA.glob("examples/*.hwy"), *DATA.glob("pitfalls/*.hwy")} - set(WRONG))


def right(path: Path) -> tuple[Program, list[Case]]:
    text = path.read_text()
    program = parse(text, path.name)
    return bind(program, TARGET), cases(text, program)


def wrong(path: Path) -> tuple[SyncProgram, list[Case]]:
    text = path.read_text()
    synced = parse_sync(text, path.name)
    return synced, cases(text, synced.program)


def of_right(function):
    return pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)(function)


def of_wrong(function):
    return pytest.mark.parametrize("path", WRONG, ids=lambda path: path.stem)(function)


def test_all_examples_and_pitfalls_are_there():
    ids = {path.name.partition("-")[0] for path in RIGHT}
    examples = {f"e{i:02}" for i in range(1, 11)} | {"e02b", "e07b"}
    assert ids == examples | {f"c{i:02}" for i in range(1, 18)}
    assert {path.name.partition("-")[0] for path in WRONG} == {f"c{i:02}" for i in range(1, 18)}


@of_right
def test_specification_requires_what_was_derived_by_hand(path: Path):
    program, expected = right(path)
    assert expected
    for case in expected:
        found: defaultdict[str, list[Positions]] = defaultdict(list)
        for instance, needed in required(program, case.inputs):
            found[instance.node.name].append(needed)
        assert {name: list_ for name, list_ in found.items() if any(list_)} == case.expected


@of_right
def test_scoreboard_waits_for_exactly_that(path: Path):
    program, expected = right(path)
    synced = load("scoreboard").synchronize(program, TARGET)
    for case in expected:
        found: defaultdict[str, list[Positions]] = defaultdict(list)
        for events in expand(synced, case.inputs).values():
            for event in events:
                if event.kind == "exec":
                    found[event.name].append(highest(event.waits))
        assert {name: list_ for name, list_ in found.items() if any(list_)} == case.expected


def highest(waits) -> Positions:
    found: Positions = {}
    for wait in waits:
        if wait.threshold > 0:
            found[wait.counter] = max(wait.threshold, found.get(wait.counter, 0))
    return found


@of_right
@pytest.mark.parametrize("name", names())
def test_strategy_holds(path: Path, name: str):
    program, expected = right(path)
    try:
        synced = load(name).synchronize(program, TARGET)
    except UnsupportedByTarget:
        assert any(not isinstance(node, Instr) for node in program.body)
        return
    verdicts = ("exact", "late") if synced.flags or has_barriers(synced) else ("exact",)
    for case in expected:
        verdict = check(synced, case.inputs)
        assert verdict.verdict in verdicts, str(verdict)


@of_wrong
def test_wrong_variant_is_of_the_same_program(path: Path):
    synced, _ = wrong(path)
    program, _ = right(path.with_name(path.name.replace(".wrong", "")))
    assert synced.program == program


@of_wrong
def test_wrong_variant_is_found_out(path: Path):
    synced, expected = wrong(path)
    assert any(case.findings for case in expected)
    for case in expected:
        verdict = check(synced, case.inputs)
        found = [(f.kind, f.instance, f.counter, f.threshold, f.required) for f in verdict.findings]
        assert found == case.findings
        assert verdict.verdict == (case.findings[0][0] if case.findings else "exact")


@of_right
@pytest.mark.parametrize("name", ["counted", "scoreboard"])
def test_strategy_issues_when_the_ideal_machine_does(path: Path, name: str):
    program, expected = right(path)
    synced = load(name).synchronize(program, TARGET)
    for case in expected:
        assert difference(ideal(program, case.inputs), simulated(synced, case.inputs)) == ""


@of_wrong
def test_clock_confirms_what_the_judge_says_of_a_wrong_variant(path: Path):
    synced, expected = wrong(path)
    for case in expected:
        times = simulated(synced, case.inputs)
        is_early = bool(violation(synced.program, case.inputs, times))
        is_other = bool(difference(ideal(synced.program, case.inputs), times))
        kinds = {finding[0] for finding in case.findings}
        assert is_early == ("early" in kinds)
        assert is_other == bool(kinds)
