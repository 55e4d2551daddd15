"""Waits executed beside the fewest: goals for every kernel of the suite."""

from __future__ import annotations

from functools import cache
from statistics import geometric_mean

import pytest

from headway.bench.waits import Made, Row, lines, passes_without, row, suite, switched
from headway.errors import InvalidInput
from headway.strategies.counted import STRATEGY

WAITS, MEAN, REGISTERS = 1.3, 1.1, 8
"""The goals: waits beside the fewest, their geometric mean, and registers of an engine."""

MORE_REGISTERS = {
    "flash-attention-backward": 54,
    "paged-attention": 12,
    "rope": 12,
    "token-attention": 9,
}
"""Captures of slots of buffers that an outer loop uses again."""


PROGRAMS: dict[str, Made] = {program[0]: program for program in suite()}


@cache
def measured(title: str) -> Row:
    return row(*PROGRAMS[title], STRATEGY)


@pytest.mark.thorough
@pytest.mark.parametrize("title", PROGRAMS)
def test_kernel_of_the_suite_executes_few_more_waits_than_it_needs(title: str) -> None:
    found = measured(title)
    assert found.fewest <= found.waits <= WAITS * found.fewest
    assert max(found.registers.values()) <= MORE_REGISTERS.get(title, REGISTERS)


@pytest.mark.thorough
def test_the_suite_executes_few_more_waits_than_it_needs() -> None:
    assert geometric_mean(measured(title).ratio for title in PROGRAMS) <= MEAN


@pytest.mark.thorough
def test_first_turns_of_loops_are_worth_writing_out() -> None:
    without = row(*PROGRAMS["topk"], STRATEGY, passes_without(["peel-loops"]))
    assert measured("topk").waits < 0.9 * without.waits
    assert measured("topk").excess < without.excess


def test_table_ends_with_the_worst_and_the_mean() -> None:
    rows = [Row("a", 8, 4, {"A": 2, "B": 1}, 0.5), Row("b", 2, 4, {}, 0.0)]
    assert list(lines(rows)) == [
        "program  waits  fewest  ratio  over ideal  registers",
        "a            8       4  2.000      +50.0%   A 2, B 1",
        "b            2       4  0.500       +0.0%           ",
        "worst 2.000, geometric mean 1.000",
    ]


def test_options_are_switched_by_name() -> None:
    assert switched(STRATEGY, ["skip", "offsets"]) == type(STRATEGY)(skip=False, offsets=False)
    assert switched(STRATEGY, []) is STRATEGY


def test_unknown_option_is_an_error() -> None:
    with pytest.raises(InvalidInput, match=r"^error: unknown option 'hosting'"):
        switched(STRATEGY, ["hosting"])


def test_unknown_pass_is_an_error() -> None:
    with pytest.raises(InvalidInput, match=r"^error: unknown pass 'peel'"):
        passes_without(["peel"])
