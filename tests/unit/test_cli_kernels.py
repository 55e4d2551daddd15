"""Commands that take an NKI kernel as their PROGRAM."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Cli
from kernel_files import written

BODY = """
    y = nl.ndarray((8, 128, 256), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((8, nl.par_dim(128), 256), dtype=x.dtype,
                   buffer=nki.compiler.sbuf.mod_alloc(base_addr=0, num_free_tiles=(2,)))
    for i in nl.affine_range(8):
        a[i] = nl.load(x[i])
        nl.store(y[i], a[i])
    return y
"""
ARGUMENTS = ("--arg", "x=float32[8,128,256]")


@pytest.fixture
def kernel(tmp_path: Path) -> str:
    return f"{written(tmp_path, BODY, 'x', 'old')}:kernel"


@pytest.mark.thorough
def test_compare_shows_kinds_of_allocation_side_by_side(cli: Cli, kernel: str) -> None:
    result = cli(
        "compare", kernel, *ARGUMENTS, "--buffers", "as-written,automatic,1",
        "--strategies", "static,barrier,counted",
    )  # fmt: skip
    lines = result.out.splitlines()
    assert lines[0] == "kernel on trn2"
    assert lines[1].split() == ["buffers", "as-written", "automatic", "1"]
    assert lines[2].split() == ["bytes", "of", "sbuf", "2,048", "8,192", "1,024"]
    assert lines[3].split() == ["bytes", "of", "psum", "0", "0", "0"]
    assert [line.split()[0] for line in lines[4:7]] == ["ideal", "barrier", "counted"]
    assert lines[7:] == ["not measured: static: 'static' cannot synchronize loops and ifs"]


def test_compare_gives_the_variants_as_json(cli: Cli, kernel: str) -> None:
    result = cli(
        "compare", kernel, *ARGUMENTS, "--buffers", "as-written,4", "--strategies", "counted",
        "--json",
    )  # fmt: skip
    found = json.loads(result.out)["buffers"]
    assert {name: v["sbuf_bytes"] for name, v in found.items()} == {"as-written": 2048, "4": 4096}
    slow, fast = (found[name]["strategies"]["counted"]["latency_ns"] for name in found)
    assert slow > fast


@pytest.mark.thorough
def test_other_commands_take_a_kernel(cli: Cli, kernel: str, tmp_path: Path) -> None:
    as_written = (kernel, *ARGUMENTS, "--buffers", "as-written")
    assert "writes(a[i % 2])" in cli("show", *as_written).out
    assert "sync @kernel strategy counted" in cli("sync", *as_written).out
    page = tmp_path / "page.html"
    assert cli("report", *as_written, "-o", str(page)).code == 0
    assert "load_a" in page.read_text()
    assert cli("compare", *as_written, "--strategies", "counted").code == 0


def test_options_for_tracing_need_a_kernel(cli: Cli) -> None:
    result = cli("compare", "matmul", "--buffers", "4")
    assert result.code == 1
    assert "error: --buffers is for NKI kernels, which matmul is not" in result.err


def test_one_command_takes_several_kinds_of_allocation(cli: Cli, kernel: str) -> None:
    result = cli("sync", kernel, *ARGUMENTS, "--buffers", "as-written,4")
    assert result.code == 1
    assert "error: --buffers 'as-written,4'" in result.err
