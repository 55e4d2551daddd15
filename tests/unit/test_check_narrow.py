"""Semaphores that wrap, judged: what a comparison sees, and who may look too late."""

from __future__ import annotations

import pytest

from headway.check import Verdict, check
from headway.errors import InvalidProgram
from headway.sim import simulate
from headway.sync import parse_sync
from headway.sync.program import Semaphore, SyncProgram

PROGRAM = """sync @p strategy manual target generic {{
  program @p {{ engine A engine B buffer b buffer c
    loop i {n} {{ A p writes(b) takes(10) }} A w writes(c) takes(10) B x reads(c) takes(1) }}
  semaphore 7 counts A width {width}
  engine A {{ loop i {n} {{ p }} w }}
  engine B {{ {wait} x }}
}}"""


def program(width: str = "4", wait: str = "", n: int = 3) -> SyncProgram:
    return parse_sync(PROGRAM.format(width=width, wait=wait, n=n))


def verdict(*args: str, n: int = 3) -> Verdict:
    return check(program(*args, n=n), {})


@pytest.mark.parametrize(
    ("width", "count", "value"),
    [("4", 15, 15), ("4", 16, 0), ("4", 17, 1), ("4", -1, 15), ("4 signed", 7, 7)],
)
def test_what_is_read_after_so_many_signals(width: str, count: int, value: int) -> None:
    assert program(width).semaphores[0].value(count) == value


def test_sign_takes_one_bit() -> None:
    assert [Semaphore(0, "A", 4, True).value(count) for count in (7, 8, 15, 16)] == [7, -8, -1, 0]
    assert (Semaphore(0, "A", 4, True).most, Semaphore(0, "A", 4).most) == (7, 15)


def test_wait_for_what_fits_is_judged_as_ever() -> None:
    assert verdict("4", "wait A >= 4").verdict == "exact"
    assert verdict("4", "wait A >= 3").verdict == "early"
    assert verdict("4", "wait A >= 15", n=14).verdict == "exact"


def test_threshold_is_cut_to_the_bits_of_the_semaphore() -> None:
    found = verdict("4", "wait A >= 20").findings  # 4, and 4 is right
    assert found == ()
    assert verdict("2", "wait A >= 4").verdict == "early"  # 0


def test_threshold_below_0_is_a_large_one_without_sign() -> None:  # H3
    assert verdict("4", "wait A >= -1 wait A >= 4").verdict == "deadlock"
    assert verdict("4 signed", "wait A >= -1 wait A >= 4").verdict == "exact"
    with pytest.raises(InvalidProgram, match="'B' waits for A >= -1"):
        simulate(program("4", "wait A >= -1 wait A >= 4"), {})
    assert simulate(program("4 signed", "wait A >= -1 wait A >= 4"), {}).waits == 2


def test_engine_that_may_look_too_late_is_found() -> None:
    found = verdict("3", "wait A >= 7 wait A >= 9", n=8)
    assert found.verdict == "early"
    late = [finding for finding in found.findings if finding.kind == "deadlock"]
    assert str(late[0]) == (
        "<text>:6:19: error: deadlock: B waits for A >= 7 before x[] and may look too late: "
        "the semaphore of A has 3 bits, and reads 0 after signal 8\n"
        "  rule: what an engine waits for has to come while it stands still (docs/checking.md)\n"
        "  help: set the counters to 0 by a barrier before A has given more than 7 signals"
    )


HANDSHAKE = """sync @p strategy manual target generic {{
  program @p {{ engine A engine B buffer b loop i {n} {{
    A p writes(b) takes(10) B c reads(b) takes(10) }} }}
  semaphore 0 counts A width 2 semaphore 1 counts B width 8
  engine A {{ registers s loop i {n} {{ p waits B >= s s := s + 1 }} }}
  engine B {{ registers t loop i {n} {{ t := t + 1 c waits A >= t }} }}
}}"""


def test_counter_that_cannot_run_ahead_may_wrap_where_nobody_looks() -> None:
    assert check(parse_sync(HANDSHAKE.format(n=3)), {}).verdict == "exact"
    # The fourth threshold is 0 in two bits: it holds at once.
    assert check(parse_sync(HANDSHAKE.format(n=4)), {}).verdict == "early"


def test_wrap_that_comes_after_the_instance_that_waited_is_no_danger() -> None:
    text = """sync @p strategy manual target generic {
      program @p { engine A engine B buffer b
        A p1 writes(b) B c reads(b) A p2 writes(b) A p3 A p4 }
      semaphore 0 counts A width 2 semaphore 1 counts B width 2
      engine A { p1 p2 waits B >= 1 p3 p4 }
      engine B { c waits A >= 1 }
    }"""
    assert check(parse_sync(text), {}).verdict == "exact"
    ahead = text.replace("p2 waits B >= 1", "p2")
    found = check(parse_sync(ahead), {}).findings
    assert ["may look too late" in finding.message for finding in found] == [False, True]


def test_simulator_reads_the_wrapped_value() -> None:
    """B looks when A has given 16 signals: the semaphore reads 0, and 3 only after three more."""
    text = """sync @p strategy manual target generic {
      program @p { engine A pipelined engine B buffer b
        B y takes(165) loop i 20 { A p writes(b) takes(10, 10) } B x takes(1) }
      semaphore 0 counts A width 4 semaphore 1 counts B width 4
      engine A { loop i 20 { p } }
      engine B { y wait B >= 1 wait A >= 3 x }
    }"""
    tracks = {track.counter: list(track) for track in simulate(parse_sync(text), {}).tracks}
    assert tracks["B"][1].issue == 190
    never = text.replace("wait A >= 3", "wait A >= 7")
    with pytest.raises(InvalidProgram, match="'B' waits for A >= 7, which has reached 20"):
        simulate(parse_sync(never), {})


def test_a_wait_at_the_end_of_an_engine_may_look_after_the_wrap():
    text = """sync @t strategy manual target generic {
      program @t { engine A engine B A p takes(1) A q takes(1) B c takes(1) }
      semaphore 0 counts A width 1
      engine A { p q } engine B { c wait A >= 1 } }"""
    verdict = check(parse_sync(text), {})
    assert verdict.verdict == "deadlock"
    assert "may look too late: the semaphore of A has 1 bits" in verdict.findings[0].message
    assert check(parse_sync(text.replace("width 1", "width 2")), {}).verdict == "exact"


def test_a_wait_in_front_of_a_set_may_look_after_the_wrap():
    text = """sync @t strategy manual target generic {
      program @t { engine A engine B A p takes(1) A q takes(1) B c takes(1) A r takes(1) }
      flag f from B to A
      semaphore 0 counts A width 1
      engine A { p q END }
      engine B { c wait A >= 1 set f END } }"""
    for end in ("take f r", "take f barrier r"):
        other = "barrier" if "barrier" in end else ""
        narrow = text.replace("q END", f"q {end}").replace("set f END", f"set f {other}")
        kinds = {finding.kind for finding in check(parse_sync(narrow), {}).findings}
        assert "deadlock" in kinds, end
