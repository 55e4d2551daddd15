"""Real threads: no race in what strategies make of the suite, and races where a wait is too early.

`scripts/isa` does the same for every kernel and prints the table of docs/isa.md.
"""

import shutil
from itertools import islice
from pathlib import Path

import pytest
from command_line import Cli
from kernel_files import written

from headway import SyncProgram, kernels, native, synchronize
from headway.check import check
from headway.check.mutate import mutants
from headway.errors import InvalidInput, InvalidProgram, UnsupportedByTarget
from headway.ir import parse
from headway.ir.expr import Inputs
from headway.isa import lower
from headway.sync import parse_sync
from headway.targets import load
from headway.targets.limits import limited

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")

WITH_BARRIERS = ("flash-attention", "matmul", "moe-while", "sync-chain", "topk")
PLANTED = 4


def synced(kernel: str, strategy: str = "counted") -> SyncProgram:
    return synchronize(kernels.load(kernel).program(), "trn2", strategy)


@pytest.mark.parametrize("kernel", kernels.names())
def test_counted_has_no_race_and_leaves_the_memory_of_the_sequential_program(kernel: str):
    outcome = native.run(lower(synced(kernel)), kernels.load(kernel).inputs, "thread")
    assert outcome.is_good, outcome.report


def test_hardware_runs_a_region_in_order():
    text = (Path(__file__).parents[2] / "examples/accumulate.hwy").read_text()
    outcome = native.run(lower(synchronize(parse(text), "trn2")), {"n": 20}, "thread")
    assert outcome.is_good, outcome.report


@pytest.mark.parametrize("strategy", ["barrier", "flags"])
@pytest.mark.parametrize("kernel", WITH_BARRIERS)
def test_others_have_no_race_either(kernel: str, strategy: str):
    module = lower(synced(kernel, strategy))
    outcome = native.run(module, kernels.load(kernel).inputs, "thread")
    assert outcome.is_good, outcome.report


@pytest.mark.parametrize("kernel", ["matmul", "moe-while", "sync-chain"])
def test_race_is_reported_where_a_wait_is_too_early(kernel: str):
    """Every mutant that the judge calls early has a race."""
    usual = kernels.load(kernel).inputs
    inputs = {name: min(v, 4) if isinstance(v, int) else v for name, v in usual.items()}
    found = (m.program for m in mutants(synced(kernel), ["threshold-lowered", "wait-deleted"]))
    early = islice((program for program in found if is_early(program, inputs)), PLANTED)
    races = [native.run(lower(program), inputs, "thread").races for program in early]
    assert len(races) == PLANTED
    assert all(races)


def is_early(program: SyncProgram, inputs: Inputs) -> bool:
    try:
        return check(program, inputs).verdict == "early"
    except InvalidProgram:
        return False  # it waits for nothing at all


DEADLOCK = """
sync @stuck {
  program @stuck {
    engine A
    engine B
    buffer b
    A write writes(b) takes(1)
    B read reads(b) takes(1)
  }
  engine A { write waits B >= 1 }
  engine B { read waits A >= 1 }
}
"""


def test_deadlock_is_found_and_told():
    outcome = native.run(lower(parse_sync(DEADLOCK)), {})
    assert outcome.to_json() == {"races": outcome.races, "equal": False, "deadlock": True}
    assert outcome.standing == (
        "A waits for semaphore 0 >= 1, which is 0",
        "B waits for semaphore 1 >= 1, which is 0",
    )


def test_index_out_of_range_stops_the_program():
    text = """
    sync @far { program @far { input m[] engine A loop i m[0] { A x takes(1) } }
      engine A { registers r[2] r[m[0]] := 1 loop i m[0] { x } } }
    """
    with pytest.raises(InvalidInput, match="the program stopped: an index is out of range"):
        native.run(lower(parse_sync(text)), {"m": [3]})


def test_loops_that_are_not_those_of_the_program_are_refused():
    # Epochs cut a loop into two, so that addresses cannot be told from iterations.
    target = limited(load("trn2"), {"width": 4, "signed": 0})
    epochs = synchronize(kernels.load("sync-chain").program(), target)
    with pytest.raises(UnsupportedByTarget, match="'step0' runs inside the loops"):
        native.run(lower(epochs, target), {"n": 40})


def test_command_tells_what_it_found(cli: Cli):
    good = cli("native", "sync-chain", "--input", "n=9", "--strategy", "barrier", "--json")
    assert (good.code, good.out) == (
        0,
        '{\n  "races": 0,\n  "equal": true,\n  "deadlock": false\n}\n',
    )
    stuck = cli("native", "-", stdin=DEADLOCK)
    assert stuck.code == 3
    assert stuck.out.startswith("stuck, manual on generic: deadlock\n")


def test_command_takes_a_kernel_and_a_binary(cli: Cli, tmp_path: Path):
    """A kernel was looked for as a file of that name."""
    body = """
    y = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(y, nl.load(x))
    return y
"""
    kernel = (f"{written(tmp_path, body, 'x', 'old')}:kernel", "--arg", "x=float32[128,64]")
    assert cli("native", *kernel).code == 0
    binary = str(tmp_path / "chain.hwb")
    assert cli("asm", "-", "-o", binary, stdin=cli("sync", "sync-chain").out).code == 0
    assert cli("native", binary, "--input", "n=3").code == 0
    unknown = cli("native", "sink-chain")
    assert unknown.err.startswith("error: unknown file or kernel 'sink-chain'")


def test_missing_compiler_is_said(cli: Cli, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    result = cli("native", "sync-chain", "--input", "n=1")
    assert (result.code, result.err) == (
        1,
        "error: there is no C compiler\n  help: install gcc, or put cc on the PATH\n",
    )
