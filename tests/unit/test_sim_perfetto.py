"""The trace of a run, event by event."""

import json
from itertools import pairwise
from typing import Any

from headway import kernels, synchronize, targets
from headway.sim import Timeline, simulate
from headway.sim.perfetto import perfetto
from headway.sync import parse_sync

PROGRAM = """
sync @p strategy {strategy} target generic {{
  program @p {{
    queue q on A
    A t triggers(q) takes(100)
    loop i 2 {{ B x takes(40) }}
    C y takes(8)
  }}
  engine A {{ exec t {last} }}
  engine B {{ loop i 2 {{ x waits q >= 1 }} {last} }}
  engine C {{ y waits B >= 2 {last} }}
}}
"""


def run(strategy: str = "manual", last: str = "", detail: bool = True) -> Timeline:
    sync = parse_sync(PROGRAM.format(strategy=strategy, last=last))
    return simulate(sync, {}, targets.load("generic"), detail=detail)


def events(*timelines: Timeline) -> list[dict[str, Any]]:
    return json.loads(perfetto(*timelines))["traceEvents"]


def threads(found: list[dict[str, Any]], process: int = 1) -> dict[str, int]:
    return {
        e["args"]["name"]: e["tid"]
        for e in found
        if e["name"] == "thread_name" and e["pid"] == process
    }


def test_every_engine_and_queue_has_a_track() -> None:
    assert list(threads(events(run()))) == [
        "A sequencer",
        "q",
        "B",
        "B sequencer",
        "C",
        "C sequencer",
    ]


def test_tracks_of_sequencers_are_left_out_without_a_log() -> None:
    assert list(threads(events(run(detail=False)))) == ["q", "B", "C"]


def test_slices_carry_the_instruction_with_its_iteration() -> None:
    found = events(run())
    slices = [e for e in found if e["ph"] == "X" and e["tid"] == threads(found)["B"]]
    assert slices == [
        {
            "ph": "X",
            "name": "x",
            "cat": "engine",
            "ts": (100 + 40 * i) / 1000,
            "dur": 0.04,
            "args": {
                "iteration": [i],
                "position": i + 1,
                "issue": 100.0 + 40 * i,
                "done": 140.0 + 40 * i,
            },
            "pid": 1,
            "tid": threads(found)["B"],
        }
        for i in range(2)
    ]


def test_arrows_lead_from_each_completion_to_the_instances_that_waited_for_it() -> None:
    found = events(run())
    tracks = threads(found)
    begins = [(e["id"], e["tid"], e["ts"]) for e in found if e["ph"] == "s"]
    ends = [(e["id"], e["tid"], e["ts"]) for e in found if e["ph"] == "f"]
    q, b, c = tracks["q"], tracks["B"], tracks["C"]
    assert begins == [(1, q, 0.099999), (2, q, 0.099999), (3, b, 0.179999)]
    assert ends == [(1, b, 0.1), (2, b, 0.14), (3, c, 0.18)]


def test_every_arrow_begins_and_ends_inside_a_slice_of_its_track() -> None:
    source = kernels.load("matmul").program()
    synced = synchronize(source, "trn2", "flags")
    found = events(simulate(synced, {"m": 2, "n": 2, "k": 3}, detail=True))
    slices: dict[int, list[tuple[float, float]]] = {}
    for e in found:
        if e["ph"] == "X":
            slices.setdefault(e["tid"], []).append((e["ts"], e["ts"] + e["dur"]))
    arrows = [e for e in found if e["ph"] in "sf"]
    assert len(arrows) > 50
    for arrow in arrows:
        assert any(a <= arrow["ts"] <= b for a, b in slices[arrow["tid"]]), arrow
    for spans in slices.values():  # and slices of one track follow each other
        assert all(a[1] <= b[0] + 1e-9 for a, b in pairwise(sorted(spans)))


def test_steps_of_a_sequencer_say_why_and_what_for() -> None:
    found = events(run(last="barrier"))
    steps = [
        (e["name"], e["ts"], e["dur"], e["args"].get("for"))
        for e in found
        if e["ph"] == "X" and e["tid"] == threads(found)["C sequencer"]
    ]
    assert steps == [
        ("waiting", 0.0, 0.18, "x"),
        ("barrier", 0.18, 0.008, "y"),
    ]


def test_semaphores_count_completions_from_the_last_barrier() -> None:
    found = events(run(last="barrier"))
    values = [(e["name"], e["ts"], e["args"]["value"]) for e in found if e["ph"] == "C"]
    assert values == [
        ("semaphore B", 0.14, 1),
        ("semaphore B", 0.18, 2),
        ("semaphore B", 0.188, 0),
        ("semaphore q", 0.1, 1),
        ("semaphore q", 0.188, 0),
    ]


def test_timelines_are_processes_side_by_side() -> None:
    found = events(run("first"), run("second"))
    names = {e["pid"]: e["args"]["name"] for e in found if e["name"] == "process_name"}
    assert names == {1: "p, first on generic", 2: "p, second on generic"}
    ids = [e["id"] for e in found if e["ph"] == "s"]
    assert len(ids) == len(set(ids)) == 6


def test_slices_of_a_track_do_not_overlap() -> None:
    text = """
    sync @p strategy manual target generic {
      program @p { engine A pipelined  loop i 3 { A x takes(50, 5) } }
      engine A { loop i 3 { x } }
    }
    """
    found = events(simulate(parse_sync(text), {}))
    spans = [(e["ts"], e["dur"]) for e in found if e["ph"] == "X"]
    assert spans == [(0, 0.005), (0.005, 0.005), (0.01, 0.05)]
