"""A certificate is checked without the prover, and nothing that is wrong with it passes."""

import copy
import json
import random

import pytest

from headway import synchronize
from headway.check.generate import Shape, generate
from headway.check.judge import check
from headway.check.mutate import mutants
from headway.errors import InvalidInput
from headway.kernels import load
from headway.prove import prove, verify
from headway.prove.certificate import from_json, of_ranges, to_ranges
from headway.sync.program import SyncProgram

INPUTS = [{"m": 2, "n": 3, "k": k} for k in (0, 1, 3)]


@pytest.fixture(scope="module")
def matmul() -> SyncProgram:
    return synchronize(load("matmul").program(), "trn2", "counted")


@pytest.fixture(scope="module")
def certificate(matmul: SyncProgram) -> dict:
    return json.loads(json.dumps(prove(matmul).certificate.to_json()))


def reasons(synced: SyncProgram, data: dict) -> list[str]:
    return [gap.reason for gap in verify(synced, from_json(data))]


def test_a_certificate_proves_its_program(matmul: SyncProgram, certificate: dict) -> None:
    assert reasons(matmul, certificate) == []


def test_an_old_certificate_does_not_prove_a_program_that_has_gone_wrong(
    matmul: SyncProgram, certificate: dict
) -> None:
    refused = 0
    for mutant in random.Random(0).sample(list(mutants(matmul)), 30):
        gaps = verify(mutant.program, from_json(certificate))
        if any(check(mutant.program, i).verdict not in ("exact", "late") for i in INPUTS):
            assert gaps, mutant.kind
            refused += 1
    assert refused > 10


@pytest.mark.parametrize("part", ["dependences", "waits"])
def test_every_dependence_and_wait_has_to_be_listed(
    matmul: SyncProgram, certificate: dict, part: str
) -> None:
    for i in range(0, len(certificate[part]), 3):
        changed = copy.deepcopy(certificate)
        del changed[part][i]
        name = {"dependences": "dependence", "waits": "wait"}[part]
        assert reasons(matmul, changed) == [f"the certificate lists another rule for some {name}"]


def test_a_rule_that_does_not_apply_is_refused(matmul: SyncProgram, certificate: dict) -> None:
    rules = {entry["rule"] for entry in certificate["dependences"]}
    assert len(rules) > 1
    for i, entry in list(enumerate(certificate["dependences"]))[::3]:
        for rule in rules - {entry["rule"]}:
            changed = copy.deepcopy(certificate)
            changed["dependences"][i]["rule"] = rule
            assert reasons(matmul, changed)


@pytest.mark.thorough
def test_a_fact_that_does_not_hold_is_refused(matmul: SyncProgram, certificate: dict) -> None:
    wrong: list[dict] = []

    def change(path: str, table: str, key: object, value: object) -> None:
        changed = copy.deepcopy(certificate)
        facts = changed["heads"][path][table]
        if isinstance(facts, list):
            facts[key] = [*facts[key][:-1], value]
        else:
            facts[key] = value
        wrong.append(changed)

    for path, facts in certificate["heads"].items():
        for engine in facts["known"]:
            change(path, "known", engine, "0-1000")
        for table, more in (("equal", 1), ("below", 100)):
            for i, entry in enumerate(facts[table]):
                change(path, table, i, entry[-1] + more)
    assert len(wrong) > 50
    for changed in random.Random(0).sample(wrong, 25):
        assert reasons(matmul, changed)


def test_facts_that_are_missing_leave_a_gap(matmul: SyncProgram, certificate: dict) -> None:
    for path in certificate["heads"]:
        changed = copy.deepcopy(certificate)
        del changed["heads"][path]
        assert "the certificate has no facts for this loop" in reasons(matmul, changed)


def test_a_certificate_of_another_program_is_refused(certificate: dict) -> None:
    other = synchronize(load("sync-chain").program(), "trn2", "counted")
    assert reasons(other, certificate) == ["the certificate is for a program with other accesses"]


@pytest.mark.parametrize("seed", range(8))
def test_random_changes_of_facts_never_make_a_wrong_program_pass(seed: int) -> None:
    dice = random.Random(seed)
    case = generate(seed, Shape(instructions=6))
    synced = synchronize(case.program, "generic", "scoreboard")
    data = json.loads(json.dumps(prove(synced).certificate.to_json()))
    for mutant in dice.sample(all_mutants := list(mutants(synced)), min(6, len(all_mutants))):
        changed = copy.deepcopy(data)
        for facts in changed["heads"].values():
            engine = dice.choice(list(facts["known"]))
            facts["known"][engine] = to_ranges(of_ranges(facts["known"][engine]) | 1 << seed)
        if check(mutant.program, case.inputs).verdict not in ("exact", "late"):
            assert verify(mutant.program, from_json(data))
            assert verify(mutant.program, from_json(changed))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "this is not a certificate: it is no object"),
        ({"format": "x"}, "its format is 'x' and not 'headway certificate 1'"),
        ({"format": "headway certificate 1"}, "'program' is missing"),
    ],
)
def test_what_is_no_certificate_is_an_invalid_input(data: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        from_json(data)


def test_facts_that_cannot_be_read_are_an_invalid_input(
    matmul: SyncProgram, certificate: dict
) -> None:
    changed = copy.deepcopy(certificate)
    changed["heads"]["0"]["known"] = {"tensor": "x"}
    with pytest.raises(InvalidInput, match="the facts of a loop are not readable"):
        verify(matmul, from_json(changed))


@pytest.mark.parametrize("marks", [0, 1, 0b1011, 0b11110, 1 << 70])
def test_sets_of_marks_are_read_as_they_are_written(marks: int) -> None:
    assert of_ranges(to_ranges(marks)) == marks
