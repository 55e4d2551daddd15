"""Static thresholds of straight-line code."""

from __future__ import annotations

from headway.analysis.segment import Segment
from headway.ir import parse
from headway.ir.atoms import Atoms
from headway.ir.walk import instructions


def waits(body: str) -> dict[str, dict[str, int]]:
    program = parse(f"program @t {{ {body} }}")
    segment = Segment(program, Atoms(program))
    return {instr.name: segment.add(instr) for instr in instructions(program.body)}


def test_waits_that_another_wait_implies_are_left_out():
    body = """buffer b buffer c buffer d
    A p writes(b) B q reads(b) writes(c) C r reads(c, b) writes(d) A w writes(b)"""
    assert waits(body) == {"p": {}, "q": {"A": 1}, "r": {"B": 1}, "w": {"C": 1}}


def test_waits_that_the_engine_knows_already_are_left_out():
    assert waits("buffer b A p writes(b) B q reads(b) B r reads(b)")["r"] == {}


def test_later_signal_of_one_counter_implies_the_earlier():
    assert waits("buffer b buffer c A p writes(b) A q writes(c) B r reads(b, c)")["r"] == {"A": 2}


def test_transfer_does_not_imply_its_host():  # C10
    body = """queue Q on A buffer b buffer c
    A p writes(b) A ld triggers(Q) reads(c) B w reads(b) writes(c)"""
    assert waits(body)["w"] == {"A": 1, "Q": 1}


def test_pipelined_counter_waits_for_itself():  # C16
    assert waits("engine A pipelined buffer b A p writes(b) A c reads(b)")["c"] == {"A": 1}


def test_slots_that_may_be_the_same_are_treated_as_the_same():
    body = "input n buffer b slots 2 A p writes(b[0]) B q reads(b[1]) C r reads(b[n % 2])"
    assert waits(body) == {"p": {}, "q": {}, "r": {"A": 1}}


def test_copy_is_independent():
    program = parse("program @t { buffer b A p writes(b) B q reads(b) C r reads(b) }")
    first, second, third = instructions(program.body)
    segment = Segment(program, Atoms(program))
    assert segment.is_empty
    segment.add(first)
    copy = segment.copy()
    assert copy.add(second) == {"A": 1}
    assert segment.add(third) == {"A": 1}
    assert not segment.is_empty
