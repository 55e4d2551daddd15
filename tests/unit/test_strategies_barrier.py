"""Where the two baselines place barriers, and what stands between them."""

from __future__ import annotations

import pytest

from headway.check import check
from headway.ir import parse
from headway.strategies import load
from headway.sync import to_text, verify_sync
from headway.sync.program import SyncProgram
from headway.targets import bind
from headway.targets.generic import TARGET

BOTH = ("barrier", "barrier-always")


def synced(name: str, body: str) -> SyncProgram:
    found = load(name).synchronize(bind(parse(f"program @t {{ {body} }}"), TARGET), TARGET)
    verify_sync(found)
    return found


def engine(name: str, body: str, which: str = "A") -> str:
    """Return the program of one engine in one line."""
    text = to_text(synced(name, body))
    body_text = text[text.index(f"\n  engine {which} {{") :].partition("{")[2]
    return " ".join(body_text.partition("\n  }")[0].split())


def test_straight_line_code_needs_no_barrier():
    body = "buffer b A p writes(b) B c reads(b)"
    assert engine("barrier", body, "B") == "c waits A >= 1"
    assert check(synced("barrier", body), {}).verdict == "exact"


def test_loop_has_one_barrier_at_the_end_of_each_iteration():
    body = "input n buffer b loop i n { A p writes(b) B c reads(b) }"
    assert engine("barrier", body) == "loop i n { p barrier }"
    assert engine("barrier", body, "B") == "loop i n { c waits A >= 1 barrier }"


def test_barrier_stands_before_a_loop_only_if_something_was_issued():
    body = "input n buffer b A p writes(b) loop i n { A q } loop j n { A r }"
    assert engine("barrier", body) == "p barrier loop i n { q barrier } loop j n { r barrier }"


def test_barrier_follows_an_if_in_which_something_may_be_issued():
    body = "input k buffer b if k { A p writes(b) } B c reads(b)"
    assert engine("barrier", body, "B") == "if k { } barrier c"


def test_short_loops_are_written_out_and_need_no_barrier():
    body = "buffer b slots 2 loop k 2 { A p writes(b[k]) B c reads(b[k]) }"
    assert engine("barrier", body, "B") == "c at k 0 waits A >= 1 c at k 1 waits A >= 2"
    assert engine("barrier-always", body, "B") == (
        "barrier loop k 2 { c waits A >= 1 barrier } barrier"
    )
    assert check(synced("barrier", body), {}).verdict == "exact"


def test_always_places_barriers_around_loops_too():
    body = "input n buffer b loop i n { A p writes(b) }"
    assert engine("barrier-always", body) == "barrier loop i n { p barrier } barrier"


def test_code_in_which_nothing_happens_is_left_out():
    body = "input n A p loop i n { loop j n { } }"
    assert engine("barrier", body) == "p"


@pytest.mark.parametrize("name", BOTH)
def test_slot_that_may_be_the_same_is_waited_for(name: str):
    body = """input n buffer b slots 2
    loop i n { A p writes(b[i % 2]) B c reads(b[2 * i % 2]) }"""
    assert "c waits A >= 1" in engine(name, body, "B")
    assert check(synced(name, body), {"n": 3}).verdict == "late"


@pytest.mark.parametrize("name", BOTH)
def test_all_engines_run_the_same_barriers_whichever_branch_is_taken(name: str):
    body = """input k[] buffer b
    loop i 3 { if k[i] { A p writes(b) } else { loop j 2 { B q reads(b) } } C r reads(b) }"""
    for k in ([0, 0, 0], [1, 0, 1], [1, 1, 1]):
        assert check(synced(name, body), {"k": k}).verdict in ("exact", "late")


@pytest.mark.parametrize("name", BOTH)
def test_control_value_is_loaded_before_it_is_overwritten(name: str):
    body = """input n buffer c A p writes(c)
    loop i n load l reads(c) { B q A w writes(c) }
    while t (t < n) load m reads(c) { A v writes(c) }
    if n load o reads(c) { B x } A y writes(c)"""
    for n in (0, 2):
        assert check(synced(name, body), {"n": n}).verdict in ("exact", "late")


@pytest.mark.thorough
@pytest.mark.parametrize("name", BOTH)
def test_nest_of_a_thousand_loops_is_synchronized(name: str):
    loops = "".join(f"loop i{k} 1 {{ " for k in range(1000))
    found = synced(name, f"buffer b {loops} A p writes(b) B c reads(b) {'} ' * 1000}")
    assert check(found, {}).verdict in ("exact", "late")
