"""The suite and the NKI kernels of packages, from their binaries: the same times, the same memory.

`scripts/isa` does the same with two strategies and prints the table of docs/isa.md.
"""

from __future__ import annotations

from random import Random

import pytest

from headway import kernels, sim, synchronize
from headway.frontends.nki.packaged import KERNELS, PackagedKernel
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.isa import assemble, disassemble, from_binary, lower, simulate, to_binary
from headway.isa.execute import execute
from headway.isa.values import SymbolicMemory, run_sequentially


def assert_the_same(program: Program, inputs: Inputs) -> None:
    """Go through text and binary; compare with the other simulator, and with sequential order."""
    synced = synchronize(program, "trn2", "counted")
    data = to_binary(lower(synced))
    module = from_binary(data)
    assert to_binary(assemble(disassemble(module))) == data
    found, expected = (
        simulate(module, inputs),
        sim.simulate(synced, inputs, implementation="reference"),
    )
    assert found.latency == expected.latency
    assert [list(track) for track in found.tracks] == [list(track) for track in expected.tracks]
    wanted, left = (SymbolicMemory(module.program, inputs) for _ in range(2))
    run_sequentially(module, inputs, wanted)
    execute(module, inputs, left, Random(0))
    assert left.contents() == wanted.contents()


@pytest.mark.parametrize("name", kernels.names())
def test_kernel_of_the_suite(name: str):
    kernel = kernels.load(name)
    assert_the_same(kernel.program(), kernel.inputs)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.title)
def test_kernel_of_a_package(kernel: PackagedKernel):
    if not kernel.is_installed():
        pytest.skip(f"{kernel.package} is not installed")
    assert_the_same(kernel.record().program(), {})
