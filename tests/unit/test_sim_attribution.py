"""Where time goes, worked out by hand on few instructions; the property test has the many."""

import pytest
from costly import COSTLY, GENERIC, parsed

from headway.sim import Timeline, simulate
from headway.sim.attribution import Attribution, attribute
from headway.sim.critical import critical_path
from headway.sim.run import Run
from headway.targets import Target


def rows(totals: object) -> dict[str, float]:
    assert isinstance(totals, dict)
    return {str(cause): ps / 1000 for cause, ps in totals.items()}


def run(text: str, target: Target = COSTLY, detail: bool = True, **inputs: int) -> Timeline:
    return simulate(parsed(text), inputs, target, detail=detail)


def why(text: str, target: Target = COSTLY, **inputs: int) -> Attribution:
    return attribute(run(text, target, **inputs))


LOAD_AND_ADD = """
    queue q on A
    A t triggers(q) takes(100)
    B x takes(40)
    ---
    engine A { t }
    engine B { x waits q >= 1 }
"""


def test_wait_for_a_transfer_is_waiting_then_a_hop() -> None:
    found = why(LOAD_AND_ADD)
    # Dispatched at 50, done at 150, seen at 153, x until 193.
    assert found.latency == 193_000
    assert rows(found.engines["B"]) == {"working": 40, "waiting: t (q)": 150, "hop": 3}
    assert rows(found.engines["A"]) == {"trigger": 9, "idle": 184}
    assert rows(found.queues["q"]) == {"working": 100, "trigger": 50, "idle": 43}
    assert rows(found.path) == {"working": 140, "trigger": 50, "hop": 3}


def test_transfer_behind_another_is_queue_busy() -> None:
    found = why("""
        queue q on A
        A s triggers(q) takes(100)
        A t triggers(q) takes(100)
        B x takes(40)
        ---
        engine A { s t }
        engine B { x waits q >= 2 }
    """)
    # s from 50 to 150; t, triggered at 9, is dispatched at 59 and starts at 150.
    assert rows(found.engines["B"]) == {
        "working": 40,
        "waiting: t (q)": 59 + 100,
        "queue busy: t (q)": 91,
        "hop": 3,
    }
    assert rows(found.path) == {
        "working": 140,
        "queue busy: s (q)": 100,
        "trigger": 50,
        "hop": 3,
    }


def test_barrier_names_what_the_last_engine_drained() -> None:
    found = why("""
        queue q on A
        A t triggers(q) takes(100)
        B x takes(40)
        ---
        engine A { exec t barrier }
        engine B { barrier x }
    """)
    # q is done at 150, seen at 153, its wait instruction until 155; then 30 + 7 + 30; x 40.
    assert rows(found.engines["B"]) == {"working": 40, "barrier: t (q)": 155, "barrier": 67}
    assert rows(found.path) == {"working": 140, "trigger": 50, "hop": 3, "barrier": 69}


def test_work_of_the_datapath_hides_what_the_sequencer_does() -> None:
    found = why("""
        input n
        loop i n { A x takes(50) }
        ---
        engine A { registers r  loop i n { r := r + 1  x waits A >= r - 1  } }
    """, n=2)  # fmt: skip
    # 16 a turn, 4 for the register, 4 for the sum; the second turn is under x, but for its wait.
    first = 16 + 4 + 4
    assert rows(found.engines["A"]) == {
        "working": 100,
        "register": 8,
        "loop control": 16,
        "hop": 3,
    }
    assert found.latency == (first + 50 + 3 + 50) * 1000


def test_token_that_is_set_late_leads_to_the_engine_that_sets_it() -> None:
    found = why("""
        engine A engine B A x takes(1) B y takes(10) ---
        flag f from A to B
        engine A { x set f }
        engine B { take f y }
    """)
    # x is issued until 1; the flag is set until 9, seen at 12, taken until 20.
    assert rows(found.path) == {"working": 10, "hop": 3, "flag": 16, "issue": 1}


def test_critical_path_is_one_chain_from_the_beginning_to_the_end() -> None:
    spans = critical_path(Run(run(LOAD_AND_ADD)))
    assert [(s.begin / 1000, s.end / 1000, s.reason.label, s.place) for s in spans] == [
        (0, 50, "trigger", "q"),
        (50, 150, "working", "q"),
        (150, 153, "hop", "B"),
        (153, 193, "working", "B"),
    ]


def test_run_without_a_log_is_refused() -> None:
    timeline = run("A x takes(1)\n---\nengine A { exec x }", detail=False)
    assert timeline.log is None
    with pytest.raises(ValueError, match="detail=True"):
        attribute(timeline)


def test_engine_that_issues_nothing_pays_for_its_control_flow() -> None:
    found = why("input n\nif n { A x takes(1) }\n---\nengine A { if n { x } }", n=0)
    assert rows(found.engines["A"]) == rows(found.path) == {"loop control": 5}


def test_run_that_takes_no_time_has_no_path() -> None:
    found = why("loop i 0 { A x takes(1) }\n---\nengine A { loop i 0 { x } }", GENERIC)
    assert (found.latency, found.engines, found.path) == (0, {"A": {}}, {})
