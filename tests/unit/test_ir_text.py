"""Text of sequential programs: what each form means, and that reading undoes printing."""

from pathlib import Path

import pytest
from random_programs import RandomProgram

from headway.errors import HeadwayError, InvalidProgram, Location, SyntaxProblem
from headway.ir import decode, parse, to_text
from headway.ir.expr import Binary, Input, Iteration
from headway.ir.program import (
    Access,
    Buffer,
    ControlRead,
    Engine,
    If,
    InputDecl,
    Instr,
    Loop,
    Program,
    Queue,
    Takes,
    While,
    Work,
)
from headway.ir.walk import instructions
from headway.sync import parse_any

BAD = sorted((Path(__file__).parents[1] / "data" / "bad").glob("*.hwy"))


def instr(clauses: str, declarations: str = "buffer b slots 4 shape(8, 8)") -> Instr:
    (node,) = parse(f"program @p {{ {declarations} A a {clauses} }}").body
    assert isinstance(node, Instr)
    return node


def test_a_whole_program() -> None:
    text = """
    program @whole {
      input n
      input m[]
      engine A pipelined
      engine B
      queue Q on B pipelined
      buffer x slots 2 shape(128, 64) space(sbuf)
      buffer y
      loop i n {
        B ld triggers(Q) writes(x[i % 2]) takes(50)
        if m[i] != 0 { A op reads(x[i % 2][0:64, i:i + 1], y) takes(5, 1) } else { A no }
      }
      while t (t < n) load c reads(y) { A last writes(y) does(dve, elements=8) }
    }
    """
    i, n = Iteration("i"), Input("n")
    slot = Binary("%", i, 2)
    box = ((0, 64), (i, Binary("+", i, 1)))
    load = Instr("ld", "B", "Q", (), (Access("x", slot),), Takes(50, 50))
    op = Instr("op", "A", None, (Access("x", slot, box), Access("y")), (), Takes(5, 1))
    choice = If(Binary("!=", Input("m", i), 0), (op,), (Instr("no", "A"),))
    last = Instr("last", "A", writes=(Access("y"),), cost=Work("dve", 8))
    again = Binary("<", Iteration("t"), n)
    assert parse(text) == Program(
        "whole",
        (
            Loop("i", n, (load, choice)),
            While("t", again, (last,), ControlRead("c", (Access("y"),))),
        ),
        (InputDecl("n"), InputDecl("m", is_list=True)),
        (Engine("A", pipelined=True), Engine("B")),
        (Queue("Q", "B", pipelined=True),),
        (Buffer("x", 2, (128, 64), "sbuf"), Buffer("y")),
    )


def test_every_node_has_its_place() -> None:
    program = parse("program @p {\n  engine A\n  loop i 2 {\n    A a A b\n  }\n}", "f.hwy")
    (loop,) = program.body
    assert isinstance(loop, Loop)
    assert program.at == Location("f.hwy", 1, 1)
    assert program.engines[0].at == Location("f.hwy", 2, 10)
    assert loop.at == Location("f.hwy", 3, 3)
    places = [node.at for node in loop.body]
    assert places == [Location("f.hwy", 4, 5), Location("f.hwy", 4, 9)]


def test_clauses_may_come_in_any_order() -> None:
    assert instr("takes(1) writes(b) reads(b) triggers(q)") == instr(
        "triggers(q) reads(b) writes(b) takes(1)"
    )


def test_clauses_may_be_spread_out() -> None:
    assert instr("reads (b[\n(1 + ((2 - 1)))\n]\n) takes(\n5)") == instr(
        "reads(b[1 + (2 - 1)]) takes(5)"
    )


def test_a_buffer_alone_is_its_whole_first_slot() -> None:
    assert instr("reads(b)").reads == (Access("b", 0, None),) == instr("reads(b[0])").reads


def test_one_duration_is_latency_and_occupancy() -> None:
    assert instr("takes(50)").cost == Takes(50, 50)
    assert instr("takes(2.5, 0)").cost == Takes(2.5, 0)


def test_names_that_are_words_are_fine_where_no_word_can_stand() -> None:
    declarations = "engine A queue loop on A buffer input slots 4"
    (node,) = parse(f"program @p {{ {declarations} A load triggers(loop) reads(input[3]) }}").body
    assert node == Instr("load", "A", "loop", (Access("input", 3),))


def test_engines_and_queues_are_declared_in_the_order_of_their_first_use() -> None:
    program = parse("program @p { queue R on C B b A a triggers(Q) A a2 triggers(R2) }")
    assert program.engines == (Engine("C"), Engine("B"), Engine("A"))
    assert program.queues == (Queue("R", "C"), Queue("Q", "A"), Queue("R2", "A"))


def test_nothing_is_added_to_declared_engines() -> None:
    with pytest.raises(InvalidProgram, match=r"^<text>:1:31: error: engine 'B' is not declared\n"):
        parse("program @p { engine A A a     B b }")


def test_loop_without_a_name_is_named_by_its_depth() -> None:
    program = parse(
        "program @p { input n loop n { loop 2 { A a } while (_1 < 3) { A b } } }".replace(
            "_1", "_2"
        )
    )
    (outer,) = program.body
    assert isinstance(outer, Loop)
    assert (outer.iteration, outer.trip) == ("_1", Input("n"))
    inner, again = outer.body
    assert isinstance(inner, Loop)
    assert isinstance(again, While)
    assert (inner.iteration, again.iteration) == ("_2", "_2")


@pytest.mark.parametrize(
    ("head", "iteration", "trip"),
    [
        ("i n", "i", Input("n")),
        ("i (n)", "i", Input("n")),
        ("i min(n, 3)", "i", Binary("min", Input("n"), 3)),
        ("n", "_1", Input("n")),
        ("n + 1", "_1", Binary("+", Input("n"), 1)),
        ("n or 1", "_1", Binary("or", Input("n"), 1)),
        ("min(n, 3)", "_1", Binary("min", Input("n"), 3)),
        ("(n) * 2", "_1", Binary("*", Input("n"), 2)),
    ],
)
def test_head_of_a_loop(head: str, iteration: str, trip: Binary | Input) -> None:
    (loop,) = parse(f"program @p {{ input n loop {head} {{ A a }} }}").body
    assert loop == Loop(iteration, trip, (Instr("a", "A"),))


def test_trip_count_of_control_in_memory_may_lack_a_name() -> None:
    (loop,) = parse("program @p { input n buffer b loop n load c reads(b) { A a } }").body
    assert isinstance(loop, Loop)
    assert (loop.iteration, loop.trip) == ("_1", Input("n"))


def test_same_words_mean_another_thing_outside_their_loop() -> None:
    with pytest.raises(SyntaxProblem, match="'i' is neither"):
        parse("program @p { buffer b loop i 1 { A a reads(b[i]) } A c reads(b[i]) }")


def test_iteration_of_an_outer_loop_is_back_after_an_inner_one() -> None:
    program = parse("program @p { buffer b slots 2 loop i 2 { loop j i { A a } A c reads(b[i]) } }")
    assert [node.reads for node in instructions(program.body)] == [
        (),
        (Access("b", Iteration("i")),),
    ]


@pytest.mark.parametrize("seed", range(60))
def test_random_program_is_read_back_equal(seed: int) -> None:
    program = RandomProgram(seed).program()
    text = to_text(program)
    assert parse(text) == program
    assert to_text(parse(text)) == text


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.stem)
def test_bad_text_is_told_what_is_wrong(path: Path) -> None:
    with pytest.raises(HeadwayError) as caught:
        parse_any(decode(path.read_bytes(), path.name), path.name)
    assert f"{caught.value}\n" == path.with_suffix(".err").read_text()


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text",
    [
        "x" * 10**7,
        "program @p { A " + "x" * 10**7 + " reads(b) }",
        "program @p { loop i " + "9" * 10**7 + " { A a } }",
        "program @p { A a reads(" + "\x00" * 10**6,
        "program @p { " + "loop i 2 { " * 2000,
        "#" * 10**7,
    ],
    ids=["one word", "a name", "a number", "garbage", "open loops", "a remark"],
)
def test_huge_line_gives_one_short_error(text: str) -> None:
    with pytest.raises(HeadwayError) as caught:
        parse(text)
    assert len(caught.value.diagnostics) == 1
    assert len(str(caught.value)) < 500


@pytest.mark.thorough
def test_a_thousand_nested_loops_are_read_and_written() -> None:
    depth = 1000
    heads = "".join(f"loop i{level} 2 {{\n" for level in range(depth))
    program = parse("program @deep {\n" + heads + "A a\n" + "}\n" * (depth + 1))
    text = to_text(program)
    assert text.count("loop") == depth
    assert to_text(parse(text)) == text


def test_nest_without_end_is_refused() -> None:
    with pytest.raises(SyntaxProblem) as caught:
        parse("program @p { " + "loop i 2 { " * 10_000)
    assert caught.value.diagnostics[0].message == "loops and ifs nest more than 5,000 levels deep"


def test_other_kind_of_program_is_refused() -> None:
    with pytest.raises(SyntaxProblem) as caught:
        parse("sync @p { program @p { A a } }")
    assert str(caught.value) == (
        "<text>:1:1: error: a sequential program is expected, and this is a synchronized program\n"
        "   1 | sync @p { program @p { A a } }\n"
        "     | ^"
    )


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("A", "the name of an instruction is expected, not '}'"),
        ("A a reads()", "the name of a buffer is expected, not ')'"),
        ("A a reads(b", "')' is expected, not '}'"),
        ("A a reads(b[0)", "']' is expected, not ')'"),
        ("A a reads(b[0][1])", "':' is expected, not ']'"),
        ("A a takes(x)", "a duration in ns is expected, not 'x'"),
        ("A a takes(1, 2, 3)", "')' is expected, not ','"),
        ("A a does(dma, size=3)", "elements or bytes or dtype or moves is expected, not 'size'"),
        ("A a does(dma, bytes=3, bytes=4)", "a second 'bytes' in one instruction"),
        ("A a takes(1) does(dma)", "a second 'does' in one instruction"),
        ("A a triggers(q, r)", "')' is expected, not ','"),
        ("loop i 2 A a", "'{' is expected, not 'A'"),
        (
            "loop i { A a }",
            "'i' is neither the iteration of an enclosing loop nor a declared input",
        ),
        ("loop i 2 load c { A a }", "'reads' is expected, not '{'"),
        ("else { A a }", "an instruction is expected, and 'else' is a word of the language"),
        ("if 1 { A a } else A b", "'{' is expected, not 'A'"),
        ("buffer b slots x", "the number of slots is expected, not 'x'"),
        ("queue q on 3", "the name of an engine is expected, not '3'"),
        ("input n[3]", "']' is expected, not '3'"),
        ("loop i 2 + { A a }", "an expression is expected, not '{'"),
        ("loop 2 and { A a }", "an expression is expected, not '{'"),
    ],
)
def test_first_wrong_word_is_named(body: str, message: str) -> None:
    with pytest.raises(SyntaxProblem) as caught:
        parse(f"program @p {{ {body} }}")
    assert caught.value.diagnostics[0].message == message
