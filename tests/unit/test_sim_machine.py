"""The timing rules, each on a few instructions, with the times worked out by hand.

Both simulators are run on each, and have to agree.
"""

from dataclasses import replace

import pytest
from costly import COSTLY, GENERIC, parsed

from headway.errors import InvalidProgram
from headway.sim import Timeline, simulate
from headway.sim.reason import Reason
from headway.targets import Target

pytest.importorskip("numba")


def run(
    text: str, target: Target = COSTLY, detail: bool = False, **inputs: int | list[int]
) -> Timeline:
    """Simulate `sequential program --- engine programs` with both simulators."""
    sync = parsed(text)
    reference = simulate(sync, inputs, target, "reference", detail=detail)
    compiled = simulate(sync, inputs, target, "compiled")
    assert facts(reference) == facts(compiled)
    return reference


def facts(timeline: Timeline) -> tuple[object, ...]:
    """Return all that both simulators find."""
    totals = replace(timeline, tracks=(), log=None)
    return totals, [[track.counter, *track] for track in timeline.tracks]


def times(timeline: Timeline) -> dict[str, tuple[float, float]]:
    """Return issue and completion of every instance."""
    return {str(x): (x.issue, x.done) for x in timeline.instances()}


def steps(timeline: Timeline, engine: int) -> list[tuple[float, Reason, str | int, int]]:
    """Return the steps of a sequencer: until when, why, and the signal if it stood for one."""
    assert timeline.log is not None
    log = timeline.log.engines[engine].steps
    rows = zip(log.ends, log.reasons, log.counters, log.positions, strict=True)
    name = timeline.log.model.name
    return [(end / 1000, Reason(why), name(c) if p else 0, p) for end, why, c, p in rows]


def test_serial_instructions_follow_each_other() -> None:
    found = run("A x takes(5)\nA y takes(7)\n---\nengine A { exec x exec y }", GENERIC)
    assert times(found) == {"x[]": (0, 5), "y[]": (5, 12)}
    assert found.latency == 12


def test_pipelined_instructions_overlap_and_complete_in_order() -> None:
    found = run(
        "engine A pipelined\nA x takes(50, 5)\nA y takes(7, 5)\n---\nengine A { exec x exec y }",
        GENERIC,
    )
    assert times(found) == {"x[]": (0, 50), "y[]": (5, 50)}


def test_sequencer_goes_on_after_the_issue_if_it_overlaps() -> None:
    text = """
        engine A
        queue q on A
        A x takes(50)
        A t triggers(q) takes(20)
        ---
        engine A { exec x exec t }
    """
    assert times(run(text))["t[]"][0] == 1
    strict = replace(COSTLY, sequencer=replace(COSTLY.sequencer, overlaps=False))
    assert times(run(text, strict))["t[]"][0] == 50


def test_wait_holds_one_hop_after_the_completion() -> None:
    found = run("A x takes(5)\nB y takes(7)\n---\nengine A { exec x } engine B { y waits A >= 1 }")
    assert times(found)["y[]"] == (5 + 3, 5 + 3 + 7)


def test_wait_for_nothing_holds_at_once() -> None:
    found = run("A x takes(5)\nB y takes(7)\n---\nengine A { exec x } engine B { y waits A >= 0 }")
    assert times(found)["y[]"] == (0, 7)
    assert found.waits == 1


def test_waits_beyond_those_attached_are_instructions_before() -> None:
    found = run("""
        A x takes(5)
        B y takes(30)
        C z takes(1)
        ---
        engine A { exec x }
        engine B { exec y }
        engine C { z waits B >= 1, A >= 1 }
    """)
    # The further wait, for A, costs an instruction, but under the wait for B.
    assert times(found)["z[]"][0] == 30 + 3
    assert found.engines[2].synchronization == 2


def test_wait_that_stands_alone_costs_an_instruction() -> None:
    found = run("A x takes(5)\nB y takes(1)\n---\nengine A { exec x } engine B { wait A >= 1\ny }")
    assert times(found)["y[]"][0] == 5 + 3 + 2


def test_register_operations_take_time_each() -> None:
    found = run("A x takes(1)\n---\nengine A { registers r[2]\nr[1] := 1\nr := r[1] * 2 + 1\nx }")
    assert times(found)["x[]"][0] == 4 + 2 * 4


def test_register_operations_hide_under_the_datapath() -> None:
    found = run("""
        A x takes(50)
        A y takes(1)
        ---
        engine A { registers r\nx\nr := r + 1\ny }
    """)
    assert times(found)["y[]"][0] == 50


def test_threshold_that_adds_to_a_register_costs_an_operation() -> None:
    text = """
        A x takes(5)
        B y takes(1)
        ---
        engine A {{ exec x }}
        engine B {{ registers r\nr := 1\ny waits A >= r{} }}
    """
    assert run(text.format("")).engines[1].synchronization == 4
    assert run(text.format(" + 0")).engines[1].synchronization == 4
    assert run(text.format(" - 1")).engines[1].synchronization == 8


def test_iterations_cost_their_control_and_the_end_a_branch() -> None:
    found = run("loop i 2 { A x takes(1) }\n---\nengine A { loop i 2 { x } }")
    assert times(found) == {"x[0]": (16, 17), "x[1]": (16 + 1 + 16, 34)}
    assert found.latency == 33 + 1 + 5
    assert found.engines[0].synchronization == 2 * 16 + 5


def test_branches_cost_the_same_both_ways() -> None:
    program = "input k\nif k { A x takes(1) } else { A y takes(1) }"
    text = f"{program}\n---\nengine A {{ if k {{ x }} else {{ y }} }}"
    assert times(run(text, k=1)) == {"x[]": (5, 6)}
    assert times(run(text, k=0)) == {"y[]": (5, 6)}


def test_while_tests_once_more_than_it_turns() -> None:
    text = """
        buffer flag
        while t (t < 2) load c reads(flag) { A x takes(1) }
        ---
        engine A { while t (t < 2) load c { x } }
    """
    found = run(text)
    control = found.track("A.control")
    assert [str(x) for x in control] == ["c[0]", "c[1]", "c[2]"]
    assert [x.done for x in control] == [20, 57, 94]
    assert times(found)["x[1]"][0] == 57 + 16


def test_control_load_stops_the_sequencer() -> None:
    text = """
        buffer n
        A x writes(n) takes(5)
        loop i 2 load n1 reads(n) { B y takes(1) }
        ---
        engine A { exec x }
        engine B { loop i 2 load n1 waits A >= 1 { y } }
    """
    found = run(text)
    assert times(found)["n1[]"] == (5 + 3, 5 + 3 + 20)
    assert times(found)["y[0]"][0] == 28 + 16


def test_transfer_starts_after_its_dispatch_and_holds_its_host_for_the_trigger() -> None:
    found = run("""
        queue q on A
        A t triggers(q) takes(100, 60)
        A u triggers(q) takes(100, 60)
        ---
        engine A { exec t exec u }
    """)
    assert [(x.issue, x.start, x.done) for x in found.track("q")] == [
        (0, 50, 150),
        (9, 110, 210),
    ]
    assert found.latency == 210


SHARED = replace(COSTLY, dma=replace(COSTLY.dma, is_shared=True))

TWO_QUEUES = """
    queue q on A
    queue r on B
    A t triggers(q) takes(120, 100)
    A u triggers(q) takes(120, 100)
    B v triggers(r) takes(120, 100)
    ---
    engine A { exec t exec u }
    engine B { exec v }
"""


def test_queues_that_share_the_bandwidth_take_turns_in_the_order_of_their_triggers() -> None:
    found = run(TWO_QUEUES, SHARED)
    starts = {str(x): x.start for x in found.instances()}
    # A and B trigger at 0, A first; A triggers again at 9.
    assert starts == {"t[]": 50, "v[]": 150, "u[]": 250}


def test_queues_that_share_nothing_run_side_by_side() -> None:
    starts = {str(x): x.start for x in run(TWO_QUEUES).instances()}
    assert starts == {"t[]": 50, "v[]": 50, "u[]": 150}


def test_bandwidth_is_used_by_the_payload_only() -> None:
    found = run(
        """
        queue q on A
        queue r on B
        A t triggers(q) takes(30, 100)
        A u triggers(q) takes(30, 100)
        B v triggers(r) takes(30, 100)
        ---
        engine A { exec t exec u }
        engine B { exec v }
        """,
        SHARED,
    )
    # Payloads of 30 - 5 - 15 = 10. u has to wait for its queue; that reserves nothing for it.
    starts = {str(x): x.start for x in found.instances()}
    assert starts == {"t[]": 50, "v[]": 60, "u[]": 150}


def test_barrier_drains_meets_resets_and_meets_again() -> None:
    found = run(
        """
        queue q on A
        A t triggers(q) takes(100)
        A x takes(5)
        B y takes(8)
        C z takes(1)
        ---
        engine A { exec t exec x barrier }
        engine B { exec y barrier }
        engine C { barrier z waits A >= 0 }
        """,
        detail=True,
    )
    # A: x is done at 9 + 5, seen at 17, after its wait instruction 19; q at 150, 153, 155.
    met = 155
    end = met + 30 + 7 + 30
    assert times(found)["z[]"][0] == end
    assert steps(found, 0)[-2:] == [(155, Reason.BARRIER, 0, 0), (end, Reason.BARRIER, 0, 0)]
    assert steps(found, 1)[-3:] == [
        (13, Reason.BARRIER, 0, 0),  # its drain
        (met, Reason.BARRIER, "q", 1),  # A came last, after it had stood for q
        (end, Reason.BARRIER, 0, 0),
    ]
    assert [e.synchronization for e in found.engines] == [2 * 2 + 67, 2 + 67, 67]
    assert found.barriers == 1


def test_counters_count_again_from_a_barrier() -> None:
    found = run("""
        A x takes(5)
        A x2 takes(50)
        B y takes(1)
        ---
        engine A { exec x barrier x2 }
        engine B { barrier y waits A >= 1 }
    """)
    x2, y = times(found)["x2[]"], times(found)["y[]"]
    assert y[0] == x2[1] + 3


def test_token_comes_when_its_counter_is_done_and_the_sequencer_has_set_it() -> None:
    program = "engine A engine B queue Q on A A x takes(100) A t triggers(Q) takes(30) B y takes(1)"
    flag = "flag f from {} to B engine A {{ x t set f }} engine B {{ take f y }}"
    # A issues x at 0 and t at 1, is held by the trigger until 10, and sets the flag until 18.
    assert times(run(f"{program} --- {flag.format('A')}"))["y[]"] == (111, 112)  # 100 + 3 + 8
    assert times(run(f"{program} --- {flag.format('Q')}"))["y[]"] == (92, 93)  # 1 + 50 + 30 + 3 + 8
    assert times(run(f"{program} --- {flag.format('A.control')}"))["y[]"] == (29, 30)  # 18 + 3 + 8


def test_takes_are_waits_that_cost_a_flag_each() -> None:
    text = """engine A engine B A x takes(100) B y takes(1) ---
    flag f from A to B
    engine A { set f set f x }
    engine B { take f take f y }"""
    timeline = run(text)
    # set at 8 and 16; B takes them until 8 + 3 + 8, and until 19 + 8
    assert times(timeline) == {"x[]": (16, 116), "y[]": (27, 28)}
    assert timeline.waits == 2
    assert [e.synchronization for e in timeline.engines] == [16, 16]
    assert [e.waiting for e in timeline.engines] == [0, 11]


def test_tokens_stay_through_a_barrier() -> None:
    text = """engine A engine B B y takes(1) ---
    flag f from A to B
    engine A { set f set f barrier }
    engine B { take f barrier take f y }"""
    assert run(text, GENERIC).barriers == 1


def test_more_tokens_than_there_is_room_for() -> None:
    text = """engine A engine B input n loop i n { B y takes(1) } ---
    flag f from A to B
    engine A { loop i n { set f } }
    engine B { loop i n { take f y } }"""
    assert run(text, n=3000).waits == 3000


def test_missing_token_is_a_deadlock() -> None:
    text = """engine A engine B B y takes(1) ---
    flag f from A to B engine A { set f } engine B { take f take f y }"""
    with pytest.raises(InvalidProgram) as caught:
        run(text)
    assert [note.message for note in caught.value.diagnostics[0].notes] == [
        "'B' waits for f >= 2, which has reached 1",
        "'A' has ended",
    ]


def test_stall_for_a_token_names_the_flag() -> None:
    text = """engine A engine B A x takes(10) B y takes(1) ---
    flag f from A to B engine A { x set f } engine B { take f y }"""
    timeline = run(text, GENERIC, detail=True)
    assert steps(timeline, 1)[0] == (10, Reason.WAITING, "f", 1)


def test_stalls_say_what_released_them() -> None:
    found = run(
        "A x takes(5)\nB y takes(7)\n---\nengine A { exec x } engine B { y waits A >= 1 }",
        detail=True,
    )
    assert steps(found, 1)[0] == (8, Reason.WAITING, "A", 1)
    assert found.engines[1].waiting == 8


def test_loop_that_does_not_run_costs_a_branch() -> None:
    found = run("input n\nloop i n { A x takes(1) }\n---\nengine A { loop i n { x } }", n=0)
    assert (found.latency, len(found)) == (5, 0)


def test_timeline_reads_well() -> None:
    found = run("A x takes(5)\nB y takes(7)\n---\nengine A { exec x } engine B { y waits A >= 1 }")
    assert str(found) == (
        "p, manual on costly: 15 ns, 2 instances, 1 wait, 0 barriers\n"
        "  A: busy 5, waiting 0, synchronization 0 ns\n"
        "  B: busy 7, waiting 8, synchronization 0 ns"
    )


@pytest.mark.thorough
def test_deep_nests_are_simulated() -> None:
    depth = 1100
    nest = "\n".join(f"loop i{k} 1 {{" for k in range(depth))
    found = run(
        f"{nest} A x takes(1) {'}' * depth}\n---\nengine A {{ {nest} x {'}' * depth} }}", GENERIC
    )
    assert times(found)[f"x[{','.join(['0'] * depth)}]"] == (0, 1)
