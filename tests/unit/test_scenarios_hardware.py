"""H1-H5: where machines differ from the notation, with the times and thresholds that show it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from headway.check import check
from headway.compiler import synchronize
from headway.errors import InvalidProgram
from headway.ir import parse
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.passes.settle_thresholds import PASS
from headway.sim import simulate, simulate_ideal
from headway.sim.timeline import Timeline
from headway.strategies.counted import STRATEGY
from headway.sync import parse_sync
from headway.sync.expand import expand
from headway.sync.program import SyncProgram
from headway.targets import bind
from headway.targets.generic import TARGET

FOLDER = Path(__file__).parents[1] / "data" / "scenarios"
UNSIGNED = replace(TARGET, semaphores=replace(TARGET.semaphores, is_signed=False))


def program(name: str) -> Program:
    return bind(parse((FOLDER / f"{name}.hwy").read_text(), name), TARGET)


def by_hand(name: str) -> SyncProgram:
    return parse_sync((FOLDER / f"{name}.hwy").read_text(), name)


def issues(timeline: Timeline) -> dict[str, float]:
    """Return when the first instance of each instruction was issued."""
    found: dict[str, float] = {}
    for track in timeline.tracks:
        for timed in track:
            found.setdefault(timed.name, timed.issue)
    return found


def thresholds(synced: SyncProgram, instr: str, inputs: Inputs) -> list[list[int]]:
    events = (event for events in expand(synced, inputs).values() for event in events)
    return [[wait.threshold for wait in event.waits] for event in events if event.name == instr]


@pytest.mark.thorough
def test_two_completions_of_unordered_queues_are_no_transfer() -> None:  # H1
    halves = program("h01-two-unordered-queues")
    assert issues(simulate(by_hand("h01-two-unordered-queues.two-completions"), {}))["read"] == 20
    assert issues(simulate_ideal(halves, {}, TARGET))["read"] == 100
    for strategy in ("counted", "scoreboard", "flags", "phase", "barrier"):
        synced = synchronize(halves, TARGET, strategy)
        assert issues(simulate(synced, {}))["read"] == 100


def test_queue_with_two_hosts_is_refused() -> None:  # H2
    text = """program @p { engine A engine B queue Q on A buffer x
      A fetch triggers(Q) writes(x)
      B again triggers(Q) writes(x) }"""
    with pytest.raises(InvalidProgram) as caught:
        parse(text, "t.hwy")
    assert str(caught.value) == (
        "t.hwy:3:7: error: queue 'Q' is triggered by two engines, 'B' and 'A'\n"
        "   3 |       B again triggers(Q) writes(x) }\n"
        "     |       ^\n"
        "  note: t.hwy:2:7: 'A' triggers it here\n"
        "  rule: a queue has exactly one host engine (docs/model.md#hosts)\n"
        "  help: use a second queue, or issue both transfers from one engine"
    )


def test_no_threshold_is_negative_where_semaphores_have_no_sign() -> None:  # H3
    ring = program("h03-negative-threshold")
    inputs = {"n": 4}
    plain = STRATEGY.synchronize(ring, UNSIGNED)
    assert thresholds(plain, "fetch", inputs) == [[-1], [0], [1], [2]]
    settled = PASS.apply(plain, UNSIGNED)
    assert thresholds(settled, "fetch", inputs) == [[0], [0], [1], [2]]
    fitted = synchronize(ring, UNSIGNED, "counted")
    assert thresholds(fitted, "fetch", inputs) == [[0], [0], [1], [2]]
    assert check(settled, inputs).verdict == "exact"


@pytest.mark.parametrize(
    ("variant", "free", "last"), [("", 0, 2000), (".loaded-at-once", 1000, 3000)]
)
def test_work_that_needs_no_bound_does_not_wait_for_it(
    variant: str, free: int, last: int
) -> None:  # H4
    name = "h04-bound-counted-with"
    if variant:
        synced = by_hand(name + variant)
    else:
        synced = synchronize(program(name), TARGET, "counted")
    found = issues(simulate(synced, {"n": 3}))
    assert (found["free"], found["step"], found["last"]) == (free, 1000, last)
    assert issues(simulate_ideal(program(name), {"n": 3}, TARGET))["last"] == 2000


def test_engine_outside_of_a_loop_does_not_load_its_bound() -> None:  # H4
    synced = synchronize(program("h04-bound-in-memory"), TARGET, "counted")
    loads = {
        engine: [event.name for event in events if event.kind == "load"]
        for engine, events in expand(synced, {"n": 3}).items()
    }
    assert loads == {"A": ["count"], "B": [], "C": []}
    assert issues(simulate(synced, {"n": 3}))["free"] == 0


def test_barrier_waits_for_transfers_before_it_resets() -> None:  # H5
    synced = by_hand("h05-barrier-and-queue.barrier")
    assert issues(simulate(synced, {})) == {"fetch": 0, "use": 500}
    with pytest.raises(InvalidProgram, match="deadlock"):
        simulate(by_hand("h05-barrier-and-queue.old-value"), {})
