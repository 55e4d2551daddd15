"""Loops written out as straight-line code."""

from __future__ import annotations

from headway.ir import parse, to_text
from headway.ir.program import Loop, Program
from headway.ir.walk import walk
from headway.ir.written_out import Copy, WrittenOut, lengths, trips_around, written_out

NEST = """program @p {
  input n
  engine A
  buffer b slots 4
  buffer c slots 2
  loop i n {
    loop k 2 {
      A p reads(c[i % 2]) writes(b[k * 2 + 1]) takes(1)
      loop j 2 { A q writes(b[(k + j) % 4]) takes(1) }
    }
  }
}"""


def all_written_out(program: Program) -> WrittenOut:
    may_be = lengths(program)
    return written_out(program, lambda loop: id(loop) in may_be)


def test_each_iteration_has_instructions_of_its_own_with_their_slots():
    found = all_written_out(parse(NEST))
    assert (
        to_text(found.program)
        == """program @p {
  input n
  engine A
  buffer b slots 4
  buffer c slots 2
  loop i n {
    A p.0 reads(c[i % 2]) writes(b[1]) takes(1)
    A q.0.0 writes(b) takes(1)
    A q.0.1 writes(b[1]) takes(1)
    A p.1 reads(c[i % 2]) writes(b[3]) takes(1)
    A q.1.0 writes(b[1]) takes(1)
    A q.1.1 writes(b[2]) takes(1)
  }
}
"""
    )
    assert found.copies["p.1"] == Copy("p", (("k", 1),))
    assert found.copies["q.1.0"] == Copy("q", (("k", 1), ("j", 0)))


def test_names_that_are_taken_are_not_given_again():
    program = parse("program @p { engine A buffer b loop k 1 { A p writes(b) } A p.0 reads(b) }")
    assert set(all_written_out(program).copies) == {"p.0_"}


def test_loops_that_never_run_are_left_where_they_are():
    inside = "loop k 2 { A p writes(b) } loop 2 { A q writes(b) loop 0 { A r writes(b) } }"
    program = parse(f"program @p {{ engine A buffer b {inside} }}")
    assert set(all_written_out(program).copies) == {"p.0", "p.1"}


def test_region_with_run_time_bounds_stays_all_of_its_slot():
    boxes = "A p writes(b[0][k * 4 : k * 4 + 4]) reads(b[1][0:2])"
    program = parse(f"program @p {{ engine A buffer b slots 2 shape(8) loop k 2 {{ {boxes} }} }}")
    text = to_text(all_written_out(program).program)
    assert "A p.1 reads(b[1][0:2]) writes(b)\n" in text


def test_only_loops_of_instructions_that_always_run_as_often_may_be_written_out():
    text = """program @p {{ input n engine A queue q on A buffer b
      loop i {trip} {{ {body} }} }}"""
    instr = "A p writes(b)"
    cases = {
        ("2", instr): True,
        ("n", instr): False,
        ("2", f"loop j 3 {{ {instr} }}"): True,
        ("2", f"loop j n {{ {instr} }}"): False,
        ("2", f"if n > 1 {{ {instr} }}"): False,
        ("2", f"{instr} silent A r reads(b)"): False,
    }
    for (trip, body), expected in cases.items():
        program = parse(text.format(trip=trip, body=body))
        loop = next(n for n in walk(program.body))
        assert isinstance(loop, Loop)
        assert (id(loop) in lengths(program)) == expected, body


def test_loops_around_are_those_that_may_be_written_out():
    assert trips_around(parse(NEST)) == {"p": {"k": 2}, "q": {"k": 2, "j": 2}}


def test_length_counts_the_instructions_of_all_iterations():
    program = parse(NEST)
    outer, k, j = (node for node in walk(program.body) if isinstance(node, Loop))
    assert lengths(program) == {id(k): 6, id(j): 2}
    assert id(outer) not in lengths(program)
