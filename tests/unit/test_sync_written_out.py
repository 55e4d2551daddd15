"""Engine programs with loops written out: text, rules, runs, and the same for the program."""

from __future__ import annotations

from random import Random

import pytest

from headway.certify import certify
from headway.check import check
from headway.check.judge import check as check_by_hand
from headway.errors import InvalidProgram
from headway.ir.walk import instructions
from headway.isa.execute import execute
from headway.isa.lower import lower
from headway.isa.values import SymbolicMemory, run_sequentially
from headway.sim import simulate
from headway.sync import parse_sync, to_text
from headway.sync.program import Exec, SyncLoop
from headway.sync.written_out import likewise
from headway.targets.generic import TARGET

TEXT = """sync @p target generic {
  program @p {
    input n
    engine A
    engine B
    buffer b slots 2
    loop i n {
      loop k 2 {
        A p writes(b[k]) takes(5)
        B q reads(b[k]) takes(7)
      }
    }
  }
  engine A {
    registers t
    loop i n {
      t := 2 * i - 1
      p at k 0 waits B >= t
      p at k 1 waits B >= t + 1
    }
  }
  engine B {
    registers t
    loop i n {
      t := 2 * i
      q at k 0 waits A >= t + 1
      q at k 1 waits A >= t + 2
    }
  }
}
"""

SYNC = parse_sync(TEXT)


def problem(old: str, new: str) -> str:
    with pytest.raises(InvalidProgram) as caught:
        parse_sync(TEXT.replace(old, new))
    return caught.value.diagnostics[0].message


def test_text_says_at_which_iterations_an_instruction_is_issued():
    loop = SYNC.engine("B").body[0]
    assert isinstance(loop, SyncLoop)
    issued = [node for node in loop.body if isinstance(node, Exec)]
    assert [node.turns for node in issued] == [(("k", 0),), (("k", 1),)]
    assert "q at k 1 waits A >= t + 2\n" in to_text(SYNC)
    assert parse_sync(to_text(SYNC)) == SYNC


def test_loops_that_are_written_out_are_innermost_and_always_the_same():
    message = "'q' is not issued in each iteration of the loops around it"
    assert problem("q at k 0", "q at i 0") == message
    assert problem("q at k 0", "q at i 0, k 0") == message
    assert problem("q at k 0 waits A >= t + 1", "loop k 1 { q }") == message


def test_iteration_that_is_written_out_exists():
    assert problem("q at k 1", "q at k 2") == "loop 'k' around 'q' has no iteration 2"


def test_both_judges_find_it_exact_and_name_the_iteration_that_is_not():
    early = parse_sync(TEXT.replace("t + 1\n      q at k 1", "t\n      q at k 1"))
    for judge in (check, check_by_hand):
        assert judge(SYNC, {"n": 3}).verdict == "exact"
        assert "q[0,0]" in str(judge(early, {"n": 3}).findings[0])


def test_sequential_program_is_written_out_likewise():
    found = likewise(SYNC)
    assert [i.name for i in instructions(found.program.body)] == ["p.0", "q.0", "p.1", "q.1"]
    assert check(found, {"n": 3}).verdict == "exact"
    assert likewise(found) is found


def test_it_is_proved_for_all_inputs():
    assert not certify(SYNC).gaps
    early = parse_sync(TEXT.replace("A >= t + 2", "A >= t + 1"))
    assert certify(early).gaps


def test_instances_run_at_their_iterations():
    run = simulate(SYNC, {"n": 2}, TARGET, "reference")
    found = [i.iteration for i in run.instances() if i.name == "q"]
    assert found == [(0, 0), (0, 1), (1, 0), (1, 1)]


def test_both_simulators_agree():
    found = simulate(SYNC, {"n": 3}, TARGET, "compiled")
    assert list(found.instances()) == list(
        simulate(SYNC, {"n": 3}, TARGET, "reference").instances()
    )


def test_binary_accesses_what_the_iterations_say():
    module = lower(SYNC)
    memory, wanted = (SymbolicMemory(SYNC.program, {"n": 3}) for _ in range(2))
    execute(module, {"n": 3}, memory, Random(1))
    run_sequentially(module, {"n": 3}, wanted)
    assert memory.contents() == wanted.contents()
