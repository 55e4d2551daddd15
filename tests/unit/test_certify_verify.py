"""A certificate is checked without the prover, and nothing that is wrong with it passes."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from headway import synchronize
from headway.certify import certify, from_json, verify
from headway.check.generate import Shape, generate
from headway.check.judge import check
from headway.check.mutate import mutants
from headway.errors import InvalidInput
from headway.kernels import load
from headway.sync import parse_sync
from headway.sync.program import SyncProgram

Json = dict[str, Any]
INPUTS = [{"m": 2, "n": 3, "k": k} for k in (0, 1, 3)]


@pytest.fixture(scope="module")
def matmul() -> SyncProgram:
    return synchronize(load("matmul").program(), "trn2", "counted")


@pytest.fixture(scope="module")
def chain() -> SyncProgram:
    return synchronize(load("sync-chain").program(), "generic", "counted")


def written(synced: SyncProgram) -> Json:
    return json.loads(json.dumps(certify(synced).certificate.to_json()))


@pytest.fixture(scope="module")
def certificate(matmul: SyncProgram) -> Json:
    return written(matmul)


@pytest.fixture(scope="module")
def small(chain: SyncProgram) -> Json:
    return written(chain)


def reasons(synced: SyncProgram, data: Json) -> list[str]:
    return [gap.reason for gap in verify(synced, from_json(data))]


def is_refused(synced: SyncProgram, data: Json) -> bool:
    try:
        return bool(reasons(synced, data))
    except InvalidInput:
        return True


def controls(order: list[Any]) -> Iterator[Json]:
    """Yield every loop and if of an order."""
    for entry in order:
        if not isinstance(entry, str) and "engines" in entry:
            yield entry
            for part in ("body", "then", "else"):
                yield from controls(entry.get(part, []))


@pytest.mark.thorough
def test_a_certificate_proves_its_program(matmul: SyncProgram, certificate: Json) -> None:
    assert reasons(matmul, certificate) == []


@pytest.mark.thorough
def test_an_old_certificate_does_not_prove_a_program_that_has_gone_wrong(
    matmul: SyncProgram, certificate: Json
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
    matmul: SyncProgram, certificate: Json, part: str
) -> None:
    for i in range(0, len(certificate[part]), 3):
        changed = copy.deepcopy(certificate)
        del changed[part][i]
        name = {"dependences": "dependence", "waits": "wait"}[part]
        assert reasons(matmul, changed) == [f"the certificate lists another rule for some {name}"]


@pytest.mark.thorough
def test_a_rule_that_does_not_apply_is_refused(matmul: SyncProgram, certificate: Json) -> None:
    rules = {entry["rule"] for entry in certificate["dependences"]}
    assert len(rules) > 1
    listed: list[Json] = certificate["dependences"]
    for i, entry in list(enumerate(listed))[::3]:
        for rule in rules - {entry["rule"]}:
            changed = copy.deepcopy(certificate)
            changed["dependences"][i]["rule"] = rule
            assert reasons(matmul, changed)


def test_the_order_has_to_run_everything_and_nothing_twice(chain: SyncProgram, small: Json) -> None:
    (loop,) = controls(small["order"])
    tried = 0
    for i in range(len(loop["body"])):
        for entries in ([], [loop["body"][i]] * 2):
            changed = copy.deepcopy(small)
            next(controls(changed["order"]))["body"][i : i + 1] = entries
            assert is_refused(chain, changed)
            tried += 1
    for i in range(len(loop["engines"])):
        changed = copy.deepcopy(small)
        del next(controls(changed["order"]))["engines"][i]
        assert is_refused(chain, changed)
    assert tried > 6


def test_an_engine_that_takes_part_twice_runs_its_loop_once(
    chain: SyncProgram, small: Json
) -> None:
    changed = copy.deepcopy(small)
    loop = next(controls(changed["order"]))
    loop["engines"] += loop["engines"]
    assert reasons(chain, changed) == []


def claims(state: Json) -> Iterator[tuple[str, Json]]:
    """Yield states that claim more than one that is written down."""
    everything = f"{2**40 - 1:x}"
    for holder in state["known"]:
        yield f"{holder} knows more", state | {"known": state["known"] | {holder: everything}}
    for table in ("told", "recent"):
        for q in state[table]:
            more = {"1000" if table == "told" else "-1": everything}
            yield f"{table} more by {q}", state | {table: state[table] | {q: more}}
    for i, (f, rest, modulus, least) in enumerate(state["numbers"]):
        for number in ([rest + 1, max(modulus, 2), least], [rest, 2 * modulus or 7, 1000]):
            numbers = copy.deepcopy(state["numbers"])
            numbers[i] = [f, *number]
            yield f"{f} is another", state | {"numbers": numbers}
    for i, (*key, distance, least, told, after) in enumerate(state["values"]):
        seven: Any = [[[], 7]]
        for value in (
            [seven, least, told, after],
            [distance, 100, told, after],
            [distance, least, everything, after],
            [distance, least, told, everything],
        ):
            values = copy.deepcopy(state["values"])
            values[i] = [*key, *value]
            yield f"{key} is another", state | {"values": values}


@pytest.mark.thorough
def test_a_state_that_does_not_hold_is_refused(chain: SyncProgram, small: Json) -> None:
    (loop,) = controls(small["order"])
    tried = 0
    for i, state in enumerate(loop["heads"]):
        for what, claim in claims(state):
            changed = copy.deepcopy(small)
            next(controls(changed["order"]))["heads"][i] = claim
            assert is_refused(chain, changed), what
            tried += 1
    assert tried > 50


@pytest.mark.thorough
def test_no_state_of_a_nest_can_claim_more(matmul: SyncProgram, certificate: Json) -> None:
    places = [
        (n, i)
        for n, entry in enumerate(controls(certificate["order"]))
        for i in range(len(entry["heads"]))
    ]
    dice = random.Random(0)
    for n, i in dice.sample(places, 4):
        state = list(controls(certificate["order"]))[n]["heads"][i]
        for what, claim in dice.sample(list(claims(state)), 15):
            changed = copy.deepcopy(certificate)
            list(controls(changed["order"]))[n]["heads"][i] = claim
            assert is_refused(matmul, changed), what


def test_cases_that_are_missing_leave_a_gap(matmul: SyncProgram, certificate: Json) -> None:
    for n, entry in enumerate(controls(certificate["order"])):
        changed = copy.deepcopy(certificate)
        del list(controls(changed["order"]))[n]["heads"][0]
        (reason,) = reasons(matmul, changed)
        assert reason == "what is claimed here does not follow"
        assert entry["heads"]


def test_a_certificate_of_another_program_is_refused(certificate: Json) -> None:
    other = synchronize(load("sync-chain").program(), "trn2", "counted")
    assert is_refused(other, certificate)


BARRIER = """
sync @meeting strategy manual target generic {
  program @meeting {
    engine A
    engine B
    buffer x
    loop i 2 {
      A put writes(x) takes(10)
    }
    B get reads(x) takes(10)
  }
  engine A { loop i 2 { put barrier } }
  engine B { barrier barrier get }
}
"""


def test_a_barrier_takes_all_engines_at_once() -> None:
    """B stands at its barriers outside the loop: each has to be met by all, in every order."""
    synced = parse_sync(BARRIER)
    assert not certify(synced).is_complete
    data = written(synchronize(synced.program, "generic", "barrier"))
    assert is_refused(synced, data)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
def test_more_knowledge_never_makes_a_wrong_program_pass(seed: int) -> None:
    dice = random.Random(seed)
    case = generate(seed, Shape(instructions=6))
    synced = synchronize(case.program, "generic", "scoreboard")
    data = written(synced)
    all_mutants = list(mutants(synced))
    for mutant in dice.sample(all_mutants, min(6, len(all_mutants))):
        changed = copy.deepcopy(data)
        for entry in controls(changed["order"]):
            for state in entry.get("heads", []):
                holder = dice.choice(list(state["known"]))
                state["known"][holder] = f"{int(state['known'][holder], 16) | 1 << seed + 9:x}"
        if check(mutant.program, case.inputs).verdict not in ("exact", "late"):
            assert is_refused(mutant.program, data)
            assert is_refused(mutant.program, changed)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "this is not a certificate: it is no object"),
        ({"format": "x"}, "its format is 'x' and not 'headway certificate 3'"),
        ({"format": "headway certificate 3"}, "'program' is missing"),
    ],
)
def test_what_is_no_certificate_is_an_invalid_input(data: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        from_json(data)


@pytest.mark.parametrize(
    ("key", "value"),
    [("known", 1), ("told", {"scalar": {"x": "1"}}), ("numbers", [[[["i"], 1], 0, "x", 0]])],
)
def test_states_that_cannot_be_read_are_an_invalid_input(
    chain: SyncProgram, small: Json, key: str, value: object
) -> None:
    changed = copy.deepcopy(small)
    next(controls(changed["order"]))["heads"][0][key] = value
    with pytest.raises(InvalidInput, match="this is not a certificate: it is not readable"):
        verify(chain, from_json(changed))
