"""Captures that are never later than others, and the waits that need no capture then."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headway.check import check
from headway.ir import parse
from headway.ir.expr import Inputs
from headway.strategies.counted import STRATEGY
from headway.sync.program import Exec, walk_sync
from headway.targets import bind
from headway.targets.generic import TARGET

FRAME = """\
program @p {{
  input m
  input n
  input k[]
  engine SP
  engine PE
  queue Q on SP
  buffer q slots 2
  buffer u slots 2
  buffer b slots 2 shape(4)
  loop j m {{
    loop i n {{
      {body}
    }}
  }}
}}
"""
LOADS = "SP load_q triggers(Q) writes(q[i % 2])\nSP load_u triggers(Q) writes(u[i % 2])\n"
INPUTS = [{"m": m, "n": n, "k": [0, 1, 1, 0, 1]} for m in (0, 1, 3) for n in (0, 1, 2, 3, 5)]


def waits(body: str, engine: str = "SP") -> dict[str, list[str]]:
    """Return what each instruction of an engine waits for; the engine programs are exact."""
    program = bind(parse(FRAME.format(body=body)), TARGET)
    synced = STRATEGY.synchronize(program, TARGET)
    for inputs in INPUTS:
        assert check(synced, inputs).verdict == "exact"
    return {
        node.instr: [str(wait) for wait in node.waits]
        for node in walk_sync(synced.engine(engine).body)
        if isinstance(node, Exec)
    }


def test_what_is_never_later_is_not_waited_for_again():
    found = waits(LOADS + "PE up reads(u[i % 2])\nPE down reads(q[i % 2])")
    assert found == {"load_q": ["PE >= access.PE.q[i % 2]"], "load_u": []}


def test_one_stays_of_equal_waits_of_a_step_that_another_one_implies_and_that_imply_it():
    load = "SP load triggers(Q) writes(b[i % 2])\n"
    found = waits(load + "PE use reads(b[k[i] % 2][0:4], b[k[i] % 2][0:2])", "PE")
    assert found == {"use": ["Q >= write.Q.b[k[i] % 2]"]}


def test_captures_that_are_always_equal_are_one():
    found = waits(LOADS + "PE up reads(u[i % 2], q[i % 2])")
    assert found == {"load_q": ["PE >= access.PE.q[i % 2]"], "load_u": []}


def test_one_instruction_waits_for_the_later_capture_only():
    body = "SP load triggers(Q) writes(u[i % 2], q[i % 2])\n"
    found = waits(body + "PE up reads(u[i % 2])\nPE down reads(q[i % 2])")
    assert found == {"load": ["PE >= access.PE.q[i % 2]"]}


@pytest.mark.parametrize(
    "body",
    [
        LOADS + "PE down reads(q[i % 2])\nPE up reads(u[i % 2])",  # u is later
        LOADS + "PE up reads(u[i % 2])\nif k[i] {\nPE down reads(q[i % 2])\n}",  # q may be older
        LOADS + "PE up reads(u[i % 2])\nPE down reads(q[(i + 1) % 2])",  # of another slot
        LOADS + "PE up reads(u[i % 2])\nloop h n {\nPE down reads(q[i % 2])\n}",  # may not run
    ],
)
def test_both_are_waited_for_where_the_order_is_another_or_not_known(body: str):
    assert all(waits(body).values())


def test_an_access_between_two_waits_counts():
    body = (
        "SP load_q triggers(Q) writes(q[i % 2])\nPE up reads(u[i % 2])\n"
        "SP load_u triggers(Q) writes(u[i % 2])\nPE down reads(q[i % 2])"
    )
    assert all(waits(body).values())


def test_a_wait_while_the_order_is_not_yet_so_says_nothing():
    # At load_q the last access to q is that of another iteration, that to u is of this one.
    body = (
        "PE up reads(u[i % 2])\nif k[i] {\nPE x\n}\n" + LOADS + "PE down reads(q[i % 2])"
    )  # x: where u was used is not a fixed distance away
    found = waits(body)
    assert found["load_u"] == ["PE >= access.PE.u[i % 2]"]
    assert found["load_q"] == ["PE >= access.PE.q[i % 2]"]


def test_it_is_an_option():
    program = parse(FRAME.format(body=LOADS + "PE up reads(u[i % 2])\nPE down reads(q[i % 2])"))
    without = replace(STRATEGY, order=False).synchronize(bind(program, TARGET), TARGET)
    found = [node for node in walk_sync(without.engine("SP").body) if isinstance(node, Exec)]
    assert [len(node.waits) for node in found] == [1, 1]
    inputs: Inputs = {"m": 2, "n": 3, "k": []}
    assert check(without, inputs).verdict == "exact"
