"""The most signals between two barriers: an upper bound from the code alone."""

from __future__ import annotations

from math import inf

import pytest

from headway.passes._between_barriers import between_barriers
from headway.sync import parse_sync

PROGRAM = """sync @p strategy manual target generic {{
  program @p {{ input n engine A engine B buffer v
    A a A b B c loop i n load l reads(v) {{ A d }} }}
  engine A {{ {} if 0 {{ barrier a b d }} }}
  engine B {{ c }}
}}"""

CASES = {
    "a b d": 3,
    "a b barrier a b d a": 4,
    "a b d a a barrier barrier a": 5,
    "loop i 4 { a b } d": 9,
    "loop i 4 { a a barrier b b } d": 4,  # b of one iteration, a of the next
    "loop i 4 { a b d a barrier b } d": 5,
    "a b loop i 0 { barrier } b d": 4,
    "a b loop i 1 { barrier } b d": 3,
    "a b loop i n { barrier } b d": 4,  # the loop may not run
    "a b d loop i n { d barrier d } a": 4,
    "loop i n { a } b d": inf,
    "a b d while t (t < n) { barrier d }": 3,
    "while t (t < n) { d }": inf,
    "a if n { a b d } else { d barrier }": 4,
    "d if n { barrier } a b a": 4,
    "loop i min(4, n) { a } b d": 6,
    "while t (t < 4 and n > 0) { a } b d": 6,
    "loop i n { if i > 0 { barrier } loop j 5 { a } } b d": 7,
    "loop i n { if i > 0 { barrier } loop j 5 { a } barrier } b d": 5,
}


@pytest.mark.parametrize("body", CASES)
def test_bound_is_the_worst_way_through_the_code(body: str) -> None:
    """The rest of the code, where every instruction has to be issued, gives 3 after a barrier."""
    sync = parse_sync(PROGRAM.format(body))
    assert between_barriers(sync, ["A"]) == {"A": CASES[body]}


def test_loads_of_control_values_are_signals_of_their_own_counter() -> None:
    body = "while t (t < 2) load l { barrier a }"
    assert between_barriers(parse_sync(PROGRAM.format(body)), ["A.control"]) == {"A.control": 1}
    assert between_barriers(parse_sync(PROGRAM.format("a load l load l")), ["A.control"]) == {
        "A.control": 2
    }
