"""A shipping compiler's placements in our judge, beside our own."""

import pytest

from headway.bench.peer_shapes import INPUTS, accumulate, fan, randomly, rotation
from headway.bench.peers import COLUMNS, SOME_INPUTS, Row, measure, page
from headway.ir.program import Program
from headway.peers import bisheng

pytestmark = pytest.mark.skipif(
    bisheng.tool() is None,
    reason="ascendnpu-ir is not installed (extra `peers`: CPython 3.11 on x86-64 Linux)",
)


def one(title: str, program: Program) -> Row:
    (row,) = measure(title, program, INPUTS)
    return row


def test_more_dependences_than_names_cost_a_token_scheme_time() -> None:
    row = one("fan(12)", fan(12))
    assert row.verdicts["counted"] == "exact"
    assert row.ratios["free"]["counted"] == 1
    assert row.ratios["free"]["inject-sync"] == pytest.approx(1.47, abs=0.01)
    assert row.ratios["free"]["graph-sync-solver"] == pytest.approx(1.11, abs=0.01)


def test_where_names_suffice_it_loses_nothing() -> None:
    for program in (rotation(3), accumulate(2)):
        row = one(program.name, program)
        assert row.ratios["free"]["inject-sync"] == 1
        assert row.ratios["free"]["counted"] == 1


def test_no_placement_on_random_programs_is_early_or_hangs() -> None:
    rows = [row for s in range(4) for row in measure(f"r{s}", randomly(s), *SOME_INPUTS)]
    assert {row.verdicts[column] for row in rows for column in COLUMNS} <= {"exact", "late"}
    assert {row.verdicts["counted"] for row in rows} == {"exact"}
    assert "geometric mean, free" in page([], rows, {"counted": 0.1})
