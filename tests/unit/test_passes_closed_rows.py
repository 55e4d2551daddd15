"""Rows of captures that nests fill are computed from iterations: exact with few registers."""

from __future__ import annotations

import pytest

from headway.check import check
from headway.fitting import fit
from headway.ir import parse
from headway.passes._closed_rows import candidates, row_computed
from headway.passes._mentions import Mentions
from headway.sync import parse_sync, to_text
from headway.sync.program import SyncProgram
from headway.targets.generic import TARGET
from headway.targets.limits import limited

SUMS = parse("""program @sums {
  engine vector pipelined
  engine tensor
  buffer sums slots 32
  buffer psum slots 2
  loop row 16 {
    loop column 2 {
      vector clear writes(sums[row * 2 + column]) takes(100, 10)
    }
  }
  loop k 3 {
    loop column 2 {
      loop row 16 {
        tensor multiply writes(psum[row % 2]) takes(10)
        loop part 7 {
          tensor accumulate reads(psum[row % 2]) writes(psum[row % 2]) takes(10)
        }
        vector add reads(sums[row * 2 + column], psum[row % 2]) writes(sums[row * 2 + column])
          takes(100, 10)
      }
    }
  }
  loop row 16 {
    loop column 2 {
      vector copy reads(sums[row * 2 + column]) takes(100, 10)
    }
  }
}""")
"""The sums of a blocked matrix product: set by rows, added to by columns, copied by rows."""


@pytest.mark.parametrize("registers", [8, 16])
def test_sums_that_are_walked_in_another_order_need_no_register_each(registers: int):
    """The public fully optimised matrix product has 64 or 128 sums.

    With 64 registers two and more sums shared one: the first addition to one waited until others
    were cleared, and so on.
    """
    synced, report = fit(SUMS, limited(TARGET, {"registers": registers}), "counted")
    verdict = check(synced, {})
    assert verdict.verdict == "exact"
    assert report.concessions == ()


def program(body: str) -> SyncProgram:
    """Return a program whose engine C waits for captures of what A did."""
    return parse_sync(f"""sync @t {{
      program @t {{
        input n
        engine A
        engine C
        buffer a slots 8
        loop i 100 {{
          A p writes(a[i % 8]) takes(10)
          C c reads(a[i % 8]) takes(10)
        }}
      }}
      engine A {{ loop i 100 {{ p }} }}
      engine C {{ registers s, t, r[4] {body} }}
    }}""")


def computed(body: str) -> str | None:
    """Return the text of engine C without the row `r`, if it can do without."""
    sync = program(body)
    engine = sync.engine("C")
    row = next(register for register in engine.registers if register.size > 1)
    if row not in candidates(engine, Mentions()):
        return None
    found = row_computed(engine, row)
    if found is None:
        return None
    text = to_text(SyncProgram(sync.program, (sync.engines[0], found), sync.strategy, sync.target))
    return " ".join(text[text.index("engine C {\n    reg") :].split())


FILLED = "loop i 2 { loop j 2 { r[i * 2 + j] := s + 1 s := s + 1 } }"


def test_row_that_a_nest_fills_is_a_sum_of_iterations():
    text = computed(f"{FILLED} loop j 2 {{ loop i 2 {{ c waits A >= r[i * 2 + j] }} }}")
    assert text is not None
    assert "threshold.r.1 := 2 * i + j + 1 c waits A >= threshold.r.1" in text
    assert "r[" not in text


def test_row_that_straight_code_fills_is_one_too():
    text = computed("r[0] := 5 r[1] := 8 r[2] := 11 r[3] := 14 loop i 4 { c waits A >= r[i] + 1 }")
    assert text is not None
    assert "threshold.r.1 := 3 * i + 6 c waits A >= threshold.r.1" in text


def test_place_that_is_a_number_has_a_number():
    assert "c waits A >= 4" in (computed(f"{FILLED} c waits A >= r[3]") or "")


def test_row_that_a_loop_fills_again_holds_what_was_before_in_the_first_iteration():
    text = computed(f"{FILLED} loop k 3 {{ loop i 4 {{ c waits A >= r[i] r[i] := s + 9 }} }}")
    assert text is not None
    assert "threshold.r.1 := 13 + (1 - min(k, 1)) * (i - 12)" in text  # first i + 1, then 13


def test_row_holds_what_the_last_iteration_has_left_behind_a_loop():
    text = computed(f"loop k 3 {{ {FILLED} }} loop i 4 {{ c waits A >= r[i] }}")
    assert text is not None
    assert "threshold.r.1 := i + 9 c" in text


@pytest.mark.parametrize(
    "body",
    [
        f"loop k n {{ {FILLED} }} c waits A >= r[0]",  # it may not run
        f"if n > 0 {{ {FILLED} }} c waits A >= r[0]",
        "loop i 3 { r[i] := s } c waits A >= r[0]",  # one stays as it was
        "loop i 4 { r[i // 2] := s } c waits A >= r[0]",  # twice
        "loop i 4 { r[i] := i * i } loop i 4 { c waits A >= r[i] }",  # no sum
        f"{FILLED} loop i n {{ c waits A >= r[i % 4] }}",
        "loop i 4 { r[i] := t t := t + s s := s + 1 } loop i 4 { c waits A >= r[i] }",
        "loop i 4 { r[i] := s c waits A >= r[i] }",  # waited for where it has just been set
        f"{FILLED} r[0] := r[1] c waits A >= r[0]",
    ],
)
def test_row_stays_where_it_is_no_sum(body: str):
    assert computed(body) is None
