"""What the waits beyond the fewest are, and which could be left out."""

from __future__ import annotations

from headway.bench.surplus import least, surplus
from headway.sync import parse_sync
from headway.sync.program import SyncProgram


def program(before: str, waits: str) -> SyncProgram:
    """Return a program whose `c` needs the `p` and `q` of its iteration; `q` has waited for `p`."""
    return parse_sync(f"""sync @t {{
      program @t {{
        input n
        engine A
        engine B
        engine C
        buffer a
        A p writes(a) takes(10)
        B q reads(a) takes(10)
        loop i n {{ C c writes(a) takes(10) }}
      }}
      engine A {{ p }}
      engine B {{ q waits A >= 1 }}
      engine C {{ {before} loop i n {{ c waits {waits} }} }}
    }}""")


def test_waits_are_needed_or_at_once_or_known_or_beside_another():
    found = surplus(program("", "B >= 1, A >= 1, A >= 0"), {"n": 3})
    assert found == {"needed": 2, "at once": 3, "known": 4, "beside": 1}


def test_places_that_no_inputs_need_are_idle():
    assert least(program("", "A >= 1, B >= 1"), {"n": 3}) == (3, 1, 4)
    assert least(program("", "B >= 1"), {"n": 3}) == (2, 0, 4)


def test_inputs_that_fit_another_way_show_that_a_place_is_needed():
    """For n = 0 nobody waits: only other inputs tell."""
    assert least(program("", "B >= 1"), {"n": 0}) == (2, 0, 1)
