"""Rules that only programs built in Python can break; tests/data/bad has the others."""

from dataclasses import replace

import pytest

from headway.errors import InvalidProgram
from headway.ir import parse, verify
from headway.ir.expr import Binary, Expr, Input, Iteration
from headway.ir.program import (
    Access,
    Buffer,
    ControlRead,
    Engine,
    If,
    InputDecl,
    Instr,
    Loop,
    Node,
    Program,
    Queue,
    Takes,
    While,
    Work,
)

A = Instr("a", "A")
GOOD = Program("p", (A,), engines=(Engine("A"),))


def problems(program: Program) -> list[str]:
    with pytest.raises(InvalidProgram) as caught:
        verify(program)
    return [problem.message for problem in caught.value.diagnostics]


def body(*nodes: Node) -> Program:
    buffers = (Buffer("b", 2, (8,)),)
    return Program("p", (A, *nodes), (InputDecl("n"),), (Engine("A"),), (), buffers)


def access(slot: Expr = 0, *box: tuple[Expr, Expr]) -> Program:
    return body(Instr("x", "A", reads=(Access("b", slot, box or None),)))


def test_good_program_has_no_problem() -> None:
    verify(GOOD)
    verify(access(Binary("%", Input("n"), 2), (0, 8)))


def test_names_can_be_written_in_text() -> None:
    program = Program(
        "a b",
        (replace(A, name="a b"), Instr("c[0]", "A", reads=(Access("x-y"),))),
        (InputDecl("1n"),),
        (Engine("A"), Engine("while")),
        (Queue("q q", "A"),),
        (Buffer("x-y", space="hbm 2"),),
    )
    assert problems(program) == [
        "'a b' is not the name of a program",
        "'hbm 2' is not the name of a memory",
        "'1n' is not the name of an input",
        "'while' is a word of the language and cannot name an engine",
        "'q q' is not the name of a queue",
        "'x-y' is not the name of a buffer",
        "'a b' is not the name of an instruction",
        "'c[0]' is not the name of an instruction",
    ]


def test_operation_and_data_type_are_names() -> None:
    program = body(Instr("x", "A", cost=Work("a b", -1, dtype="f 32", moves="up")))
    assert problems(program) == [
        "'a b' is not the name of an operation",
        "'f 32' is not the name of a data type",
        "an instruction works on a negative amount",
        "a transfer moves load, store or copy, not 'up'",
    ]


def test_counters_have_one_name_each() -> None:
    engines = (Engine("A"), Engine("B"), Engine("B"))
    queues = (Queue("A", "B"), Queue("A.control", "A"))
    assert problems(replace(GOOD, engines=engines, queues=queues)) == [
        "two engines have the name 'B'",
        "engine and queue share the name 'A'",
        "queue and control counter share the name 'A.control'",
        "two control counters have the name 'B.control'",
    ]


def test_instructions_and_control_reads_share_their_names() -> None:
    read = ControlRead("a", (Access("b"),))
    assert problems(body(If(1, (), (), read))) == [
        "instruction and control read share the name 'a'"
    ]


def test_host_and_queue_are_declared() -> None:
    program = replace(GOOD, body=(replace(A, queue="q"),), queues=(Queue("Q", "B"),))
    assert problems(program) == [
        "the host of queue 'Q', 'B', is no engine",
        "queue 'q' is not declared",
    ]


def test_buffers_have_slots_and_extents() -> None:
    buffers = (Buffer("b", 0), Buffer("c", 1, (4, 0)), Buffer("d", 10**6), Buffer("e", 10**9))
    assert problems(replace(GOOD, buffers=buffers)) == [
        "buffer 'b' has 0 slots",
        "buffer 'c' has an extent below 1",
        "buffer 'e' has 1,000,000,000 slots",
    ]


@pytest.mark.parametrize("slot", [-1, 2, Binary("+", 1, 1), Binary("min", -1, 3)])
def test_slot_that_is_known_lies_in_the_buffer(slot: Expr) -> None:
    (problem,) = problems(access(slot))
    assert problem.startswith("buffer 'b' has no slot ")


@pytest.mark.parametrize(
    "interval", [(-1, 4), (0, 9), (Input("n"), 9), (-1, Input("n")), (8, Input("n"))]
)
def test_box_that_is_known_lies_in_the_buffer(interval: tuple[Expr, Expr]) -> None:
    (problem,) = problems(access(0, interval))
    assert problem.endswith("of buffer 'b' leaves its extent of 8")


@pytest.mark.parametrize("interval", [(4, 4), (5, 4)])
def test_region_is_not_empty(interval: tuple[Expr, Expr]) -> None:
    assert problems(access(0, interval)) == [
        f"box [{interval[0]}:{interval[1]}] of buffer 'b' is empty"
    ]


def test_box_that_is_known_at_run_time_only_is_left_to_the_run() -> None:
    verify(access(0, (Input("n"), Binary("+", Input("n"), 1))))


def test_expressions_name_what_is_there() -> None:
    loop = Loop("i", Iteration("i"), (Instr("x", "A", reads=(Access("b", Iteration("j")),)),))
    assert problems(body(loop, If(Input("k"), ()))) == [
        "no loop around this has the iteration 'i'",
        "no loop around this has the iteration 'j'",
        "input 'k' is not declared",
    ]


def test_equal_accesses_are_checked_again_outside_their_loop() -> None:
    shared = (Access("b", Iteration("i")),)
    inside, outside = Instr("x", "A", reads=shared), Instr("y", "A", reads=shared)
    assert problems(body(Loop("i", 2, (inside,)), outside)) == [
        "no loop around this has the iteration 'i'"
    ]


def test_condition_of_a_while_sees_its_iteration_and_a_trip_count_does_not() -> None:
    verify(body(While("t", Binary("<", Iteration("t"), 3), (Instr("x", "A"),))))
    assert problems(body(Loop("t", Binary("-", 3, Iteration("t")), ()))) == [
        "no loop around this has the iteration 't'"
    ]


def test_operators_are_known_and_divisors_not_zero() -> None:
    bad = Binary("+", Binary("**", Input("n"), 2), Binary("//", Input("n"), 0))
    assert problems(body(If(bad, ()))) == [
        "division by zero in 'n // 0'",
        "'**' is not an operator",
    ]
    hidden = Binary("%", 1, Binary("-", 1, 1))
    assert problems(body(If(hidden, ()))) == ["division by zero in '1 % (1 - 1)'"]


def test_control_read_reads_something() -> None:
    assert problems(body(If(1, (), (), ControlRead("c", ())))) == ["control read 'c' reads nothing"]


@pytest.mark.parametrize("duration", [-1.0, float("inf"), float("nan")])
def test_durations_are_finite_and_not_negative(duration: float) -> None:
    assert problems(body(Instr("x", "A", cost=Takes(duration, 0)))) == [f"a duration is {duration}"]


@pytest.mark.parametrize("condition", [1, -2, Binary("<", 1, 2)])
def test_while_with_a_constant_condition_never_ends(condition: Expr) -> None:
    assert problems(body(While("t", condition, ()))) == ["this loop never ends"]


def test_while_that_never_begins_is_fine() -> None:
    verify(body(While("t", 0, ())))


@pytest.mark.parametrize(("count", "more"), [(30, "10 more"), (3000, "at least 980 more")])
def test_problems_come_in_the_order_of_the_text_and_not_without_end(count: int, more: str) -> None:
    lines = "\n".join(f"A a{k} reads(b{k})" for k in range(count))
    with pytest.raises(InvalidProgram) as caught:
        parse(f"program @p {{\n{lines}\n}}")
    *shown, last = caught.value.diagnostics
    assert [problem.at.line for problem in shown if problem.at] == list(range(2, 22))
    assert last.message == f"{more} problems are not shown"
