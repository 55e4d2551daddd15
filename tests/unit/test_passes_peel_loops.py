"""The first iteration of a loop stands alone where only that one waits for something."""

from __future__ import annotations

import pytest

from headway import synchronize
from headway.certify import certify
from headway.check import check
from headway.errors import InvalidProgram, SyntaxProblem
from headway.ir import parse
from headway.kernels import load
from headway.passes.peel_loops import LONGEST, PASS
from headway.sync import parse_sync, to_text, verify_sync
from headway.sync.program import SyncProgram
from headway.targets.generic import TARGET

SYNCED = """\
sync @p strategy manual target generic {{
  program @p {{
    input n
    input m
    engine A
    engine B
    buffer b slots 2
    buffer c
    B write writes(b[0], b[1], c) takes(10)
    loop j m {{
      loop i n {{
        A add reads(b[i % 2]) takes(10)
        A use reads(c) takes(10)
      }}
    }}
  }}
  engine A {{
    registers s[2], t
    {start}
    loop j m {{
      {body}
    }}
  }}
  engine B {{
    write
  }}
}}
"""


def peeled(body: str, start: str = "s[1] := 1") -> SyncProgram:
    found = PASS.apply(parse_sync(SYNCED.format(body=body, start=start)), TARGET)
    verify_sync(found)
    assert parse_sync(to_text(found)) == found
    return found


def text(body: str, start: str = "s[1] := 1") -> str:
    """Return what engine A does in the outer loop, on one line."""
    inside = to_text(peeled(body, start)).partition("loop j m {\n      loop i")[2]
    inside = inside.partition("engine A {")[2].partition("loop j m {")[2].partition("engine B")[0]
    return " ".join(inside.split()).removesuffix(" } }")


def test_the_others_do_without_the_wait():
    assert text("loop i n { wait B >= 1 add use }") == (
        "if n != 0 { wait B >= 1 add at i 0 use at i 0 loop i n - 1 at 1 { add use } }"
    )


def test_a_wait_of_a_later_instruction_stays_where_it_is():
    assert text("loop i n { add waits B >= 1 use waits B >= s[1] }") == (
        "if n != 0 { add at i 0 waits B >= 1 use at i 0 waits B >= s[1]"
        " loop i n - 1 at 1 { add use } }"
    )


def test_a_threshold_that_is_computed_anew_is_the_same_if_its_parts_are():
    assert text("loop i n { t := s[1] + 0 add waits B >= t use t := i }") == (
        "if n != 0 { t := s[1] add at i 0 waits B >= t use at i 0 loop i n - 1 at 1 { add use } }"
    )


@pytest.mark.parametrize(
    "body",
    [
        "loop i n { add waits B >= s[i % 2] use waits B >= t t := 1 }",  # not always the same
        "loop i n { t := i add waits B >= t use }",
        "loop i n { t := s[1] s[1] := 1 add waits B >= t use }",
        "loop i n { t := s[1] t := t + 0 add waits B >= t use }",
        "loop i n { if i == 0 { wait B >= 1 } add use }",  # not straight-line code
        "loop i n { add use }",  # nothing to gain
        "loop i n { add waits B >= 1 use" + " t := 1" * LONGEST + " }",
    ],
)
def test_other_loops_stay_as_they_are(body: str):
    before = parse_sync(SYNCED.format(body=body, start="s[1] := 1"))
    assert peeled(body) == before


def test_a_loop_that_never_runs_stays_as_it_is():
    text = "program @p { buffer x A w writes(x) loop i min(0 * 2, 5) { B r reads(x) } }"
    synced = synchronize(parse(text), "generic", "scoreboard")
    assert check(synced, {}).verdict == "exact"


def test_waits_that_are_the_same_in_the_first_iteration_are_one():
    assert text("loop i n { add waits B >= s[1], B >= s[(i + 1) % 2] use }") == (
        "if n != 0 { add at i 0 waits B >= s[1] use at i 0"
        " loop i n - 1 at 1 { add waits B >= s[(i + 1) % 2] use } }"
    )


@pytest.mark.parametrize("inputs", [{"n": n, "m": m} for n in (0, 1, 2, 5) for m in (0, 1, 3)])
def test_it_is_exact_and_waits_once_for_each_time_the_loop_is_entered(inputs: dict[str, int]):
    verdict = check(peeled("loop i n { add waits B >= 1 use waits B >= 1 }"), inputs)
    assert verdict.verdict == "exact"
    assert verdict.waits == (2 * inputs["m"] if inputs["n"] else 0)


def test_what_is_kept_is_proved_for_all_inputs():
    proof = certify(peeled("loop i n { t := s[1] add waits B >= t use }"))
    assert proof.is_complete


def test_first_iterations_are_those_in_front_of_their_loop():
    wrong = SYNCED.format(
        body="if n != 0 { add at i 1 use at i 0 loop i n - 1 at 1 { add use } }", start=""
    )
    with pytest.raises(InvalidProgram, match="loop 'i' around 'add' has no iteration 1"):
        verify_sync(parse_sync(wrong))


def test_an_iteration_that_is_not_written_out_is_missing():
    found = parse_sync(SYNCED.format(body="loop i n - 1 at 1 { add use }", start="wait B >= 1"))
    verdict = check(found, {"n": 3, "m": 1})
    assert verdict.verdict not in ("exact", "late")
    assert "add" in str(verdict)


def test_a_loop_that_begins_elsewhere_is_not_proved():
    body = "if n != 0 { add at i 0 use at i 0 loop i n - 1 at 1 { add use } } wait B >= 1"
    (gap,) = certify(parse_sync(SYNCED.format(body=body.replace("!=", ">"), start=""))).gaps
    assert gap.reason == "what is done before iteration 1 is not followed"


def test_kernels_wait_less_and_take_no_longer():
    kernel = load("topk")
    fitted = synchronize(kernel.program(), "trn2", "counted")
    names = [
        "unroll-thresholds", "insert-epochs", "hoist-waits", "drop-dead-registers", "merge-counts",
        "settle-thresholds", "compute-counts", "split-waits", "assign-registers",
        "assign-semaphores",
    ]  # fmt: skip
    without = synchronize(kernel.program(), "trn2", "counted", passes=names)
    assert check(fitted, kernel.inputs).waits < check(without, kernel.inputs).waits


def test_only_loops_begin_elsewhere():
    text = SYNCED.format(body="while i i < n at 1 { add use }", start="")
    with pytest.raises(SyntaxProblem, match="at"):
        parse_sync(text)


def test_loop_of_the_same_name_may_be_written_out_as_a_whole():
    """Public attention kernels have many loops of one name; those were taken for begun ones."""
    program = parse("""program @two_loops_of_one_name {
      input n
      engine A
      engine B
      buffer x
      buffer y
      loop j 3 {
        A p writes(x) takes(10)
        loop k n { B c reads(x) takes(10) }
        A q writes(y) takes(10)
        loop k 4 { B d reads(y) takes(10) }
      }
    }""")
    found = synchronize(program, "generic", "counted")
    text = to_text(found)
    assert "loop k n - 1 at 1 {" in text
    assert "d at k 3" in text
    assert check(found, {"n": 3}).verdict == "exact"
