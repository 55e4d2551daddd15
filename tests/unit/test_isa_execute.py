"""Binaries without time: the same memory as the sequential program, in any order."""

from pathlib import Path
from random import Random

import pytest
from command_line import Cli
from kernel_files import written

from headway import kernels, synchronize
from headway.errors import CheckFailed, UnsupportedByTarget
from headway.ir.atoms import Atoms
from headway.isa import Module, lower
from headway.isa.execute import execute
from headway.isa.memory import layout
from headway.isa.values import SymbolicMemory, run_sequentially
from headway.sync import parse_sync
from headway.targets import load
from headway.targets.limits import limited


def wanted(module: Module, inputs: dict[str, int]) -> list[int]:
    memory = SymbolicMemory(module.program, inputs)
    run_sequentially(module, inputs, memory)
    return memory.contents()


def found(module: Module, inputs: dict[str, int], order: int) -> list[int]:
    memory = SymbolicMemory(module.program, inputs)
    execute(module, inputs, memory, Random(order))
    return memory.contents()


@pytest.mark.parametrize("strategy", ["counted", "barrier", "flags"])
@pytest.mark.parametrize("kernel", ["sync-chain", "moe-while"])
def test_every_order_leaves_the_same_memory(kernel: str, strategy: str):
    module = lower(synchronize(kernels.load(kernel).program(), "trn2", strategy))
    inputs = dict(kernels.load(kernel).inputs)
    if "n" in inputs:
        inputs["n"] = 12
    memory = wanted(module, inputs)
    assert all(found(module, inputs, order) == memory for order in range(3))


TEXT = """
sync @pair {
  program @pair {
    engine A
    engine B
    buffer b
    A write writes(b) takes(1)
    B read reads(b) takes(1)
  }
  engine A { write %s }
  engine B { read %s }
}
"""


def test_early_wait_is_seen_by_what_is_read():
    module = lower(parse_sync(TEXT % ("", "")))
    memories = [found(module, {}, order) for order in range(10)]
    assert wanted(module, {}) in memories
    assert any(memory != wanted(module, {}) for memory in memories)


def test_deadlock_is_told():
    module = lower(parse_sync(TEXT % ("", "waits A >= 2")))
    with pytest.raises(CheckFailed, match="deadlock: B stand for ever"):
        found(module, {}, 0)


def test_serial_engine_holds_an_instruction_until_the_one_before_has_completed():
    # So a transfer triggered behind the second sees what the first has written.
    text = """
    sync @held {
      program @held {
        engine A
        queue q on A
        buffer b
        A first writes(b) takes(1)
        A second takes(1)
        A fill triggers(q) reads(b) takes(1)
      }
      engine A { first second fill }
    }
    """
    module = lower(parse_sync(text))
    assert all(found(module, {}, order) == wanted(module, {}) for order in range(10))


def test_loops_that_are_not_those_of_the_program_are_refused():
    target = limited(load("trn2"), {"width": 4, "signed": 0})
    epochs = synchronize(kernels.load("sync-chain").program(), target)
    with pytest.raises(UnsupportedByTarget, match=r"the loops \(epoch\.i, i\)"):
        found(lower(epochs, target), {"n": 40}, 0)


def test_memory_has_a_cell_for_every_atom():
    # The boxes leave a part of the slot out, which is an atom of its own between them.
    text = """
    sync @gap { program @gap { engine A buffer b slots 2 shape(16) buffer c
        A x writes(b[1][0:4]) takes(1) A y reads(b[1][8:12], c) takes(1) }
      engine A { x y } }
    """
    program = parse_sync(text).program
    atoms = [
        a for node in program.body for x in (*node.reads, *node.writes) for a in _of(program, x)
    ]
    places = layout(program)
    assert places["b"].atoms > max(atoms)
    assert places["c"].first == places["b"].end


def _of(program, access):
    return Atoms(program).of(access)


BODY = """
    y = nl.ndarray((512, 16), dtype=nl.float32, buffer=nl.shared_hbm)
    for i in nl.affine_range(4):
        tile = nl.load(x[nl.ds(i * 128, 128), :])
        nl.store(y[nl.ds(i * 128, 128), :], value=nl.add(tile, tile))
    return y
"""


def test_kernel_is_computed_by_its_assembled_engine_programs(cli: Cli, tmp_path: Path):
    kernel = [f"{written(tmp_path, BODY, 'x')}:kernel", "--arg", "x=float32[512,16]", "--binary"]
    result = cli("run", *kernel, "--orders", "2")
    assert result.code == 0
    assert result.out.endswith("2 concurrent orders: every buffer holds the same bytes\n")
    assert cli("run", *kernel, "--plant").code == 3
