"""Regions stand together, with all they depend on before them; those that cannot are refused."""

from __future__ import annotations

import pytest

from headway.errors import InvalidProgram, UnsupportedByTarget
from headway.ir import parse
from headway.ir.walk import instructions
from headway.passes.gather_regions import gathered
from headway.spec import required
from headway.targets import bind
from headway.targets.generic import TARGET

HEAD = "input n engine A pipelined engine B engine C buffer b buffer c buffer d "


def order(text: str) -> str:
    program = gathered(bind(parse(f"program @p {{ {HEAD}{text} }}"), TARGET))
    return " ".join(f"{i.name}{'!' * (not i.silent)}" for i in instructions(program.body))


PLACES = {
    "A p writes(b) A q writes(c) fused": "p q!",
    "A p writes(b) B l writes(c) A q reads(c) fused": "l! p q!",
    "A p writes(b) B l writes(c) A q writes(b) fused": "p q! l!",
    "A p writes(b) C k writes(d) B l reads(d) writes(c) A q reads(c) fused": "k! l! p q!",
    "A p writes(b) B m writes(d) B l writes(c) A q reads(c) fused": "m! l! p q!",
    "A p writes(b) B l writes(c) A q reads(c) fused B k reads(b) A r writes(c) fused": (
        "l! p q r! k!"
    ),
    "A a B s A b fused B t fused": "a b! s t!",
    "loop i n { A p B l writes(c) A q reads(c) fused } A r": "l! p q! r!",
}


@pytest.mark.parametrize("text", PLACES)
def test_what_stands_inside_comes_before_or_behind(text: str) -> None:
    assert order(text) == PLACES[text]


def test_region_that_would_wait_for_itself_is_refused() -> None:
    with pytest.raises(UnsupportedByTarget) as caught:
        order("A p writes(b) B l reads(b) writes(c) A q reads(c) fused")
    problem = caught.value.diagnostics[0]
    assert problem.message == ("'q' depends on 'l', which depends on the region that it ends")
    assert [note.message for note in problem.notes] == ["the region begins with 'p'", "'l' is here"]
    assert problem.help == "end the region before 'l': leave out 'fused' here"


def test_region_that_would_wait_for_itself_through_others_is_refused() -> None:
    with pytest.raises(UnsupportedByTarget):
        order("A p writes(b) C k reads(b) writes(d) B l reads(d) writes(c) A q reads(c) fused")
    with pytest.raises(UnsupportedByTarget):  # B is in order
        order("A p writes(b) B k reads(b) B l writes(c) A q reads(c) fused")
    with pytest.raises(UnsupportedByTarget):  # two regions that need each other's beginning
        order("A p writes(b) B s writes(c) A q reads(c) fused B t reads(b) writes(d) fused")


BAD = {
    "A q fused": "'q' is fused, and no instruction of 'A' stands before it",
    "A p loop i n { A q fused }": "'q' is fused, and no instruction of 'A' stands before it",
    "A p loop i n { B r } A q fused": "'q' is fused, and no instruction of 'A' stands before it",
    "A p triggers(Q) writes(b) A q fused": "'q' is fused with 'p', which runs elsewhere",
}


@pytest.mark.parametrize("text", BAD)
def test_region_has_instructions_of_one_counter_in_one_body(text: str) -> None:
    with pytest.raises(InvalidProgram) as caught:
        parse(f"program @p {{ {HEAD.replace('buffer b', 'queue Q on A buffer b')}{text} }}")
    assert f"error: {BAD[text]}\n" in str(caught.value)
    assert "  rule: a region has instructions of one engine or queue" in str(caught.value)


def test_hardware_orders_the_instances_of_a_region() -> None:
    text = f"program @p {{ {HEAD} A o writes(b) A p writes(b) A q writes(b) fused A r reads(b) }}"
    needs = [needed for _, needed in required(bind(parse(text), TARGET), {"n": 0})]
    assert needs == [{}, {"A": 1}, {}, {"A": 3}]  # q depends on o too, and comes after p
