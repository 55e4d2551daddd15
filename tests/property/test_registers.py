"""Registers 0, 1, 2 ... on random programs: never early, and more of them never slower.

For given inputs and one strategy, latency never rises with the registers: more of them never make
a wait later, barriers are the same for any number, and the trial takes the faster. On `generic`,
where synchronization takes no time, nothing is faster than what needs no fitting.
"""

from __future__ import annotations

import pytest
from budget import programs

from headway.check import check
from headway.check.generate import Shape, generate
from headway.fitting import fit
from headway.sim import simulate
from headway.targets.generic import TARGET
from headway.targets.limits import limited

pytestmark = pytest.mark.property

PROGRAMS = programs(one_in=400, least=8)
PARTS = 4
REGISTERS = (0, 1, 2, 3, 5, 8, 1000)


@pytest.mark.parametrize("strategy", ["counted", "scoreboard"])
@pytest.mark.parametrize("part", range(PARTS))
def test_more_registers_are_never_slower(strategy: str, part: int) -> None:
    for seed in range(part, PROGRAMS, PARTS):
        case = generate(seed, Shape(10, 200))
        latencies: list[float] = []
        for registers in REGISTERS:
            target = limited(TARGET, {"registers": registers})
            synced, report = fit(case.program, target, strategy, inputs=case.inputs)
            assert max(report.registers.values(), default=0) <= registers
            verdict = check(synced, case.inputs)
            assert verdict.verdict in ("exact", "late"), f"seed {seed}, {registers}: {verdict}"
            latencies.append(simulate(synced, case.inputs, target).latency)
        assert latencies == sorted(latencies, reverse=True), f"seed {seed}: {latencies}"
