"""Where the time of `headway sync` goes, as a table."""

from __future__ import annotations

from headway import targets
from headway.bench.compile_time import straight
from headway.bench.stages import SHAPES, lines, measured
from headway.ir.walk import instructions
from headway.passes import ORDER


def test_every_stage_of_the_command_is_measured_in_its_order():
    seconds = measured(straight(20), targets.load("trn2"))
    first = ["read", "verify", "bind", "counted"]
    assert list(seconds) == [*first, *ORDER, "verify the result", "print"]
    assert all(second >= 0 for second in seconds.values())


def test_programs_are_as_large_as_asked():
    assert [len(list(instructions(make(198).body))) for make in SHAPES.values()] == [198] * 3


def test_table_has_a_row_for_each_stage_and_a_sum():
    found = {
        ("one loop", 1000): {"read": 0.25, "print": 0.5},
        ("straight line", 99): {"read": 1.0},
    }
    assert lines(found) == [
        "stage  one loop, 1,000  straight line, 99",
        "read              0.25               1.00",
        "print             0.50               0.00",
        "all               0.75               1.00",
    ]
