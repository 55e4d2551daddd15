"""Random programs through the assembler, both machines, the judge and real threads.

HEADWAY_PROGRAMS sets how many, one of 120 of them. A failure names the seed and the strategy.
"""

from __future__ import annotations

import shutil
from random import Random

import pytest
from budget import programs

from headway import sim, synchronize
from headway.check import check
from headway.check.generate import Case, Shape, generate
from headway.errors import UnsupportedByTarget
from headway.isa import Module, assemble, disassemble, from_binary, judge, lower, to_binary
from headway.isa.execute import execute
from headway.isa.timing import simulate
from headway.isa.values import SymbolicMemory, run_sequentially
from headway.native import run_all
from headway.sync.program import SyncProgram

pytestmark = pytest.mark.property

PROGRAMS = programs(one_in=120, least=8)
PARTS = 4
STRATEGIES = ("counted", "scoreboard", "barrier", "flags", "phase")


def cases(part: int) -> list[tuple[Case, SyncProgram, Module]]:
    """Return programs, synchronized by one strategy after the other, and read back twice."""
    found: list[tuple[Case, SyncProgram, Module]] = []
    for seed in range(part, PROGRAMS, PARTS):
        silent = 0.3 if seed % 4 == 1 else 0
        case = generate(seed, Shape(control_in_memory=seed % 3 == 0, silent=silent))
        try:
            synced = synchronize(case.program, "generic", STRATEGIES[seed % len(STRATEGIES)])
        except UnsupportedByTarget:
            continue
        module = lower(synced)
        read = from_binary(to_binary(assemble(disassemble(module))))
        assert read == module, f"seed {seed}"
        found.append((case, synced, read))
    return found


@pytest.mark.parametrize("part", range(PARTS))
def test_binary_does_what_the_engine_programs_do(part: int):
    for case, synced, module in cases(part):
        name = f"seed {case.seed}, {synced.strategy}"
        timeline = simulate(module, case.inputs)
        expected = sim.simulate(synced, case.inputs, implementation="reference")
        assert timeline.latency == expected.latency, name
        assert [list(t) for t in timeline.tracks] == [list(t) for t in expected.tracks], name
        verdict = judge.check(module, case.inputs)
        told = [finding.message for finding in check(synced, case.inputs).findings]
        assert [finding.message for finding in verdict.findings] == told, name
        wanted = memory(case, module)
        for order in range(3):
            found = SymbolicMemory(module.program, case.inputs)
            execute(module, case.inputs, found, Random(order))
            assert found.contents() == wanted, f"{name}, order {order}"


def memory(case: Case, module: Module) -> list[int]:
    """Return what the sequential program leaves."""
    found = SymbolicMemory(module.program, case.inputs)
    run_sequentially(module, case.inputs, found)
    return found.contents()


@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("part", range(PARTS))
def test_threads_leave_the_memory_of_the_sequential_program(part: int):
    found = cases(part)
    equal = run_all([(module, case.inputs) for case, _, module in found])
    wrong = [
        (c.seed, s.strategy)
        for (c, s, _), is_equal in zip(found, equal, strict=True)
        if not is_equal
    ]
    assert wrong == []


def test_a_forgotten_wait_leaves_other_memory():
    """The comparison is worth something: without waits most programs come out wrong."""
    differs = 0
    for seed in range(12):
        case = generate(seed)
        module = lower(synchronize(case.program, "generic", "counted"))
        text = "\n".join(
            line.partition(", wait")[0] + _post(line) for line in disassemble(module).splitlines()
        )
        careless = assemble(text)
        found = SymbolicMemory(module.program, case.inputs)
        execute(careless, case.inputs, found, Random(seed))
        differs += found.contents() != memory(case, module)
    assert differs >= 4


def _post(line: str) -> str:
    """Return the end of an instruction line that follows its wait."""
    return ", post" + line.partition(", post")[2] if ", wait" in line and ", post" in line else ""
