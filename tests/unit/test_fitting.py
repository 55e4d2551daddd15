"""What a target has too little of never makes a program early, and more of it never slower."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.check import check
from headway.errors import InvalidInput
from headway.fitting import fit
from headway.ir import parse
from headway.sim import simulate
from headway.strategies import load
from headway.targets.generic import TARGET
from headway.targets.limits import limited

DATA = Path(__file__).parents[1] / "data"
RING = parse((DATA / "scenarios/t06-two-slots-live.hwy").read_text())


def latency(registers: int, inputs: dict[str, int], is_tried: bool) -> float:
    target = limited(TARGET, {"registers": registers})
    synced, _ = fit(RING, target, "scoreboard", inputs=inputs if is_tried else None)
    assert max(sum(r.size for r in e.registers) for e in synced.engines) <= registers
    assert check(synced, inputs).verdict in ("exact", "late")
    return simulate(synced, inputs, target).latency


@pytest.mark.thorough
def test_trial_takes_barriers_where_shared_registers_are_slower() -> None:
    assert latency(2, {"n": 4}, is_tried=False) > latency(1, {"n": 4}, is_tried=False)
    assert latency(2, {"n": 4}, is_tried=True) == latency(1, {"n": 4}, is_tried=True)


@pytest.mark.thorough
@pytest.mark.parametrize("n", [0, 1, 4, 20])
def test_more_registers_are_never_slower_if_there_is_a_trial(n: int) -> None:
    found = [latency(registers, {"n": n}, is_tried=True) for registers in (0, 1, 2, 3, 6, 9, 30)]
    assert found == sorted(found, reverse=True)


def test_trial_says_what_it_has_chosen() -> None:
    target = limited(TARGET, {"registers": 2})
    _, report = fit(RING, target, "scoreboard", inputs={"n": 4})
    assert [c.kind for c in report.concessions] == ["strategy"]
    assert str(report.concessions[0]) == (
        "synchronized by barrier: for these inputs it is faster than scoreboard with what it has to"
        " share; target 'generic' has too few registers or semaphores"
    )


def test_trial_needs_inputs_that_fit() -> None:
    with pytest.raises(InvalidInput):
        fit(RING, limited(TARGET, {"registers": 2}), "scoreboard", inputs={"m": 4})


def test_program_that_fits_is_not_tried() -> None:
    assert fit(RING, TARGET, inputs={"m": 4}) == fit(RING, TARGET)
    assert fit(RING, TARGET)[0].strategy == load("counted").name
