"""`headway run`: what it prints, and when it fails."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from command_line import Cli
from kernel_files import written

BODY = """
    y = nl.ndarray((512, 16), dtype=nl.float32, buffer=nl.shared_hbm)
    for i in nl.affine_range(4):
        tile = nl.load(x[nl.ds(i * 128, 128), :])
        twice = nl.add(tile, tile)
        nl.store(y[nl.ds(i * 128, 128), :], value=twice)
    return y
"""


@pytest.fixture
def kernel(tmp_path: Path) -> list[str]:
    return ["run", f"{written(tmp_path, BODY, 'x')}:kernel", "--arg", "x=float32[512,16]"]


def test_the_counted_waits_keep_the_values(cli: Cli, kernel: list[str]) -> None:
    result = cli(*kernel, "--orders", "2", "--json")
    assert result.code == 0
    assert json.loads(result.out) == {
        "program": "kernel",
        "strategy": "counted",
        "target": "trn2",
        "instructions": 12,
        "orders": 2,
        "equal": True,
        "different": [],
    }


def test_the_text_says_what_came_out(cli: Cli, kernel: list[str]) -> None:
    result = cli(*kernel, "--orders", "1", "--seed", "5")
    assert result.code == 0
    assert "12 instructions in sequential order\nresult 1: float32[512,16], mean " in result.out
    assert result.out.endswith("1 concurrent order: every buffer holds the same bytes\n")


def test_values_alone_claim_nothing_about_orders(cli: Cli, kernel: list[str]) -> None:
    result = cli(*kernel, "--orders", "0")
    assert result.code == 0
    assert result.out.endswith("\nno concurrent order was tried\n")


def test_a_seed_below_0_is_a_wrong_usage(cli: Cli, kernel: list[str]) -> None:
    result = cli(*kernel, "--seed", "-1")
    assert (result.code, result.out) == (2, "")
    assert result.err.endswith("error: argument --seed: '-1' is not a number of at least 0\n")


def test_a_planted_early_wait_is_noticed(cli: Cli, kernel: list[str]) -> None:
    result = cli(*kernel, "--plant", "--json")
    assert result.code == 3
    found = json.loads(result.out)
    assert found["equal"] is False
    assert "y" in found["different"]
    assert found["planted"].startswith("a wait of engine ")


@pytest.mark.thorough
def test_engine_programs_by_hand_are_run(cli: Cli, kernel: list[str], tmp_path: Path) -> None:
    program, synced = str(tmp_path / "kernel.hwy"), tmp_path / "synced.hwy"
    assert cli("trace", *kernel[1:], "-o", program).code == 0
    assert cli("sync", program, "-o", str(synced)).code == 0
    assert cli(*kernel, "--synced", str(synced)).code == 0
    text = synced.read_text()
    synced.write_text(re.sub(r"(tensor_tensor_twice.*) waits .*", r"\1", text))
    result = cli(*kernel, "--synced", str(synced))
    assert result.code == 3
    assert "other bytes in" in result.out


def test_engine_programs_of_another_kernel_are_refused(
    cli: Cli, kernel: list[str], tmp_path: Path
) -> None:
    synced = str(tmp_path / "synced.hwy")
    assert cli("sync", "calibration-loop", "-o", synced).code == 0
    result = cli(*kernel, "--synced", synced)
    assert result.code == 1
    assert "does not implement the program that this kernel is traced to" in result.err


def test_a_bound_needs_its_input(cli: Cli, kernel: list[str]) -> None:
    assert cli(*kernel, "--dynamic-bound", "i=n", "--input", "n=3").code == 0
    result = cli(*kernel, "--dynamic-bound", "i=n")
    assert result.code == 1
    assert "run-time input 'n' is missing" in result.err
