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
from headway.sync.program import SyncProgram, TakeFlag
from headway.targets.generic import TARGET
from headway.targets.limits import limited

DATA = Path(__file__).parents[1] / "data"
EXAMPLES = sorted(DATA.glob("examples/*.hwy"))
KERNELS = ("calibration-loop", "matmul", "sync-chain")


def by_hand(name: str, old: str = "", new: str = "") -> SyncProgram:
    """Return a program of examples/by-hand with one text replaced."""
    text = (DATA.parents[1] / "examples" / "by-hand" / f"{name}.hwy").read_text()
    assert not old or text.count(old) == 1
    return parse_sync(text.replace(old, new) if old else text)


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
@pytest.mark.parametrize(
    "kernel", ["calibration-loop", "sync-chain", "rope", "mamba", "matmul", "topk"]
)
@pytest.mark.parametrize("strategy", ["scoreboard", "counted"])
def test_waits_of_exact_strategies_are_never_late(kernel: str, strategy: str) -> None:
    found = certify(synchronize(load(kernel).program(), "trn2", strategy))
    assert (found.gaps, found.late) == ((), ())


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


@pytest.mark.parametrize("kernel", ["calibration-loop", "sync-chain"])
def test_flags_that_hold_a_few_tokens_are_followed(kernel: str) -> None:
    assert certify(synchronize(load(kernel).program(), "generic", "phase")).is_complete


def test_one_bit_for_each_slot_is_followed_where_the_slot_chooses_it() -> None:
    assert certify(by_hand("phases")).is_complete


@pytest.mark.parametrize(
    ("flag", "lost"),
    [
        ("full from scalar to vector", "a token of full may be lost"),
        ("empty from vector to scalar", "a token of empty may be lost"),
    ],
)
def test_a_flag_that_may_lose_a_token_is_a_gap(flag: str, lost: str) -> None:
    found = certify(by_hand("tokens", f"flag {flag}", f"flag {flag} holds 1"))
    assert lost in {gap.reason for gap in found.gaps}
    assert certify(by_hand("tokens", f"flag {flag}", f"flag {flag} holds 2")).is_complete


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
    assert [gap.reason for gap in gaps] == [
        "the semaphore of A has 8 bits, and between two barriers may be more than 255 signals"
    ]


CELLS = """\
  semaphore 0 counts scalar width 4
  semaphore 1 counts vector width 4
  semaphore 2 counts loads width 4
  engine scalar {"""


def test_a_narrow_semaphore_is_followed_where_barriers_reset_it_in_time() -> None:
    assert certify(by_hand("constant", "  engine scalar {", CELLS)).is_complete


def test_a_loop_that_gives_a_few_signals_fits_a_narrow_semaphore() -> None:
    text = """
    sync @few {
      program @few {
        input n
        engine A
        engine B
        buffer x
        loop i n { loop k 3 { A put writes(x) takes(10) } B get reads(x) takes(10) }
      }
      semaphore 0 counts A width 2
      engine A { loop i n { barrier loop k 3 { put } barrier } }
      engine B { loop i n { barrier barrier get } }
    }
    """
    assert certify(parse_sync(text)).is_complete
    (gap,) = certify(parse_sync(text.replace("loop k 3", "loop k 4"))).gaps
    assert "between two barriers may be more than 3 signals" in gap.reason


def test_a_threshold_below_0_is_refused_where_the_semaphore_has_no_sign() -> None:
    """Was proved: a cell of 32 bits without sign reads -1 as a number that is never reached."""
    unsigned = CELLS.replace("width 4", "width 32")
    (gap,) = certify(by_hand("shadow", "  engine scalar {", unsigned)).gaps
    assert gap.reason == (
        "vector >= used - 1 may be below what a semaphore with no sign can compare"
    )
    signed = unsigned.replace("vector width 32", "vector width 32 signed")
    assert certify(by_hand("shadow", "  engine scalar {", signed)).is_complete


UNSIGNED = """
sync @unsigned {
  program @unsigned {
    input n
    input m[]
    engine A
    engine B
    buffer x
    loop i n { loop j m[i] { A put writes(x) takes(10) } B get reads(x) takes(10) }
  }
  semaphore 0 counts A width 32
  semaphore 1 counts B width 32 signed
  engine A { registers b loop i n { loop j m[i] { put waits B >= b } b := b + 1 } }
  engine B { registers s loop i n { s := s + m[i] get waits A >= s } }
}
"""


def test_what_is_a_trip_count_there_is_not_below_0() -> None:
    assert certify(parse_sync(UNSIGNED)).is_complete
    elsewhere = UNSIGNED.replace("loop j m[i] {", "if i > 0 { loop j m[i] {")
    for end in ("takes(10) } B get", "waits B >= b } b"):
        elsewhere = elsewhere.replace(end, end.replace("}", "} }", 1))
    reasons = [gap.reason for gap in certify(parse_sync(elsewhere)).gaps]
    assert reasons == ["A >= s may be below what a semaphore with no sign can compare"]


def test_a_threshold_that_is_0_at_least_needs_no_sign() -> None:
    for strategy in ("scoreboard", "counted"):
        target = limited(TARGET, {"width": 32, "signed": 0})
        synced = synchronize(load("matmul").program(), target, strategy)
        assert not any(cell.is_signed for cell in synced.semaphores)
        assert certify(synced).is_complete


LATE_LOAD = """
sync @late_load {
  program @late_load {
    input n
    engine A
    engine B
    engine C
    buffer bound
    buffer y
    B compute writes(bound) takes(1000)
    loop i n load count reads(bound) { A step writes(y) takes(10) }
    C free takes(2000)
    C last reads(y) takes(10)
    B again writes(bound) takes(10)
  }
  engine A { loop i n load count waits B >= 1 { step } }
  engine B { compute again waits A.control >= 1, C.control >= 1 }
  engine C {
    registers s
    free
    load count waits B >= 1
    s := s + n
    last waits A >= s
  }
}
"""


def test_a_control_value_may_be_loaded_late() -> None:
    """C does not need the bound for `free`, which comes behind the loop."""
    found = certify(parse_sync(LATE_LOAD))
    assert found.is_complete
    assert [gap.reason for gap in found.late] == ["C loads count, and has no work inside"]


def test_a_control_value_may_not_be_loaded_when_it_has_been_written_again() -> None:
    write = "    B again writes(bound) takes(10)\n"
    last = "    C last reads(y) takes(10)\n"
    early = LATE_LOAD.replace(write, "").replace(last, write + last)
    assert certify(parse_sync(early)).is_complete  # C loads it when the write is still to come
    late = early.replace(write, "").replace("    C free", write + "    C free")
    reasons = [gap.reason for gap in certify(parse_sync(late)).gaps]
    assert reasons == ["C does not run last where the program does"]


def test_a_load_by_an_engine_without_work_inside_may_be_late() -> None:
    """Was proved never late, while the judge says late: the ideal machine does not load there."""
    name = "h04-bound-in-memory.loaded-by-all.hwy"
    text = (DATA / "scenarios" / name).read_text()
    found = certify(parse_sync(text))
    assert found.is_complete
    assert [gap.reason for gap in found.late] == ["C loads count, and has no work inside"]


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


def test_a_division_by_zero_is_a_gap() -> None:
    synced = parse_sync("""sync @p {
      program @p { input n engine A engine B buffer b slots 2
        loop i n { loop k 3 { A p writes(b[k % 2]) } B q reads(b[1]) } }
      engine A { loop i n { loop k 3 { p waits B >= -1 } } }
      engine B { registers s, t[2]
        loop i n { loop k 3 { t[(i % k) % 2] := s + 1 s := s + 1 } q waits A >= t[1] } }
    }""")
    assert not certify(synced).is_complete
