"""The simulator of instructions agrees with that of engine programs, to the picosecond."""

import pytest

from headway import isa, kernels, sim, strategies, synchronize, targets
from headway.check.generate import Shape, generate
from headway.errors import InvalidInput, InvalidProgram, OverLimit, UnsupportedByTarget
from headway.isa import lower
from headway.isa.timing import simulate
from headway.sim import Timeline
from headway.sync import parse_sync
from headway.targets.limits import limited

FEW = ("sync-chain", "matmul", "moe-while", "topk")
SMALL = {"n": 5, "m": 2, "k": 3}


def same(a: Timeline, b: Timeline) -> bool:
    """Compare everything: issue, start and completion of every instance, and what engines did."""
    tracks = [[(t.counter, list(t)) for t in timeline.tracks] for timeline in (a, b)]
    facts = [(t.latency, t.waits, t.barriers, t.engines) for t in (a, b)]
    return tracks[0] == tracks[1] and facts[0] == facts[1]


@pytest.mark.thorough
@pytest.mark.parametrize("strategy", strategies.names())
@pytest.mark.parametrize("kernel", FEW)
def test_kernel_takes_the_same_time(kernel: str, strategy: str):
    program, inputs = kernels.load(kernel).program(), kernels.load(kernel).inputs
    try:
        synced = synchronize(program, "trn2", strategy)
    except UnsupportedByTarget:
        pytest.skip("the target cannot carry it")
    expected = sim.simulate(synced, inputs, implementation="reference")
    assert same(simulate(lower(synced), inputs), expected)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
def test_random_program_takes_the_same_time(seed: int):
    case = generate(seed, Shape(control_in_memory=True))
    for strategy in ("scoreboard", "barrier", "flags"):
        synced = synchronize(case.program, "generic", strategy)
        expected = sim.simulate(synced, case.inputs, implementation="reference")
        assert same(simulate(lower(synced), case.inputs), expected)


def test_narrow_semaphores_wrap_the_same():
    target = limited(targets.load("trn2"), {"width": 4, "signed": 0})
    synced = synchronize(kernels.load("sync-chain").program(), target)
    inputs = {"n": 40}
    expected = sim.simulate(synced, inputs, target, implementation="reference")
    assert expected.barriers
    assert same(simulate(lower(synced, target), inputs, target), expected)


def test_folded_instructions_may_pay_too():
    synced = synchronize(kernels.load("matmul").program(), "trn2", "counted")
    module = lower(synced)
    plain = simulate(module, SMALL)
    assert simulate(module, SMALL, pays_all=True).latency > plain.latency


PROGRAM = """
sync @small target trn2 {
  program @small {
    input n
    input m[]
    engine vector pipelined
    loop i n { vector add takes(10) }
  }
  engine vector { %s loop i n { add } }
}
"""


@pytest.mark.parametrize(
    ("step", "inputs", "message"),
    [
        ("", {"n": -1}, "a loop would run -1 times"),
        ("registers r r := 7 // n", {"n": 0}, "division by zero"),
        ("registers r r := m[n]", {"n": 2, "m": [1, 2]}, "'m' has 2 elements and element 2"),
        ("registers r[2] r[n] := 1", {"n": 2}, "register 2 of a row of 2"),
        ("registers r r := n * n", {"n": 65536}, "a result is 4294967296"),
        ("registers r r := n", {"n": 2**31}, "run-time input 'n' is 2147483648"),
        ("registers r r := n", {}, "run-time input 'n' is None; the program needs a number"),
    ],
)
def test_what_cannot_be_computed_is_said_with_its_place(
    step: str, inputs: dict[str, int | list[int]], message: str
):
    module = lower(parse_sync(PROGRAM % step))
    with pytest.raises(InvalidInput) as failed:
        simulate(module, {"m": [], **inputs}, file="small.hwb")
    assert message in str(failed.value)
    assert str(failed.value).startswith("small.hwb:vector:")


def test_endless_loop_is_stopped():
    module = lower(parse_sync(PROGRAM % ""))
    with pytest.raises(OverLimit, match="still running after 100 instructions"):
        simulate(module, {"n": 1000, "m": []}, limit=100)


def test_deadlock_is_reported():
    text = PROGRAM.replace("%s loop i n { add }", "loop i n { add waits vector >= 9 }")
    with pytest.raises(InvalidProgram, match="'vector' waits for vector >= 9"):
        isa.simulate(lower(parse_sync(text)), {"n": 1, "m": []})
