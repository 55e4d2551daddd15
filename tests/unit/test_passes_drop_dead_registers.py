"""Register operations that no wait can see are removed, and only those."""

from __future__ import annotations

import pytest

from headway.check import check
from headway.check.generate import Shape, generate
from headway.passes.drop_dead_registers import PASS
from headway.strategies.scoreboard import STRATEGY
from headway.sync import parse_sync, to_text, verify_sync
from headway.sync.program import Assign, SyncProgram, walk_sync
from headway.targets.generic import TARGET

PROGRAM = """sync @p strategy manual target generic {
  program @p {
    input n
    engine A
    engine B
    buffer b
    loop i n {
      A p writes(b) takes(10)
      B c reads(b) takes(10)
    }
    A z takes(10)
  }
  engine A {
    loop i n {
      p
    }
    z
  }
  engine B {
    registers BODY
  }
}
"""


def dropped(body: str) -> str:
    """Return the program of engine B after the pass."""
    found = PASS.apply(parse_sync(PROGRAM.replace("BODY", body)), TARGET)
    return to_text(found).partition("engine B {\n")[2].partition("\n  }\n")[0]


def assignments(sync: SyncProgram) -> int:
    return sum(isinstance(node, Assign) for e in sync.engines for node in walk_sync(e.body))


def test_count_after_the_last_wait_is_removed():
    body = "s loop i n { s := s + 1 c waits A >= s } s := s + 1"
    assert dropped(body).count(":=") == 1


def test_register_that_only_counts_itself_is_removed_with_its_loop():
    assert dropped("s, t loop i n { s := s + 1 c } loop j n { t := t + s }") == (
        "    loop i n {\n      c\n    }"
    )


def test_value_that_the_next_iteration_reads_stays():
    assert ":=" in dropped("s loop i n { c waits A >= s s := s + 1 }")


def test_value_that_is_overwritten_before_it_is_read_is_removed():
    assert dropped("s s := 7 s := n loop i s { c }").count(":=") == 1


def test_one_of_a_row_does_not_overwrite_the_others():
    assert dropped("s[2] s[0] := 1 s[1] := 1 loop i n { c waits A >= s[i % 2] }").count(":=") == 2


def test_value_that_is_read_on_one_branch_stays():
    assert ":=" in dropped("s s := 1 if n { loop i n { c waits A >= s } } else { s := 2 }")


@pytest.mark.thorough
def test_random_programs_keep_their_verdict_and_do_less():
    before = after = 0
    for seed in range(24):
        case = generate(seed, Shape(9, 400, control_in_memory=seed % 2 == 0))
        given = STRATEGY.synchronize(case.program, TARGET)
        found = PASS.apply(given, TARGET)
        verify_sync(found)
        assert check(found, case.inputs) == check(given, case.inputs), f"seed {seed}"
        before, after = before + assignments(given), after + assignments(found)
    assert after < 0.8 * before
