"""The definition: instances, dependences, what is required, and when the ideal machine issues."""

from __future__ import annotations

import pytest

from headway.errors import InvalidInput
from headway.ir import parse
from headway.ir.program import Program
from headway.spec import Cell, dependences, ideal, instances, required
from headway.targets import bind
from headway.targets.generic import TARGET


def program(body: str) -> Program:
    return bind(parse(f"program @t {{ {body} }}", "t.hwy"), TARGET)


def needs(body: str, **inputs: int | list[int]) -> list[tuple[str, dict[str, int]]]:
    return [(str(instance), needed) for instance, needed in required(program(body), inputs)]


def test_instances_come_in_sequential_order_with_their_positions():
    body = "input n loop i n { A p loop j i { B q } } A r"
    found = instances(program(body), {"n": 3})
    assert [(str(x), x.counter, x.position) for x in found] == [
        ("p[0]", "A", 1),
        ("p[1]", "A", 2),
        ("q[1,0]", "B", 1),
        ("p[2]", "A", 3),
        ("q[2,0]", "B", 2),
        ("q[2,1]", "B", 3),
        ("r[]", "A", 4),
    ]


def test_while_runs_as_long_as_its_condition_holds():
    body = "input n[] loop i 2 { while t (t < n[i]) { A p } }"
    assert [str(x) for x in instances(program(body), {"n": [2, 1]})] == [
        "p[0,0]",
        "p[0,1]",
        "p[1,0]",
    ]


def test_same_iteration_name_may_be_used_one_after_the_other():
    body = "loop i 1 { A p } loop i 2 { A q }"
    assert [str(x) for x in instances(program(body), {})] == ["p[0]", "q[0]", "q[1]"]


def test_instance_touches_the_atoms_of_its_region():
    body = "buffer b slots 2 shape(8) loop i 2 { A p writes(b[i][0:4]) A q reads(b[i][2:8]) }"
    cells = {str(x): set(x.reads + x.writes) for x in instances(program(body), {})}
    assert cells["p[1]"] & cells["q[1]"]
    assert cells["p[1]"] - cells["q[1]"]
    assert {cell.slot for cell in cells["p[1]"]} == {1}
    assert not cells["p[0]"] & cells["q[1]"]


def test_each_kind_of_dependence_has_its_name():
    body = "buffer b A w writes(b) B r reads(b) C v writes(b)"
    found = [
        (str(d.before), str(d.after), d.kind) for d in dependences(instances(program(body), {}))
    ]
    assert found == [("w[]", "r[]", "RAW"), ("r[]", "v[]", "WAR"), ("w[]", "v[]", "WAW")]
    assert next(iter(dependences(instances(program(body), {})))).cell == Cell("b", 0, 0)


def test_two_reads_do_not_depend_on_each_other():
    assert needs("buffer b A p reads(b) B q reads(b)") == [("p[]", {}), ("q[]", {})]


def test_serial_engine_needs_no_wait_for_itself_and_a_pipelined_one_does():
    body = "buffer b A p writes(b) A q reads(b)"
    assert needs(body) == [("p[]", {}), ("q[]", {})]
    assert needs(f"engine A pipelined {body}") == [("p[]", {}), ("q[]", {"A": 1})]


def test_transfer_needs_its_host_although_the_host_triggers_it():
    body = "queue Q on A buffer b A p writes(b) A st triggers(Q) reads(b)"
    assert needs(body) == [("p[]", {}), ("st[]", {"A": 1})]


def test_disjoint_regions_are_independent():
    body = "buffer b shape(8) A p writes(b[0][0:4]) B q writes(b[0][4:8]) C r reads(b[0][3:5])"
    assert needs(body)[1:] == [("q[]", {}), ("r[]", {"A": 1, "B": 1})]


def test_region_with_run_time_bounds_touches_its_whole_slot():
    body = "buffer b shape(8) loop i 1 { A p writes(b[0][i:1]) B q reads(b[0][4:8]) }"
    assert needs(body) == [("p[0]", {}), ("q[0]", {"A": 1})]


CONTROL = "input n buffer c A p writes(c) loop i n load l reads(c) { B q } A w writes(c)"


def test_control_read_follows_the_write_and_precedes_the_next():
    assert needs(CONTROL, n=1) == [
        ("p[]", {}),
        ("l[]", {"A": 1}),
        ("q[0]", {}),
        ("w[]", {"B.control": 1}),
    ]


def test_only_engines_with_work_inside_load_a_control_value():
    def everyone(node: object) -> tuple[str, str]:
        return "A", "B"

    found = [(x.engine, str(x)) for x, _ in required(program(CONTROL), {"n": 1})]
    assert found == [("A", "p[]"), ("B", "l[]"), ("B", "q[0]"), ("A", "w[]")]
    told = [x.counter for x in instances(program(CONTROL), {"n": 1}, everyone)]
    assert told == ["A", "A.control", "B.control", "B", "A"]


def test_while_loads_its_condition_once_more_than_it_runs():
    body = "input n buffer c while t (t < n) load l reads(c) { A q }"
    assert [str(x) for x in instances(program(body), {"n": 2})] == [
        "l[0]",
        "q[0]",
        "l[1]",
        "q[1]",
        "l[2]",
    ]


@pytest.mark.parametrize(
    ("body", "inputs", "text"),
    [
        (
            "input n loop i n { A p }",
            {},
            "error: run-time input 'n' is missing; the program needs a number\n  help: --input n=3",
        ),
        (
            "input n loop i n { A p }",
            {"n": -2},
            "t.hwy:1:22: error: loop 'i' would run -2 times\n"
            "  rule: a trip count is 0 or more\n"
            "  help: check the run-time inputs of 'n'",
        ),
        (
            "input n buffer b slots 2 loop i n { A p writes(b[i]) }",
            {"n": 3},
            "t.hwy:1:50: error: 'p' accesses slot 2 of 'b' where i = 2\n"
            "  rule: 'b' has slots 0 to 1\n"
            "  help: give the buffer more slots, or write '% 2'",
        ),
    ],
)
def test_inputs_that_do_not_fit_are_refused(body: str, inputs: dict[str, int], text: str):
    with pytest.raises(InvalidInput) as error:
        instances(program(body), inputs)
    assert str(error.value) == text


def test_program_that_does_not_end_is_refused():
    with pytest.raises(InvalidInput) as error:
        instances(program("while t (t < t + 1) { A p }"), {}, limit=100)
    assert str(error.value) == (
        "t.hwy:1:14: error: more than 100 instances and iterations\n"
        "  rule: a program ends, and is small enough to be unrolled\n"
        "  help: check the trip counts and conditions, or choose smaller inputs"
    )


def test_loop_that_is_too_long_is_refused_before_it_runs():
    with pytest.raises(InvalidInput, match="more than 2,000,000 instances"):
        instances(program("input n loop i n { A p }"), {"n": 10**15})


@pytest.mark.thorough
def test_nest_of_a_thousand_loops_is_unrolled():
    body = "".join(f"loop i{k} 1 {{ " for k in range(1000)) + "A p" + " }" * 1000
    assert len(instances(program(body), {})) == 1


def times(body: str, **inputs: int) -> list[tuple[str, float, float]]:
    return [(str(x), issue, done) for x, issue, done in ideal(program(body), inputs)]


def test_serial_engine_issues_when_it_is_free_and_what_it_requires_is_done():
    body = "buffer b A p writes(b) takes(30) B x takes(10) B q reads(b) takes(5) B r takes(1)"
    assert times(body) == [("p[]", 0, 30), ("x[]", 0, 10), ("q[]", 30, 35), ("r[]", 35, 36)]


def test_pipelined_engine_issues_after_the_occupancy():
    body = "engine A pipelined A p takes(30, 2) A q takes(5, 2)"
    assert times(body) == [("p[]", 0, 30), ("q[]", 2, 30)]  # completions come in order


def test_host_does_not_stand_still_while_its_queue_is_busy():
    body = "queue Q on A A ld triggers(Q) takes(50) A ld2 triggers(Q) takes(50) A x takes(1)"
    assert times(body) == [("ld[]", 0, 50), ("ld2[]", 0, 100), ("x[]", 0, 1)]


def test_control_read_holds_its_sequencer():
    body = "input n buffer c A p writes(c) takes(40) loop i n load l reads(c) { B q takes(1) }"
    assert times(body, n=1) == [("p[]", 0, 40), ("l[]", 40, 40), ("q[0]", 40, 41)]


def test_program_that_is_not_bound_has_no_ideal_times():
    with pytest.raises(
        TypeError, match=r"^'p' has no duration: bind the program to a target first$"
    ):
        ideal(parse("program @t { A p }"), {})
