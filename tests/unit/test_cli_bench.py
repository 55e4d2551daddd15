"""`headway bench`: what it refuses. What it measures is tested with `headway.bench`."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Cli


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("--jobs", "0"), 2, "error: argument --jobs: '0' is not a number above 0\n"),
        (("--kernels", ","), 1, "error: --kernels names no kernel\n"),
    ],
)
def test_bad_arguments_are_refused(cli: Cli, arguments: tuple[str, ...], code: int, error: str):
    result = cli("bench", "--quick", *arguments)
    assert (result.code, result.out) == (code, "")
    assert result.err.endswith(error)


@pytest.mark.parametrize("way", [("--kernels", "sync-chain"), ("--calibration",)])
def test_a_file_in_place_of_the_folder_of_results_is_named(
    cli: Cli, tmp_path: Path, way: tuple[str, ...]
) -> None:
    file = tmp_path / "file"
    file.write_text("")
    result = cli("bench", "--quick", *way, "--results", str(file))
    assert (result.code, result.out) == (1, "")
    assert result.err.endswith(f"error: cannot use '{file}/points': not a directory\n")
