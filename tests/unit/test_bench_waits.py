"""Waits executed beside the fewest: goals for every kernel of the suite."""

from __future__ import annotations

import pytest

from headway.bench.waits import Row, lines, row, suite, switched
from headway.errors import InvalidInput
from headway.strategies.counted import STRATEGY


@pytest.mark.parametrize("program", list(suite()), ids=lambda program: program[0])
def test_kernel_of_the_suite_executes_few_more_waits_than_it_needs(program):
    found = row(*program, STRATEGY)
    assert found.fewest <= found.waits <= 1.3 * found.fewest
    assert found.registers <= 10


def test_table_ends_with_the_worst_and_the_mean():
    rows = [Row("a", 8, 4, 2, 0.5), Row("b", 2, 4, 1, 0.0)]
    assert list(lines(rows)) == [
        "program  waits  fewest  ratio  max registers  over ideal",
        "a            8       4  2.000              2      +50.0%",
        "b            2       4  0.500              1       +0.0%",
        "worst 2.000, geometric mean 1.000",
    ]


def test_options_are_switched_by_name():
    assert switched(STRATEGY, ["skip", "offsets"]) == type(STRATEGY)(skip=False, offsets=False)
    assert switched(STRATEGY, []) is STRATEGY


def test_unknown_option_is_an_error():
    with pytest.raises(InvalidInput, match=r"^error: unknown option 'hosting'"):
        switched(STRATEGY, ["hosting"])
