"""Programs that get a certificate, and whether their waits are proved never to be late."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headway import synchronize
from headway.certify import certify
from headway.ir import parse
from headway.kernels import load
from headway.sync import parse_sync
from headway.sync.program import TakeFlag

EXAMPLES = sorted((Path(__file__).parents[1] / "data").glob("examples/*.hwy"))
KERNELS = ("calibration-loop", "matmul", "sync-chain")

LOOP = """\
sync @loop strategy manual target generic {{
  program @loop {{
    input n
    engine A
    engine B
    buffer x slots 2
    loop i n {{
      A put writes(x[i % 2]) takes(10)
      B get reads(x[i % 2]) takes(10)
    }}
  }}
  engine A {{
    registers done
    loop i n {{
      put waits B >= done{put}
      done := done + 1
    }}
  }}
  engine B {{
    registers seen
    loop i n {{
      seen := seen + 1
      get waits A >= seen{get}
    }}
  }}
}}
"""


@pytest.mark.thorough
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("strategy", ["scoreboard", "counted", "barrier", "flags"])
def test_the_worked_examples_get_a_certificate(path: Path, strategy: str) -> None:
    program = parse(path.read_text(), path.name)
    assert certify(synchronize(program, "generic", strategy)).gaps == ()


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", ["calibration-loop", "sync-chain", "rope", "mamba"])
@pytest.mark.parametrize("strategy", ["scoreboard", "counted"])
def test_waits_of_exact_strategies_are_never_late(kernel: str, strategy: str) -> None:
    found = certify(synchronize(load(kernel).program(), "trn2", strategy))
    assert found.gaps == ()
    # Where k is 0, it is 0 for every column; that is not followed.
    is_unknown = (strategy, kernel) == ("counted", "matmul")
    assert [late.reason for late in found.late] == [
        "drain on vector may wait for tensor >= shadow.tensor without need"
    ] * is_unknown


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", KERNELS)
def test_tokens_of_flags_are_followed(kernel: str) -> None:
    assert certify(synchronize(load(kernel).program(), "generic", "flags")).is_complete


@pytest.mark.parametrize(
    ("put", "get", "gaps", "late"),
    [
        (" - 1", "", [], []),
        ("", "", [], ["put on A may wait for B >= done without need"]),
        (" - 2", "", ["put on A may come before an earlier access B x.0"], []),
        (" - 1", " - 1", ["get on B may come before an earlier write A x.0"], []),
    ],
)
def test_a_double_buffer_is_safe_and_never_late_at_the_right_distance_only(
    put: str, get: str, gaps: list[str], late: list[str]
) -> None:
    found = certify(parse_sync(LOOP.format(put=put, get=get)))
    assert [gap.reason for gap in found.gaps] == gaps
    assert not gaps or [gap.reason for gap in found.late] == late


def test_a_wait_for_the_future_is_a_gap() -> None:
    found = certify(parse_sync(LOOP.format(put=" - 1", get=" + 1")))
    assert "B may wait for A >= seen + 1 for ever" in [gap.reason for gap in found.gaps]


def test_tokens_that_are_left_at_the_end_are_a_gap() -> None:
    synced = synchronize(load("sync-chain").program(), "generic", "flags")
    first, *others = synced.engines
    assert isinstance(first.body[-1], TakeFlag)
    wrong = replace(synced, engines=(replace(first, body=first.body[:-1]), *others))
    assert [gap.reason for gap in certify(wrong).gaps] == [
        f"tokens of {first.body[-1].flag} may be left at the end"
    ]


def test_a_flag_that_may_lose_a_token_is_not_followed() -> None:
    synced = synchronize(load("sync-chain").program(), "generic", "phase")
    (gap,) = certify(synced).gaps
    assert gap.reason.endswith(" holds 2 tokens and may lose one")


SILENT = """
sync @silent strategy manual target generic {
  program @silent {
    input n
    engine A
    engine B
    buffer x
    buffer y
    loop i n {
      A put writes(x) takes(10) silent
      A mark writes(y) takes(10)
      B get reads(x) takes(10)
    }
  }
  engine A { registers done loop i n { put waits B >= done mark done := done + 1 } }
  engine B { registers seen loop i n { seen := seen + 1 get waits A >= seenOFFSET } }
}
"""


def test_what_is_silent_shows_with_the_next_signal() -> None:
    found = certify(parse_sync(SILENT.replace("OFFSET", "")))
    assert (found.gaps, found.late) == ((), ())
    (gap,) = certify(parse_sync(SILENT.replace("OFFSET", " - 1"))).gaps
    assert gap.reason == "get on B may come before an earlier write A x.0"


FUSED = """
sync @fused strategy manual target generic {
  program @fused {
    engine A pipelined
    engine B
    buffer x
    A first writes(x) takes(10)
    A second reads(x) takes(10) MARK
  }
  engine A { first second }
  engine B { }
}
"""


def test_the_hardware_orders_a_region() -> None:
    assert certify(parse_sync(FUSED.replace("MARK", "fused"))).gaps == ()
    (gap,) = certify(parse_sync(FUSED.replace("MARK", ""))).gaps
    assert gap.reason == "second on A may come before an earlier write A x.0"


def test_a_product_of_trip_counts_is_a_distance() -> None:
    """What passes a nest by counts its turns at once."""
    text = """
    sync @nest strategy manual target generic {
      program @nest {
        input n
        input m
        engine A
        engine B
        buffer x
        loop i n { loop j m { A put writes(x) takes(10) } }
        B get reads(x) takes(10)
      }
      engine A { loop i n { loop j m { put } } }
      engine B { registers all all := n * m get waits A >= all OFFSET }
    }
    """
    found = certify(parse_sync(text.replace("OFFSET", "")))
    assert (found.gaps, found.late) == ((), ())
    (gap,) = certify(parse_sync(text.replace("OFFSET", "- 1"))).gaps
    assert gap.reason == "get on B may come before an earlier write A x.0"


def test_a_counter_that_may_wrap_is_not_followed() -> None:
    text = LOOP.format(put=" - 1", get="").replace(
        "  engine A {",
        "  semaphore 0 counts A width 8\n  semaphore 1 counts B width 8\n  engine A {",
    )
    gaps = certify(parse_sync(text)).gaps
    assert [gap.reason for gap in gaps] == ["A has 8 bits and may wrap"]


def test_a_loop_that_is_walked_turn_by_turn_has_another_iteration_in_each() -> None:
    """Only in turn 0 is the slot that is read one that was written."""
    text = """
    sync @turns strategy manual target generic {
      program @turns {
        input n
        engine A
        engine B
        buffer x slots 2
        loop i 2 {
          loop j n {
            A put writes(x) takes(10)
            B get reads(x[ITERATION]) takes(10)
          }
        }
      }
      engine A { loop i 2 { loop j n { put } } }
      engine B { loop i 2 { loop j n { get } } }
    }
    """
    gaps = [certify(parse_sync(text.replace("ITERATION", s))).gaps for s in ("i", "1 - i", "1")]
    assert [len(gaps_of_slot) for gaps_of_slot in gaps] == [2, 2, 0]


def test_a_place_that_is_computed_from_a_register_is_not_followed() -> None:
    text = LOOP.format(put="[seen % 2]", get="").replace(
        "registers done", "registers seen, done[2]"
    )
    synced = parse_sync(text.replace("done := done + 1", "done[0] := done[0] + 1"))
    (gap,) = certify(synced).gaps
    assert gap.reason == "seen % 2 is computed from a register, which is not followed"
