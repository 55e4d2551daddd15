"""Captures of slots that are always written, or waited for, together are one register."""

from __future__ import annotations

from itertools import product

import pytest

from headway import targets
from headway.check import check
from headway.compiler import synchronize
from headway.fitting import fit
from headway.ir import parse
from headway.ir.expr import Binary, Expr, Iteration, evaluate
from headway.passes._places import place
from headway.passes.merge_slots import PASS
from headway.sync import parse_sync, to_text
from headway.sync.program import SyncProgram
from headway.targets.generic import TARGET
from headway.targets.limits import limited

WHOLE_AND_HALVES = parse("""program @whole_and_halves {
  input m
  input n
  engine sync
  engine tensor
  queue loads on sync
  buffer x slots 8
  loop k m {
    loop j n {
      sync load triggers(loads) writes(x[j % 4 * 2], x[j % 4 * 2 + 1]) takes(100)
    }
    loop i n {
      tensor mm reads(x[i % 8]) takes(10)
    }
  }
}""")


def test_tile_that_is_loaded_whole_and_read_in_halves_is_not_late_for_want_of_registers():
    """Public matrix products, attention and mixtures of experts cut tiles so.

    With one register for each half and each counter, 64 were too few for 72 slots, so that captures
    shared registers: the load of one tile waited for other ones.
    """
    target = limited(targets.load("trn2"), {"registers": 9})
    synced, report = fit(WHOLE_AND_HALVES, target, "counted")
    verdict = check(synced, {"m": 3, "n": 7})
    assert (verdict.verdict, verdict.waits) == ("exact", 63)  # 2 for each of 21 loads: not 4
    assert report.concessions == ()


def test_unrolled_tiles_of_eight_bands_need_a_register_for_each_tile():
    bands = ", ".join(f"x[t * 8 + {band}]" for band in range(8))
    program = parse(f"""program @bands {{
      input n
      engine sync
      engine tensor
      queue loads on sync
      buffer x slots 64
      loop k n {{
        loop t 8 {{ sync load triggers(loads) writes({bands}) takes(100) }}
        loop i n {{ tensor mm reads(x[i % 64]) takes(10) }}
      }}
    }}""")
    synced = synchronize(program, "generic", "counted")
    rows = {r.name: r.size for engine in synced.engines for r in engine.registers if r.size > 1}
    assert rows == {"access.tensor.x": 8, "write.loads.x": 8}
    assert check(synced, {"n": 5}).verdict == "exact"


def program(body: str) -> SyncProgram:
    """Return a program whose engine C waits for captures of what A did."""
    return parse_sync(f"""sync @t {{
      program @t {{
        input n
        engine A
        engine C
        buffer a slots 8
        loop i n {{
          A p writes(a[i % 8]) takes(10)
          C c reads(a[i % 8]) takes(10)
        }}
      }}
      engine A {{ loop i n {{ p }} }}
      engine C {{ registers s, t, r[8] loop i n {{ {body} }} }}
    }}""")


def merged(body: str) -> str:
    """Return the text of the loop of engine C behind the pass."""
    text = to_text(PASS.apply(program(body), TARGET))
    return " ".join(text[text.index("engine C {\n    reg") :].split())


PAIR = "r[i % 4 * 2] := s r[i % 4 * 2 + 1] := s"
ONE = "c waits A >= r[i % 8]"


def test_block_that_is_set_to_one_value_is_one_register():
    text = merged(f"{ONE} {PAIR}")
    assert "registers s, t, r[4]" in text
    assert "c waits A >= r[(i % 8) // 2] r[i % 4] := s }" in text


def test_the_widest_blocks_are_merged():
    assert "registers s, t, r[2]" in merged(
        f"{ONE} r[0] := s r[1] := s r[2] := s r[3] := s r[4] := t r[5] := t r[6] := t r[7] := t"
    )


def test_larger_of_two_values_is_set_together_too():
    text = merged(f"{ONE} r[6] := max(r[6], s) r[7] := max(r[7], s)")
    assert "r[3] := max(r[3], s) }" in text


@pytest.mark.parametrize(
    "apart",
    [
        "r[i % 4 * 2] := s r[i % 4 * 2 + 1] := t",  # another value
        "r[i % 4 * 2] := s",  # half of it
        "r[i % 7] := s r[i % 7 + 1] := s",  # no block: it begins anywhere
        "r[i % 4 * 2] := s r[i % 4 * 2] := s",  # the same half twice
        "r[i % 4 * 2] := s s := s + 1 r[i % 4 * 2 + 1] := s",  # another value by now
        "r[s] := t s := s + 1 r[s] := t",  # another place by now
        "r[0] := s r[1] := max(r[1], s)",  # one of them stays if it is larger
        f"{PAIR} t := r[0]",  # read for something else
    ],
)
def test_what_is_not_always_equal_stays_apart(apart: str):
    assert "registers s, t, r[8]" in merged(f"{ONE} {apart}")


def test_block_that_is_waited_for_at_once_holds_the_largest():
    text = merged("c waits A >= r[i % 4 * 2], A >= r[i % 4 * 2 + 1] r[i % 8] := s")
    assert "registers s, t, r[4]" in text
    assert "c waits A >= r[i % 4] r[(i % 8) // 2] := max(r[(i % 8) // 2], s) }" in text


@pytest.mark.parametrize(
    "apart",
    [
        "c waits A >= r[0] r[i % 8] := s",
        "c waits A >= r[0], A >= r[2] r[i % 8] := s",
        "c waits A >= r[0], C >= r[1] r[i % 8] := s",  # of two counters
        "c waits A >= r[0], A >= r[1] + 1 r[i % 8] := s",
        "wait A >= r[0] c waits A >= r[1] r[i % 8] := s",
        "barrier c waits A >= r[0], A >= r[1] r[i % 8] := s",  # the largest is an older one
    ],
)
def test_what_is_not_waited_for_at_once_stays_apart(apart: str):
    assert "registers s, t, r[8]" in merged(apart)


ROW, BAND, STEP = Iteration("i"), Iteration("j"), Iteration("k")


def plus(left: Expr, right: Expr) -> Expr:
    return Binary("+", left, right)


def times(expr: Expr, number: int) -> Expr:
    return Binary("*", expr, number)


def modulo(expr: Expr, number: int) -> Expr:
    return Binary("%", expr, number)


@pytest.mark.parametrize(
    ("index", "block", "number"),
    [
        (7, "2", 1),
        (times(ROW, 3), "i", 0),
        (modulo(plus(times(ROW, 6), 5), 12), "((2 * i) + 1) % 4", 2),
        (plus(times(ROW, 3), BAND), "i", None),  # j is 0, 1 or 2
        (plus(times(ROW, 3), modulo(STEP, 3)), "i", None),
        (plus(times(ROW, 3), modulo(BAND, 4)), "((i * 3) + (j % 4)) // 3", None),
        (modulo(times(ROW, 3), 3), "0", 0),
        (STEP, "k // 3", None),
    ],
)
def test_place_in_blocks_of_three(index: Expr, block: str, number: int | None):
    found = place(index, 3, {"j": 2, "i": 9})
    assert (str(found.block), found.number) == (block, number)
    for i, j, k in product(range(4), range(3), range(4)):
        values = {"i": i, "j": j, "k": k}
        assert evaluate(found.block, values, {}) == evaluate(index, values, {}) // 3
