"""Rules of synchronized programs that hold whatever their waits are."""

from dataclasses import replace

import pytest

from headway.errors import InvalidProgram
from headway.ir import parse
from headway.ir.expr import Binary, Input, Iteration
from headway.sync import parse_sync, verify_sync
from headway.sync.program import (
    Assign,
    EngineProgram,
    Exec,
    Flag,
    Load,
    Register,
    RegisterRef,
    Semaphore,
    SetFlag,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    TakeFlag,
    Threshold,
    Wait,
    Waits,
)

PROGRAM = parse("""program @p {
  input n
  engine A
  engine B
  engine idle
  queue Q on A
  buffer b
  A a triggers(Q) writes(b) takes(1)
  loop i n load n1 reads(b) { B b takes(1) }
}""")
S = RegisterRef("s")
ENGINE_A = EngineProgram("A", (Exec("a"),))


def sync(*nodes: SyncNode, registers: tuple[Register, ...] = (Register("s"),)) -> SyncProgram:
    return SyncProgram(PROGRAM, (ENGINE_A, EngineProgram("B", (*nodes, Exec("b")), registers)))


def problems(program: SyncProgram) -> list[str]:
    with pytest.raises(InvalidProgram) as caught:
        verify_sync(program)
    return [problem.message for problem in caught.value.diagnostics]


def test_well_formed_program_has_no_problem() -> None:
    wait = Wait("B.control", Threshold(S, -1))
    verify_sync(sync(Assign(S, Input("n")), Waits((wait,)), Load("n1", (wait,))))


def test_instruction_may_be_issued_in_several_places_of_its_engine() -> None:
    verify_sync(sync(SyncIf(Input("n"), (Exec("b"),), (Exec("b"),))))


def test_instruction_of_another_engine_is_not_issued() -> None:
    assert problems(sync(Exec("a"))) == ["instruction 'a' is issued by 'B', and belongs to 'A'"]


def test_every_engine_with_instructions_has_a_program_and_issues_them() -> None:
    assert problems(SyncProgram(PROGRAM, ())) == [
        "engine 'A' has instructions and no program",
        "engine 'B' has instructions and no program",
    ]
    silent = (EngineProgram("A", ()), EngineProgram("B", ()))
    assert problems(SyncProgram(PROGRAM, silent)) == [
        "instruction 'a' is never issued",
        "instruction 'b' is never issued",
    ]


def test_engine_has_one_program_and_is_declared() -> None:
    program = sync()
    extra = (ENGINE_A, EngineProgram("C", ()))
    assert problems(replace(program, engines=(*program.engines, *extra))) == [
        "two engine programs have the name 'A'",
        "engine 'C' is not in the sequential program",
    ]


def test_rules_of_the_sequential_program_hold_too() -> None:
    broken = replace(sync(), program=replace(PROGRAM, name="a b", buffers=()))
    assert "'a b' is not the name of a program" in problems(broken)
    assert "buffer 'b' is not declared" in problems(broken)


def test_strategy_and_target_can_be_written_in_text() -> None:
    assert problems(replace(sync(), strategy="a b", target="")) == [
        "'a b' is not the name of a strategy",
        "'' is not the name of a target",
    ]


def test_registers_are_unique_and_have_names_and_sizes() -> None:
    names = ("n", "while", "x y", "s", "s")
    registers = (*map(Register, names), Register("row", 0), Register("rows", 10**9))
    assert problems(sync(registers=registers)) == [
        "register 'n' hides an input",
        "'while' is a word of the language and cannot name a register",
        "'x y' is not the name of a register",
        "register 'row' has size 0",
        "register 'rows' has size 1,000,000,000",
        "two registers have the name 's'",
    ]


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        (Assign(RegisterRef("t"), 0), "register 't' is not declared"),
        (Assign(S, RegisterRef("t")), "register 't' is not declared"),
        (Assign(RegisterRef("s", 1), 0), "register 's' has no element 1: it has 1, from 0 on"),
        (Assign(RegisterRef("s", Iteration("i")), 0), "no loop around this has the iteration 'i'"),
        (Assign(S, Input("k")), "input 'k' is not declared"),
        (Waits(()), "this waits for nothing"),
        (Waits((Wait("q", Threshold()),)), "there is no counter 'q'"),
        (Waits((Wait("Q.control", Threshold()),)), "there is no counter 'Q.control'"),
        (Waits((Wait("Q", Threshold(RegisterRef("t"))),)), "register 't' is not declared"),
        (Exec("c"), "there is no instruction 'c'"),
        (Load("n2"), "there is no control read 'n2'"),
        (SyncIf(1, (), (), Load("b")), "there is no control read 'b'"),
        (SyncLoop("i", -1, ()), "the trip count is -1"),
        (SyncLoop("n", 1, ()), "iteration 'n' hides the input of that name"),
        (SyncWhile("t", 1, ()), "this loop never ends"),
        (SyncWhile("t", Input("n"), ()), "this loop never ends once it has begun"),
    ],
)
def test_what_a_step_names_is_there(node: SyncNode, problem: str) -> None:
    assert problems(sync(node)) == [problem]


def test_condition_over_registers_may_change() -> None:
    verify_sync(sync(SyncWhile("t", Binary("<", S, 3), (Assign(S, Binary("+", S, 1)),))))


def test_register_may_not_be_hidden_by_an_iteration() -> None:
    assert problems(sync(SyncLoop("s", 2, ()))) == ["iteration 's' hides the register of that name"]


@pytest.mark.parametrize(
    ("flag", "problem"),
    [
        (Flag("wait", "Q", "B"), "'wait' is a word of the language and cannot name a flag"),
        (Flag("Q", "Q", "B"), "counter and flag share the name 'Q'"),
        (Flag("f", "Q", "B"), "two flags have the name 'f'"),
        (Flag("g", "R", "B"), "there is no counter 'R'"),
        (Flag("g", "Q", "C"), "there is no engine 'C'"),
        (Flag("g", "Q", "B", -1), "flag 'g' holds -1 tokens"),
    ],
)
def test_flag_has_a_name_of_its_own_a_counter_and_an_engine(flag: Flag, problem: str) -> None:
    flags = (Flag("f", "A.control", "B"), flag)
    assert problems(replace(sync(), flags=flags)) == [problem]


@pytest.mark.parametrize(
    ("node", "problem"),
    [
        (SetFlag("to.B"), "flag 'to.B' is set by 'B', and comes from 'Q'"),
        (TakeFlag("to.A"), "flag 'to.A' is taken by 'B', and goes to 'A'"),
        (SetFlag("to.C"), "there is no flag 'to.C'"),
        (Waits((Wait("to.B", Threshold(None, 1)),)), "there is no counter 'to.B'"),
    ],
)
def test_only_the_host_sets_and_only_the_receiver_takes(node: SyncNode, problem: str) -> None:
    flags = (Flag("to.B", "Q", "B"), Flag("to.A", "B.control", "A"))
    verify_sync(replace(sync(TakeFlag("to.B"), SetFlag("to.A")), flags=flags))
    assert problems(replace(sync(node), flags=flags)) == [problem]


@pytest.mark.parametrize(
    ("semaphore", "problem"),
    [
        (Semaphore(0, "B", 8), "semaphore 0 is there twice"),
        (Semaphore(1, "A", 8), "counter 'A' has two semaphores"),
        (Semaphore(1, "R", 8), "there is no counter 'R'"),
        (Semaphore(1, "B", 0), "semaphore 1 has 0 bits"),
        (Semaphore(1, "B", 1, True), "semaphore 1 has 1 bits"),
        (Semaphore(1, "B", 65), "semaphore 1 has 65 bits"),
    ],
)
def test_semaphore_has_a_number_of_its_own_a_counter_and_some_bits(
    semaphore: Semaphore, problem: str
) -> None:
    assert problems(replace(sync(), semaphores=(Semaphore(0, "A", 8), semaphore))) == [problem]


def test_where_semaphores_are_named_no_counter_that_is_waited_for_is_left_out() -> None:
    waiting = sync(Waits((Wait("Q", Threshold(None, 1)),)))
    verify_sync(waiting)
    verify_sync(replace(waiting, semaphores=(Semaphore(0, "Q", 64), Semaphore(1, "B", 2, True))))
    assert problems(replace(waiting, semaphores=(Semaphore(0, "B", 8),))) == [
        "counter 'Q' is waited for and has no semaphore"
    ]


def test_message_points_at_the_wait_and_names_what_is_close() -> None:
    text = """sync @p {
  program @p { engine vector A }
  engine vector { A waits vectr >= 1 }
}"""
    with pytest.raises(InvalidProgram) as caught:
        parse_sync(text.replace("engine vector A", "engine vector vector A"), "f.hwy")
    assert str(caught.value) == (
        "f.hwy:3:27: error: there is no counter 'vectr'\n"
        "   3 |   engine vector { A waits vectr >= 1 }\n"
        "     |                           ^\n"
        "  help: did you mean 'vector'?"
    )
