"""Where the time over the ideal machine goes: the steps sum up, and none is below the hop."""

from __future__ import annotations

import pytest

from headway import kernels, targets
from headway.bench.remainder import HOP, PARTS, parts
from headway.compiler import compare
from headway.ir import parse
from headway.sim import simulate_ideal

TRN2 = targets.load("trn2")


def test_a_dependence_between_engines_costs_the_ideal_machine_with_hops_one_hop() -> None:
    program = parse(
        "program @p { buffer x\n"
        "scalar put writes(x) takes(100)\nvector get reads(x) takes(100)\n"
        "tensor other takes(10) }"
    )
    bound = targets.bind(program, TRN2)
    free = simulate_ideal(bound, {}, TRN2).latency
    assert free == 200
    assert simulate_ideal(bound, {}, TRN2, hops=True).latency == free + TRN2.sequencer.hop


@pytest.mark.parametrize("name", ["sync-chain", "softmax", "gather"])
def test_steps_sum_up_to_the_excess(name: str) -> None:
    kernel = kernels.load(name)
    program = kernel.program()
    inputs = kernel.usual(program)
    found = parts(program, inputs, TRN2)
    assert list(found) == list(PARTS)
    excess = compare(program, inputs, TRN2, ("counted",)).excess("counted")
    assert sum(found.values()) == pytest.approx(excess)
    assert found[HOP] > 0
    assert found["placement"] == pytest.approx(0, abs=1e-9)
