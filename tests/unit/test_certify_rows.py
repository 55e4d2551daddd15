"""A proof holds only where every register of a row that is named is there."""

from pathlib import Path

import pytest

from headway.certify import certify
from headway.check import check
from headway.errors import InvalidInput
from headway.sync import parse_sync

CAPTURE = Path(__file__).parents[2] / "examples" / "by-hand" / "capture.hwy"
TEXT = CAPTURE.read_text(encoding="utf-8")


@pytest.mark.parametrize("index", ["i % 2", "i * 2 % 2", "(i % 4) // 2", "1 - i % 2", "i % 2 + 0"])
def test_index_that_is_surely_inside_is_no_gap(index: str):
    text = TEXT.replace("last.use[i % 2]", f"last.use[{index}]")
    assert not any("lie outside" in gap.reason for gap in certify(parse_sync(text)).gaps)


@pytest.mark.parametrize("index", ["i % 3", "i", "(i % 2) + 1", "(i % 2) - 1", "i // 2", "n"])
def test_index_that_may_be_outside_is_not_proved(index: str):
    # Once proved although every run with as many iterations is refused.
    text = TEXT.replace("last.use[i % 2]", f"last.use[{index}]")
    (gap,) = certify(parse_sync(text)).gaps
    assert gap.reason == f"last.use[{index}] may lie outside its row of 2, for all that is known"
    with pytest.raises(InvalidInput):
        check(parse_sync(text), {"n": 5})


def test_slot_of_the_program_is_inside_for_inputs_that_fit_it():
    text = TEXT.replace("i % 2", "i")  # so that n is 2 at most
    assert certify(parse_sync(text)).is_complete
    shorter = text.replace("used, last.use[2]", "used, last.use[1]")
    assert not certify(parse_sync(shorter)).is_complete


def test_slot_of_another_loop_of_the_same_name_tells_nothing():
    again = "    loop i n {{ {} }}\n  }}\n  engine "
    twice = TEXT.replace("i % 2", "i")
    for engine, body in (("scalar", "vector late writes(table)"), ("sync", "exec late")):
        twice = twice.replace(f"  }}\n  engine {engine}", again.format(body) + engine)
    assert "last.use[i] may lie outside" in certify(parse_sync(twice)).gaps[0].reason


def test_iterations_of_a_constant_loop_are_known():
    text = TEXT.replace("loop i n", "loop i 2").replace("last.use[i % 2]", "last.use[i + 0]")
    assert certify(parse_sync(text)).is_complete
    assert not certify(parse_sync(text.replace("loop i 2", "loop i 3"))).is_complete
