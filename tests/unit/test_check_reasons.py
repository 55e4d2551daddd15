"""What an instruction depends on in a run, and which wait stands for each dependence."""

from pathlib import Path

import pytest

from headway import synchronize
from headway.check.reasons import Reason, reasons
from headway.errors import UnsupportedByTarget
from headway.ir import parse
from headway.ir.expr import Inputs
from headway.kernels import load
from headway.sync import parse_sync

EXAMPLES = Path(__file__).parents[1] / "data" / "examples"


def of_example(
    example: str, instr: str, inputs: Inputs, strategy: str = "counted"
) -> list[tuple[str, ...]]:
    program = parse(next(EXAMPLES.glob(f"{example}-*.hwy")).read_text())
    found = reasons(synchronize(program, "generic", strategy), instr, inputs)
    return [short(reason) for reason in found]


def short(reason: Reason) -> tuple[str, ...]:
    return reason.kind, reason.before, " / ".join(reason.distances), reason.rule, reason.text


def test_a_wait_tells_what_the_instance_behind_its_signal_had_seen() -> None:
    assert of_example("e01", "r", {}) == [
        ("RAW", "q", "same iteration", "b-wait", "its own wait for B >= 1"),
        (
            "RAW",
            "p",
            "same iteration",
            "c-transitive",
            "it waits for B >= 1, the signal of q[], which had seen it",
        ),
    ]


def test_the_order_of_a_serial_counter_needs_no_wait() -> None:
    found = of_example("e01", "w", {})
    assert ("WAW", "p", "same iteration", "a-order", "A does one thing after the other") in found


def test_slots_of_a_rotating_buffer_are_used_some_iterations_before() -> None:
    assert of_example("e04", "ld", {"n": 4}) == [
        (
            "WAR",
            "mm",
            "2 iterations of i before",
            "b-wait",
            "its own wait for PE >= shadow.PE - 1",
        ),
        ("WAW", "ld", "2 iterations of i before", "a-order", "Q does one thing after the other"),
    ]


def test_an_earlier_wait_of_the_engine_is_named() -> None:
    text = """
    program @earlier {
      engine A
      engine B
      buffer x
      A put writes(x) takes(10)
      B first reads(x) takes(10)
      B again reads(x) takes(10)
    }
    """
    synced = synchronize(parse(text), "generic", "counted")
    (reason,) = reasons(synced, "again", {})
    assert (reason.rule, reason.text) == ("b-earlier-wait", "the wait of first[] for A >= 1")


def test_a_barrier_stands_for_every_dependence_before_it() -> None:
    found = of_example("e04", "ld", {"n": 4}, "barrier")
    assert found[0][-2:] == ("c-transitive", "everything was over at a barrier")


def test_loops_of_different_nests_do_not_count_as_the_same() -> None:
    text = """
    program @two {
      engine A
      engine B
      buffer x
      loop i 3 {
        A put writes(x) takes(10)
      }
      loop j 2 {
        B get reads(x) takes(10)
      }
    }
    """
    synced = synchronize(parse(text), "generic", "scoreboard")
    (reason,) = reasons(synced, "get", {})
    assert reason.distances == ("same iteration",)


EARLY = """
sync @early strategy manual target generic {
  program @early {
    engine A
    engine B
    buffer x
    A put writes(x) takes(10)
    B get reads(x) takes(10)
  }
  engine A { put }
  engine B { get WAIT }
}
"""


def test_a_dependence_that_nothing_keeps_is_said_to_be_early() -> None:
    (reason,) = reasons(parse_sync(EARLY.replace("WAIT", "")), "get", {})
    assert (reason.rule, reason.text) == (
        "",
        "nothing makes B wait for it: get[] may be early",
    )


def test_a_program_that_deadlocks_is_not_explained() -> None:
    with pytest.raises(UnsupportedByTarget, match="get\\[\\] on B does not come in its turn"):
        reasons(parse_sync(EARLY.replace("WAIT", "waits A >= 2")), "get", {})


def test_a_program_with_flags_is_not_explained() -> None:
    synced = synchronize(load("sync-chain").program(), "generic", "flags")
    with pytest.raises(UnsupportedByTarget, match="a program with flags is not explained"):
        reasons(synced, "step0", {"n": 2})
