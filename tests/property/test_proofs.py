"""Random programs and mutants: nothing is proved, and no certificate is valid, that a run refutes.

Each program is tried with a few mutants per strategy: one for 50 of HEADWAY_PROGRAMS.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest
from budget import programs

from headway import synchronize
from headway.check.generate import Shape, generate
from headway.check.judge import check
from headway.check.mutate import mutants
from headway.errors import InvalidInput
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.prove import prove, verify
from headway.prove.certificate import from_json
from headway.sync.program import SyncProgram

pytestmark = pytest.mark.property

PROGRAMS = programs(one_in=50, least=40)
MUTANTS = 6
RUNS = 8


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


@pytest.mark.parametrize("strategy", ["scoreboard", "counted", "barrier"])
def test_what_a_run_refutes_is_never_proved(strategy: str) -> None:
    refuted = proved = 0
    for seed in range(PROGRAMS):
        case = generate(seed, Shape(instructions=6))
        dice = random.Random(seed)
        runs = [case.inputs, *some_inputs(case.program, dice)]
        synced = synchronize(case.program, "generic", strategy)
        proof = prove(synced)
        proved += proof.is_complete
        certificate = from_json(json.loads(json.dumps(proof.certificate.to_json())))
        assert not is_refuted(synced, runs)
        wrong = list(mutants(synced))
        for mutant in dice.sample(wrong, min(MUTANTS, len(wrong))):
            is_proved = prove(mutant.program).is_complete
            proved += is_proved
            if is_refuted(mutant.program, runs):
                refuted += 1
                assert not is_proved, (seed, mutant.kind)
                assert verify(mutant.program, certificate), (seed, mutant.kind)
    assert refuted > PROGRAMS
    assert proved > PROGRAMS // 2
