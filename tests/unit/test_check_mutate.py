"""Mutants: one mistake each, at every place where it can be made."""

from __future__ import annotations

import random

import pytest

from headway.check.generate import Shape, generate, with_random_durations
from headway.check.mutate import KINDS, mutants
from headway.check.trial import Mutation, Trial
from headway.cli.fuzz import candidates, simulated
from headway.ir.program import Takes
from headway.ir.walk import instructions
from headway.sync import parse_sync, to_text
from headway.sync.program import SyncProgram

SYNCED = """\
sync @t {
  program @t {
    input n
    engine A
    engine B
    buffer b
    loop i n {
      A p writes(b) takes(10)
      B c reads(b) takes(20)
    }
  }
  engine A {
    registers shadow.B
    loop i n {
      p waits B >= shadow.B
      shadow.B := shadow.B + 1
    }
  }
  engine B {
    registers shadow.A
    loop i n {
      shadow.A := shadow.A + 1
      c waits A >= shadow.A
    }
  }
}
"""
BARRIER = """\
sync @t {
  program @t {
    engine A
    engine B
    buffer b
    A p writes(b) takes(10)
    B c reads(b) takes(20)
  }
  engine A {
    p
    barrier
  }
  engine B {
    barrier
    c
  }
}
"""


def changed_lines(text: str, kind: str) -> list[tuple[list[str], list[str]]]:
    """Return, for each mutant of a kind, the lines that went and the lines that came."""
    original = parse_sync(text)
    before = to_text(original).splitlines()
    found: list[tuple[list[str], list[str]]] = []
    for mutant in mutants(original, [kind]):
        after = to_text(mutant.program).splitlines()
        gone, come = list(before), list(after)
        for line in before:
            if line in come:
                come.remove(line)
                gone.remove(line)
        found.append(([line.strip() for line in gone], [line.strip() for line in come]))
    return found


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (
            "wait-deleted",
            [(["p waits B >= shadow.B"], ["p"]), (["c waits A >= shadow.A"], ["c"])],
        ),
        (
            "threshold-raised",
            [
                (["p waits B >= shadow.B"], ["p waits B >= shadow.B + 1"]),
                (["c waits A >= shadow.A"], ["c waits A >= shadow.A + 1"]),
            ],
        ),
        (
            "threshold-lowered",
            [
                (["p waits B >= shadow.B"], ["p waits B >= shadow.B - 1"]),
                (["c waits A >= shadow.A"], ["c waits A >= shadow.A - 1"]),
            ],
        ),
        (
            "wait-moved",
            [
                (["p waits B >= shadow.B"], ["p", "wait B >= shadow.B"]),
                (["c waits A >= shadow.A"], ["c", "wait A >= shadow.A"]),
            ],
        ),
        (
            "assign-dropped",
            [(["shadow.B := shadow.B + 1"], []), (["shadow.A := shadow.A + 1"], [])],
        ),
        ("register-reset", [([], ["shadow.B := 0"]), ([], ["shadow.A := 0"])]),
        ("barrier-dropped", []),
    ],
)
def test_mistake_is_made_once_at_every_place(
    kind: str, expected: list[tuple[list[str], list[str]]]
):
    assert changed_lines(SYNCED, kind) == expected


def test_nothing_is_left_of_waits_that_stand_alone():
    alone = SYNCED.replace("c waits A >= shadow.A", "wait A >= shadow.A\n      c")
    assert changed_lines(alone, "wait-deleted")[1:] == [(["wait A >= shadow.A"], [])]


def test_barrier_is_dropped_on_one_engine():
    assert changed_lines(BARRIER, "barrier-dropped") == [(["barrier"], []), (["barrier"], [])]


def test_instruction_is_dropped_although_the_text_would_be_refused():
    dropped = [
        m.program.engine(m.engine).body
        for m in mutants(parse_sync(BARRIER))
        if m.kind == "instruction-dropped"
    ]
    assert [len(body) for body in dropped] == [1, 1]


def fates(synced: SyncProgram, kind: str, **inputs: int) -> list[str]:
    trial = Trial(synced, inputs, simulated, seed=1)
    return [trial.fate(mutant)[0] for mutant in mutants(synced, [kind])]


def test_mutants_that_make_a_difference_are_caught():
    synced = parse_sync(SYNCED)
    assert fates(synced, "wait-deleted", n=3) == ["caught", "caught"]
    assert fates(synced, "instruction-dropped", n=3) == ["caught", "caught"]
    assert fates(parse_sync(BARRIER), "barrier-dropped") == ["caught", "caught"]


def test_mutants_of_what_does_not_run_are_equivalent():
    synced = parse_sync(SYNCED)
    assert {fate for kind in KINDS for fate in fates(synced, kind, n=0)} == {"equivalent"}


def test_reset_of_a_register_that_is_0_anyway_is_equivalent():
    assert fates(parse_sync(SYNCED), "register-reset", n=3) == ["equivalent", "equivalent"]


def test_mutant_that_the_judge_overlooks_is_missed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("headway.check.trial.Trial._judge", lambda *_: frozenset())
    synced = parse_sync(SYNCED)
    trial = Trial(synced, {"n": 3}, simulated, seed=1)
    deleted = list(mutants(synced, ["wait-deleted"]))
    assert [trial.fate(mutant)[0] for mutant in deleted] == ["missed", "missed"]
    assert " is issued at " in trial.fate(deleted[1])[1]


@pytest.mark.thorough
def test_no_mutant_of_random_programs_is_missed():
    mutation = Mutation(candidates(("scoreboard", "barrier", "flags")), simulated, Shape(6, 60))
    found = [tried for seed in range(8) for tried in mutation.outcome(seed)]
    assert {tried.kind for tried in found} == set(KINDS)
    assert [tried for tried in found if tried.fate == "missed"] == []
    caught = {tried.kind for tried in found if tried.fate == "caught"}
    assert caught == set(KINDS)


def test_random_durations_keep_the_rest_of_the_program():
    program = generate(9).program
    other = with_random_durations(program, random.Random(1))
    pipelined = {x.name for x in (*program.engines, *program.queues) if x.pipelined}
    assert other != program
    for old, new in zip(instructions(program.body), instructions(other.body), strict=True):
        assert (old.name, old.reads, old.writes) == (new.name, new.reads, new.writes)
        assert isinstance(new.cost, Takes)
        assert new.cost.occupancy <= new.cost.latency
        assert new.counter in pipelined or new.cost.occupancy == new.cost.latency
