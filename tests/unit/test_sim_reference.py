"""The ideal machine: work and data movement take their time, synchronization none."""

import random

import pytest

from headway import strategies, targets
from headway.check.generate import Shape, generate, with_random_durations
from headway.ir import parse
from headway.kernels import load
from headway.sim import simulate, simulate_ideal
from headway.spec import ideal
from headway.targets import bind

GENERIC, TRN1 = targets.load("generic"), targets.load("trn1")


@pytest.mark.parametrize("seed", range(20))
def test_ideal_of_the_zero_cost_machine_is_that_of_the_specification(seed: int) -> None:
    case = generate(seed, Shape(instances=200, control_in_memory=seed % 2 == 1))
    program = with_random_durations(bind(case.program, GENERIC), random.Random(seed))
    timeline = simulate_ideal(program, case.inputs, GENERIC)
    found = {(x.counter, x.position): (x.issue, x.done) for x in timeline.instances()}
    expected = {
        (x.instance.counter, x.instance.position): (x.issue, x.done)
        for x in ideal(program, case.inputs)
    }
    assert found == expected
    assert timeline.latency == max(done for _, done in expected.values())


def test_ideal_pays_for_work_and_data_only() -> None:
    program = bind(
        parse("""
            program @p {
              buffer x
              buffer y
              loop i 2 {
                sync ld triggers(q) writes(x) does(dma, bytes=272000)
                scalar act reads(x) writes(y) does(activation, elements=140)
              }
            }
        """),
        TRN1,
    )
    timeline = simulate_ideal(program, {}, TRN1)
    loads, acts = timeline.track("q"), timeline.track("scalar")
    first = 750 + 1000 + 160 + 315  # dispatch, payload, setup, notify
    assert next(iter(loads)).done == first
    assert next(iter(acts)).issue == first
    assert [x.issue for x in loads] == [0, first + 100 + 113]
    assert [e.synchronization for e in timeline.engines] == [0, 0]


def test_ideal_sequencer_still_takes_its_time_to_issue_and_trigger() -> None:
    program = bind(
        parse("program @p { sync a triggers(q) takes(9) sync b triggers(q) takes(9) }"), TRN1
    )
    timeline = simulate_ideal(program, {}, TRN1)
    assert [x.issue for x in timeline.track("q")] == [0, 75]


@pytest.mark.parametrize("name", ["barrier", "counted", "scoreboard"])
def test_no_strategy_beats_the_ideal_on_the_calibration_loop(name: str) -> None:
    program = bind(load("calibration-loop").program(), TRN1)
    synced = strategies.load(name).synchronize(program, TRN1)
    best = simulate_ideal(program, {"n": 16}, TRN1).latency
    assert simulate(synced, {"n": 16}).latency >= best


@pytest.mark.parametrize(
    ("strategy", "tiles", "public"),
    [("counted", 1, 7.5), ("barrier", 1, 17.9), ("barrier", 4, 10.2)],
)
def test_trn1_is_within_10_percent_of_the_public_times(
    strategy: str, tiles: int, public: float
) -> None:
    program = bind(load("calibration-loop").program(tiles=tiles), TRN1)
    synced = strategies.load(strategy).synchronize(program, TRN1)
    found = simulate(synced, {"n": 64 // tiles}).latency / 64 / 1000
    assert found == pytest.approx(public, rel=0.1)
