"""Random programs and mutants: nothing is proved, and no certificate is valid, that a run refutes.

Each program is tried with a few mutants per strategy: one for 100 of HEADWAY_PROGRAMS.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest
from budget import programs

from headway import synchronize
from headway.certify import certify, from_json, verify
from headway.check.generate import Shape, generate
from headway.check.judge import check
from headway.check.mutate import mutants
from headway.errors import InvalidInput
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.sync.program import SyncProgram

pytestmark = pytest.mark.property

PROGRAMS = programs(one_in=100, least=40)
RUNS = 6


def some_inputs(program: Program, dice: random.Random) -> Iterator[Inputs]:
    for _ in range(RUNS):
        yield {
            d.name: [dice.randint(0, 3) for _ in range(8)] if d.is_list else dice.randint(0, 4)
            for d in program.inputs
        }


def is_refuted(synced: SyncProgram, runs: list[Inputs]) -> bool:
    for inputs in runs:
        try:
            if check(synced, inputs).verdict not in ("exact", "late"):
                return True
        except InvalidInput:
            continue
    return False


def is_late(synced: SyncProgram, runs: list[Inputs]) -> bool:
    for inputs in runs:
        try:
            if check(synced, inputs).verdict == "late":
                return True
        except InvalidInput:
            continue
    return False


@pytest.mark.parametrize("strategy", ["scoreboard", "counted", "barrier", "flags", "phase"])
def test_what_a_run_refutes_has_no_certificate(strategy: str) -> None:
    refuted = certified = 0
    for seed in range(PROGRAMS // 4):
        marks = 0.2 if seed % 3 == 0 and strategy not in ("flags", "phase") else 0
        case = generate(seed, Shape(instructions=5, silent=marks, control_in_memory=seed % 2 == 1))
        dice = random.Random(seed)
        runs = [case.inputs, *some_inputs(case.program, dice)]
        synced = synchronize(case.program, "generic", strategy)
        found = certify(synced)
        old = from_json(json.loads(json.dumps(found.certificate.to_json())))
        assert not found.is_complete or verify(synced, old) == []
        wrong = list(mutants(synced))
        for program in (synced, *(m.program for m in dice.sample(wrong, min(3, len(wrong))))):
            found = certify(program)
            certified += found.is_complete
            if is_refuted(program, runs):
                refuted += 1
                assert not found.is_complete, seed
                assert verify(program, old), seed
            elif found.is_complete and not found.late:
                assert not is_late(program, runs), seed
    assert refuted > PROGRAMS // 8
    assert certified > PROGRAMS // 8
