"""Programs that get a certificate, and whether their waits are proved never to be late."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headway import synchronize
from headway.certify import certify
from headway.ir import parse
from headway.ir.program import Loop
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


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("strategy", ["scoreboard", "counted", "flags"])
def test_the_worked_examples_get_a_certificate(path: Path, strategy: str) -> None:
    program = parse(path.read_text(), path.name)
    assert certify(synchronize(program, "generic", strategy)).gaps == ()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("strategy", ["scoreboard", "counted"])
def test_waits_of_exact_strategies_are_never_late(kernel: str, strategy: str) -> None:
    found = certify(synchronize(load(kernel).program(), "trn2", strategy))
    assert found.gaps == ()
    # Where k is 0, it is 0 for every column; that is not followed.
    is_unknown = (strategy, kernel) == ("counted", "matmul")
    assert [late.reason for late in found.late] == [
        "drain on vector may wait for tensor >= shadow.tensor without need"
    ] * is_unknown


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


def test_silent_and_fused_instructions_are_not_followed() -> None:
    synced = parse_sync(LOOP.format(put=" - 1", get=""))
    (loop,) = synced.program.body
    assert isinstance(loop, Loop)
    for mark in ("silent", "fused"):
        body = (replace(loop.body[0], **{mark: True}), *loop.body[1:])
        program = replace(synced.program, body=(replace(loop, body=body),))
        (gap,) = certify(replace(synced, program=program)).gaps
        assert gap.reason == f"put is {mark}, which is not followed"


def test_a_place_that_is_computed_from_a_register_is_not_followed() -> None:
    text = LOOP.format(put="[seen % 2]", get="").replace(
        "registers done", "registers seen, done[2]"
    )
    synced = parse_sync(text.replace("done := done + 1", "done[0] := done[0] + 1"))
    (gap,) = certify(synced).gaps
    assert gap.reason == "A computes the place seen % 2 from a register"
