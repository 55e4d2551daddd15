"""Static thresholds, and the refusal of everything that has none."""

from __future__ import annotations

import pytest

from headway.check import check
from headway.errors import UnsupportedByTarget
from headway.ir import parse
from headway.strategies.static import STRATEGY
from headway.sync import to_text
from headway.targets import bind
from headway.targets.generic import TARGET


def synced(body: str):
    return STRATEGY.synchronize(bind(parse(f"program @t {{ {body} }}", "t.hwy"), TARGET), TARGET)


def test_straight_line_code_gets_the_fewest_constant_waits():  # E1
    found = synced("""buffer b buffer c buffer d
    A p writes(b) B q reads(b) writes(c) C r reads(c, b) writes(d) A w writes(b)""")
    text = to_text(found)
    assert "q waits A >= 1\n" in text
    assert "r waits B >= 1\n" in text
    assert "w waits C >= 1\n" in text
    assert check(found, {}).verdict == "exact"


@pytest.mark.parametrize("control", ["loop i 2", "if n", "while t (t < n)"])
def test_loops_and_ifs_are_refused(control: str):
    with pytest.raises(UnsupportedByTarget) as error:
        synced(f"input n A p {control} {{ A q }}")
    assert str(error.value) == (
        "t.hwy:1:26: error: 'static' cannot synchronize loops and ifs\n"
        "  rule: a fixed count of completions exists in straight-line code only\n"
        "  help: choose another strategy: `headway list strategies`"
    )
