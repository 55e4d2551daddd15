"""The engine programs that the scoreboard writes."""

from __future__ import annotations

import pytest

from headway.check import check
from headway.ir import parse
from headway.strategies.scoreboard import STRATEGY
from headway.sync import to_text, verify_sync
from headway.sync.program import SyncProgram
from headway.targets import bind
from headway.targets.generic import TARGET


def synced(body: str) -> SyncProgram:
    found = STRATEGY.synchronize(bind(parse(f"program @t {{ {body} }}"), TARGET), TARGET)
    verify_sync(found)
    return found


def engines(body: str) -> str:
    """Return the text of the engine programs."""
    text = to_text(synced(body))
    return text[text.index("\n  engine ", text.index("\n  }")) + 1 :]


ROTATING = """input n engine PE engine SP queue Q on SP buffer b slots 2
loop i n { SP ld triggers(Q) writes(b[i % 2]) PE mm reads(b[i % 2]) }"""


def test_engines_count_and_capture_what_they_wait_for():
    assert (
        engines(ROTATING)
        == """\
  engine PE {
    registers shadow.Q, write.Q.b[2]
    loop i n {
      shadow.Q := shadow.Q + 1
      write.Q.b[i % 2] := shadow.Q
      mm waits Q >= write.Q.b[i % 2]
    }
  }
  engine SP {
    registers shadow.PE, access.PE.b[2]
    loop i n {
      ld waits PE >= access.PE.b[i % 2]
      shadow.PE := shadow.PE + 1
      access.PE.b[i % 2] := shadow.PE
    }
  }
}
"""
    )


def test_engine_walks_only_what_concerns_it():
    body = "input n buffer b A p writes(b) loop i n { A x } B c reads(b)"
    assert "loop" in engines(body).partition("engine B")[2]  # it counts the signals of A
    body = "input n buffer b A p writes(b) loop i n { C x } B c reads(b)"
    assert "loop" not in engines(body).partition("engine B")[2].partition("engine C")[0]


def test_engine_without_waits_needs_no_registers():
    assert "registers" not in engines("input n loop i n { A p B q }")


def test_each_atom_has_captures_of_its_own():
    body = "buffer b shape(8) A p writes(b[0][0:4]) B q writes(b[0][4:8]) C r reads(b)"
    assert "write.A.b, write.B.b.1" in engines(body)


def test_loads_of_control_values_are_counted():
    body = """input n buffer c A p writes(c)
    loop i n load l reads(c) { B q }
    A w writes(c)"""
    found = synced(body)
    assert "w waits A.control" not in to_text(found)  # its own load is done before
    assert "w waits B.control >= access.B.control.c" in to_text(found)
    for n in (0, 2):
        findings = check(found, {"n": n}).findings
        # H4: A loads the trip count as well, only to count along with B.
        assert all("without work inside" in f.message for f in findings)


@pytest.mark.thorough
def test_nest_of_a_thousand_loops_is_synchronized():
    body = "".join(f"loop i{k} 1 {{ " for k in range(1000))
    found = synced(f"buffer b {body} A p writes(b) B c reads(b) {'} ' * 1000}")
    assert check(found, {}).verdict == "exact"
