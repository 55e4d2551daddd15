"""Subscripts that run on over outer loops: other slots, the same dependences in an iteration."""

from __future__ import annotations

import pytest

from headway.bench.running_slots import FORMS, KERNELS, programs, with_constants, with_running_slots
from headway.bench.waits import row
from headway.ir import parse, to_text, verify
from headway.strategies.counted import STRATEGY

NEST = """program @p {
  input n
  input m
  engine A
  engine B
  buffer b slots 3
  buffer c slots 2
  loop j n {
    loop i m {
      A p writes(b[i % 3], c[j % 2]) takes(1)
      B q reads(b[i % 3]) takes(1)
    }
  }
}
"""


def test_inner_trip_counts_become_constants():
    text = to_text(with_constants(parse(NEST), {"n": 4, "m": 7}))
    assert "loop j n {" in text
    assert "loop i 7 {" in text


def test_slots_count_the_iterations_of_all_runs_of_their_loop():
    text = to_text(with_running_slots(with_constants(parse(NEST), {"n": 4, "m": 7})))
    assert "writes(b[(j * 7 + i) % 3], c[j % 2])" in text


def test_every_kernel_is_there_in_every_form():
    made = list(programs())
    assert len(made) == 2 * len(KERNELS) * len(FORMS)
    for _, program, _ in made:
        verify(program)


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", [name for name, _ in KERNELS])
def test_loops_written_out_take_no_more_registers_and_waits_than_running_slots(kernel: str):
    rows = [row(*made, STRATEGY) for made in programs() if made[0].startswith(f"{kernel}, 3")]
    _, constant, running = rows
    assert sum(constant.registers.values()) <= sum(running.registers.values())
    assert constant.waits <= running.waits
