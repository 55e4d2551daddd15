"""Random programs by seed."""

from __future__ import annotations

import pytest

from headway.check.generate import Shape, generate
from headway.ir import verify
from headway.ir.walk import control_reads
from headway.spec import instances, required


def test_same_seed_gives_the_same_program():
    assert generate(11) == generate(11)
    assert generate(11).program != generate(12).program


@pytest.mark.parametrize("shape", [Shape(), Shape(4, 30), Shape(control_in_memory=True)])
def test_programs_are_valid_short_and_have_something_to_wait_for(shape: Shape):
    for seed in range(40):
        _, program, inputs = generate(seed, shape)
        verify(program)
        assert len(instances(program, inputs)) <= shape.instances
        assert any(needed for _, needed in required(program, inputs))


def test_control_values_lie_in_memory_on_demand():
    def loads(shape: Shape) -> int:
        return sum(len(list(control_reads(generate(s, shape).program.body))) for s in range(40))

    assert loads(Shape()) == 0
    assert loads(Shape(control_in_memory=True)) > 20
