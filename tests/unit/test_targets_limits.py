"""Limits of a target can be changed for a run, and everything else stays as it is."""

from __future__ import annotations

import pytest

from headway import targets
from headway.errors import InvalidInput
from headway.targets.limits import LIMITS, limited, unlimited

TRN2 = targets.load("trn2")


def test_limits_take_the_place_of_those_of_the_target() -> None:
    found = limited(
        TRN2,
        {"registers": 4, "semaphores": 9, "width": 6, "signed": 0, "waits": 2, "sums": 1}
        | {"thresholds": 0},
    )
    assert (found.registers, found.waits_per_instruction) == (4, 2)
    cells = found.semaphores
    assert (cells.count, cells.width, cells.is_signed) == (9, 6, False)
    assert (found.has_register_sums, found.has_register_thresholds) == (True, False)
    assert found.registers.source == "chosen for this run"
    assert (found.name, found.engines) == (TRN2.name, TRN2.engines)


def test_no_limits_change_nothing() -> None:
    assert limited(TRN2, {}) == TRN2


def test_unlimited_target_keeps_its_costs() -> None:
    found = unlimited(limited(TRN2, {"registers": 0, "width": 4, "thresholds": 0}))
    assert (found.semaphores.width, found.has_register_thresholds) == (64, True)
    assert found.sequencer == TRN2.sequencer
    assert found.waits_per_instruction == TRN2.waits_per_instruction


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("width", 0, "error: limit 'width' is 0\n  rule: at least 1"),
        ("registers", -1, "error: limit 'registers' is -1\n  rule: at least 0"),
        (
            "register",
            1,
            "error: unknown limit 'register'\n"
            f"  help: did you mean 'registers'? known: {', '.join(LIMITS)}",
        ),
    ],
)
def test_limit_that_does_not_fit_is_refused(name: str, value: int, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        limited(TRN2, {name: value})
    assert str(caught.value) == message
