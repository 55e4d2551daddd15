"""The programs of the compile-time curve, and its table."""

from __future__ import annotations

import pytest
from effort import effort

from headway.bench.compile_time import Figure, lines, measure, measured, nests, programs, straight
from headway.ir import verify
from headway.ir.program import Program
from headway.ir.walk import instructions
from headway.strategies import load
from headway.targets.generic import TARGET


def test_programs_are_valid_and_as_large_as_they_say():
    made = [made for made in programs(is_quick=True) if made[2] <= 1200]
    assert [shape for shape, *_ in made].count("one nest") == 12
    for _, _, size, make in made[:3]:
        program = make()
        verify(program)
        assert len(list(instructions(program.body))) == size


def test_programs_are_the_same_every_time():
    assert straight(20) == straight(20)
    assert nests(2, 3, 4) == nests(2, 3, 4)


def test_measurement_counts_the_waits():
    figure = measure(("one loop", 1, 30, lambda: nests(1, 1, 30)), "counted")
    assert figure.waits > 0
    assert figure.seconds >= 0


@pytest.mark.thorough
def test_strategies_that_take_long_are_left_out_of_large_programs(
    capsys: pytest.CaptureFixture[str],
):
    small = ("one loop", 1, 30, lambda: nests(1, 1, 30))
    large = ("one loop", 1, 10_001, lambda: nests(1, 1, 30))
    figures = list(measured([small, large]))
    assert [(f.strategy, f.instructions) for f in figures] == [
        ("counted", 30),
        ("scoreboard", 30),
        ("counted", 10_001),
    ]
    assert capsys.readouterr().err.startswith("one loop, depth 1, 30 instructions: counted ")
    assert lines(figures)[-1].split()[-3:] == ["-", "-", "-"]


def test_table_has_a_line_for_each_program():
    figures = [
        Figure("one loop", 1, 1000, "counted", 0.5, 20),
        Figure("one loop", 1, 1000, "scoreboard", 0.25, 1000),
    ]
    assert lines(figures) == [
        "program   depth  instructions  counted: s  us/instruction  waits"
        "  scoreboard: s  us/instruction  waits",
        "one loop      1         1,000        0.50             500     20"
        "           0.25             250  1,000",
    ]


def work(program: Program) -> float:
    """Return how many functions are called for each instruction."""
    size = len(list(instructions(program.body)))
    return effort(lambda: load("counted").synchronize(program, TARGET)) / size


def test_straight_line_code_takes_few_calls_for_each_instruction():
    assert work(straight(800)) < 100


def test_one_loop_takes_no_more_for_each_instruction_of_a_longer_body():
    assert work(nests(1, 1, 1000, 50)) < 0.75 * work(nests(1, 1, 250, 50))
