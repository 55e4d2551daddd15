"""Shrinking keeps what matters and nothing else."""

from __future__ import annotations

from collections.abc import Callable

from headway.check.generate import generate
from headway.check.shrink import shrink
from headway.errors import InvalidInput
from headway.ir import parse, to_text, verify
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.ir.walk import instructions
from headway.spec import required


def shrunk(body: str, fails: Callable[[Program, Inputs], bool], **inputs: int | list[int]) -> str:
    """Return the text of what is left of a program, in one line, and its inputs."""
    small = shrink(parse(f"program @t {{ {body} }}"), inputs, fails)
    text = " ".join(to_text(small.program).split())
    return text.removeprefix("program @t { ").removesuffix(" }") + f" | {dict(small.inputs)}"


def has(name: str) -> Callable[[Program, Inputs], bool]:
    return lambda program, inputs: any(i.name == name for i in instructions(program.body))


def runs(name: str, at_least: int) -> Callable[[Program, Inputs], bool]:
    def fails(program: Program, inputs: Inputs) -> bool:
        return sum(x.node.name == name for x, _ in required(program, inputs)) >= at_least

    return fails


def test_everything_that_does_not_matter_goes():
    body = """input n input k engine A pipelined engine B queue Q on B buffer b slots 2 shape(8)
    loop i n { if k { A x writes(b[i % 2][0:4]) } else { A y } B z triggers(Q) reads(b[1]) }"""
    assert shrunk(body, has("x"), n=3, k=1) == "engine A A x | {}"


def test_trip_counts_become_as_low_as_they_can_be():
    body = "input n A w loop i n { loop j i { A x } }"
    assert shrunk(body, runs("x", 3), n=9) == ("engine A loop i 3 { A x } | {}")


def test_inputs_become_as_low_as_they_can_be():
    def fails(program: Program, inputs: Inputs) -> bool:
        twice = runs("x", 2)
        return twice(program, inputs) and not twice(program, {"m": [0, 0, 0, 0]})

    found = shrunk("input m[] A w loop i 4 { loop j m[i] { A x } }", fails, m=[5, 0, 7, 2])
    assert found == "input m[] engine A loop j m[0] { A x } | {'m': [2, 0, 0, 0]}"


def test_durations_become_round():
    body = "A x takes(37) A y takes(10)"
    assert shrunk(body, has("x")) == "engine A A x takes(10) | {}"


def test_accesses_that_do_not_matter_go():
    def fails(program: Program, inputs: Inputs) -> bool:
        return any(needed for _, needed in required(program, inputs))

    body = """buffer b slots 3 buffer c
    loop i 3 { A p reads(c) writes(b[i % 3], c) B q reads(b[i % 3], c) writes(c) }"""
    assert shrunk(body, fails).startswith("engine A engine B buffer ")
    assert shrunk(body, fails).count("(b") + shrunk(body, fails).count("(c") == 2


def test_program_that_does_not_fit_any_more_is_no_failure():
    def fails(program: Program, inputs: Inputs) -> bool:
        if not has("y")(program, inputs):
            raise InvalidInput("y is gone")
        return True

    assert shrunk("A x A y", fails) == "engine A A y | {}"


def test_attempts_are_limited():
    asked = 0

    def fails(program: Program, inputs: Inputs) -> bool:
        nonlocal asked
        asked += 1
        return False

    case = generate(5)
    assert shrink(case.program, case.inputs, fails, attempts=7) == (case.program, case.inputs)
    assert asked == 7


def test_every_step_is_a_valid_program_with_fewer_choices_left():
    def fails(program: Program, inputs: Inputs) -> bool:
        verify(program)
        return any(needed for _, needed in required(program, inputs))

    for seed in range(5):
        case = generate(seed)
        small = shrink(case.program, case.inputs, fails)
        assert len(list(instructions(small.program.body))) <= 2
        assert fails(*small)
