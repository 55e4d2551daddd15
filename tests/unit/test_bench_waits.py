"""Waits executed beside the fewest: goals for every kernel of the suite."""

from __future__ import annotations

import pytest

from headway.bench.waits import Made, Row, lines, row, suite, switched
from headway.errors import InvalidInput
from headway.strategies.counted import STRATEGY

WAITS, REGISTERS = 1.3, 8
"""The goals: waits beside the fewest, and registers of an engine."""

MORE_WAITS = {
    "flash-attention-backward": 1.55,
    "mamba": 1.35,
    "moe": 1.5,
    "topk": 1.7,
}
"""What waits in the first turn of a loop with a run-time trip count only waits in all turns."""

MORE_REGISTERS = {
    "flash-attention-backward": 56,
    "mamba": 11,
    "moe-backward": 9,
    "paged-attention": 12,
    "rope": 12,
    "token-attention": 9,
}
"""Captures of slots of buffers that an outer loop uses again."""


@pytest.mark.thorough
@pytest.mark.parametrize("program", list(suite()), ids=lambda program: program[0])
def test_kernel_of_the_suite_executes_few_more_waits_than_it_needs(program: Made) -> None:
    found = row(*program, STRATEGY)
    assert found.fewest <= found.waits <= MORE_WAITS.get(program[0], WAITS) * found.fewest
    assert max(found.registers.values()) <= MORE_REGISTERS.get(program[0], REGISTERS)


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
