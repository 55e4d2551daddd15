"""All orders of small programs, and what is found in them."""

from __future__ import annotations

import pytest

from headway.check import check
from headway.check.explore import compare, explore
from headway.errors import InvalidInput
from headway.sync import parse_sync
from headway.sync.program import SyncProgram

PAIR = "engine A engine B buffer b A p writes(b) takes(1) B c reads(b) takes(1)"


def synced(engines: str, program: str = PAIR) -> SyncProgram:
    return parse_sync(
        f"sync @t strategy manual target generic {{ program @t {{ {program} }} {engines} }}"
    )


def test_exact_program_reaches_what_the_ideal_reaches():
    both = compare(synced("engine A { p } engine B { c waits A >= 1 }"), {})
    assert both.given.verdict == "sound"
    assert both.is_equal
    # Nothing; p issued; p complete; c issued; c complete.
    assert len(both.ideal.observed) == 5


def test_missing_wait_is_early_in_some_order():
    found = explore(synced("engine A { p } engine B { c }"), {})
    assert found.verdict == "early"
    assert [tuple(early) for early in found.early] == [("c[]", "A", 1)]


def test_late_wait_reaches_less_than_the_ideal():
    program = "engine A engine B A p takes(1) B c takes(1)"
    both = compare(synced("engine A { p } engine B { c waits A >= 1 }", program), {})
    assert both.given.verdict == "sound"
    assert both.given.observed < both.ideal.observed


def test_redundant_wait_makes_no_difference():
    program = f"{PAIR} B d reads(b) takes(1)"
    both = compare(synced("engine A { p } engine B { c waits A >= 1 d waits A >= 1 }", program), {})
    assert both.is_equal


def test_circle_is_a_deadlock():
    found = explore(synced("engine A { p waits B >= 1 } engine B { c waits A >= 1 }"), {})
    assert found.verdict == "deadlock"
    assert found.stuck == {"A", "B"}


def test_barrier_waits_for_all_and_counts_anew():
    engines = "engine A { p barrier q } engine B { barrier c d waits A >= 1 }"
    program = f"{PAIR} A q writes(b) takes(1) B d reads(b) takes(1)"
    assert explore(synced(engines, program), {}).early == {("q[]", "B", 1)}
    fenced = "engine A { p barrier q waits B >= 1 } engine B { barrier c d waits A >= 1 }"
    assert explore(synced(fenced, program), {}).verdict == "sound"


def test_engine_that_lacks_a_barrier_stops_the_others():
    found = explore(synced("engine A { p barrier } engine B { c waits A >= 1 }"), {})
    assert found.stuck == {"A"}


def test_token_that_may_be_lost_is_found():
    flags = "flag f from A to B holds 1"
    program = f"{PAIR} A q takes(1) B d takes(1)"
    lost = synced(
        f"{flags} engine A {{ p set f q set f }} engine B {{ take f c take f d }}", program
    )
    assert explore(lost, {}).lost == {"f"}
    free = synced(
        "flag f from A to B holds 2 engine A { p set f q set f } engine B { take f c take f d }",
        program,
    )
    assert explore(free, {}).verdict == "sound"


def test_too_many_states_are_refused():
    with pytest.raises(InvalidInput) as caught:
        explore(synced("engine A { p } engine B { c waits A >= 1 }"), {}, limit=3)
    assert str(caught.value) == (
        "error: more than 3 states\n"
        "  rule: all orders of issues and completions are tried, so programs have to be small\n"
        "  help: choose smaller inputs, or allow more: --states"
    )


@pytest.mark.parametrize(
    "engines", ["engine A { p p } engine B { c }", "engine A { if 0 { p } } engine B { c }"]
)
def test_instances_out_of_turn_are_refused(engines: str):
    with pytest.raises(
        InvalidInput, match="do not issue the instances of the program in its order"
    ):
        explore(synced(engines), {})


RING = """program @t { input n engine A engine B buffer b
  loop i n { A p writes(b) takes(1) B c reads(b) takes(1) } }
  CELLS
  engine A { registers r loop i n { p waits B >= r r := r + 1 } }
  engine B { registers r loop i n { r := r + 1 c waits A >= r } }"""
CELLS = "semaphore 0 counts A width 2 semaphore 1 counts B width 2"


@pytest.mark.parametrize(
    ("n", "verdict"), [(0, "sound"), (3, "sound"), (4, "early"), (5, "early"), (9, "early")]
)
def test_semaphore_of_two_bits_counts_to_three(n: int, verdict: str):
    text = f"sync @t strategy manual target generic {{ {RING.replace('CELLS', CELLS)} }}"
    found = explore(parse_sync(text), {"n": n})
    assert (
        found.verdict
        == verdict
        == check(parse_sync(text), {"n": n}).verdict.replace("exact", "sound")
    )


def test_a_wait_that_may_look_after_the_wrap_gets_stuck_in_some_order():
    """A goes on to its fourth instance, whatever B does: then the semaphore is 0 again."""
    cells = "semaphore 0 counts A width 2 semaphore 1 counts B width 2"
    program = f"{PAIR} A q takes(1) A r takes(1) A s takes(1)"
    text = f"{cells} engine A {{ p q r s }} engine B {{ c waits A >= 1 }}"
    assert explore(synced(text, program), {}).stuck == {"B"}
    shorter = program.removesuffix(" A s takes(1)")
    assert explore(synced(text.replace(" s }", " }"), shorter), {}).verdict == "sound"


def test_schedule_of_a_long_run_is_told_from_near_its_end():
    loop = "loop i 20 { A p takes(1) B c reads(b) takes(1) }"
    program = f"engine A engine B buffer b {loop} A w writes(b) takes(1)"
    engines = "engine A { loop i 20 { p waits B >= 10 } w } engine B { loop i 20 { c } }"
    finding = check(synced(engines, program), {}).findings[0]
    assert len(finding.schedule) == 61
    assert (
        "note: an order that shows it, after 49 other events: complete p[14], issue p[15], "
        "complete p[15], issue p[16], complete p[16], issue p[17], complete p[17], issue p[18], "
        "complete p[18], issue p[19], complete p[19], issue w[]"
    ) in str(finding)


def test_nobody_passes_a_barrier_before_the_waits_in_front_of_it_hold():
    program = "engine A engine B A p takes(1) B q takes(1)"
    found = explore(
        synced("engine A { p wait B >= 1 barrier } engine B { barrier q }", program), {}
    )
    assert found.verdict == "deadlock"
