"""The judge says the same of a binary as of engine programs, and sees what was changed in it."""

from dataclasses import replace

import pytest

from headway import check, isa, kernels, strategies, synchronize
from headway.check.generate import Shape, generate
from headway.errors import UnsupportedByTarget
from headway.isa import Module, lower
from headway.isa.instructions import Instruction, Op, WaitFor

FEW = ("sync-chain", "matmul", "moe-while", "topk")
SMALL = {"n": 4, "m": 2, "k": 3}


@pytest.mark.thorough
@pytest.mark.parametrize("strategy", strategies.names())
@pytest.mark.parametrize("kernel", FEW)
def test_verdict_on_a_kernel_is_the_same(kernel: str, strategy: str):
    program, inputs = kernels.load(kernel).program(), kernels.load(kernel).inputs
    try:
        synced = synchronize(program, "trn2", strategy)
    except UnsupportedByTarget:
        pytest.skip("the target cannot carry it")
    expected, found = check(synced, inputs), isa.check(lower(synced), inputs)
    assert (found.verdict, found.waits) == (expected.verdict, expected.waits)
    assert [f.message for f in found.findings] == [f.message for f in expected.findings]


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(6))
def test_verdict_on_a_random_program_is_the_same(seed: int):
    case = generate(seed, Shape(control_in_memory=True))
    for strategy in ("scoreboard", "barrier", "flags"):
        synced = synchronize(case.program, "generic", strategy)
        expected = check(synced, case.inputs)
        found = isa.check(lower(synced), case.inputs)
        assert [f.message for f in found.findings] == [f.message for f in expected.findings]


def changed(module: Module, engine: str, at: int, new: Instruction) -> Module:
    """Return a module with another instruction at a place."""

    def streams():
        for stream in module.streams:
            code = list(stream.instructions)
            if stream.engine == engine:
                code[at] = new
            yield replace(stream, instructions=tuple(code))

    return replace(module, streams=tuple(streams()))


def chain() -> tuple[Module, int, Instruction]:
    """Return a module, and where its vector engine waits."""
    module = lower(synchronize(kernels.load("sync-chain").program(engines=2), "trn2"))
    code = module.stream("vector").instructions
    at = next(n for n, i in enumerate(code) if i.op is Op.EXEC and i.wait)
    return module, at, code[at]


def test_wait_that_was_dropped_is_early_at_its_instruction():
    module, at, waiting = chain()
    verdict = isa.check(changed(module, "vector", at, replace(waiting, wait=None)), SMALL, file="x")
    assert verdict.verdict == "early"
    assert str(verdict.findings[0].at) == f"x:vector:{at}:1"


def test_threshold_that_was_raised_is_a_deadlock():
    module, at, waiting = chain()
    assert waiting.wait is not None
    new = replace(waiting, wait=WaitFor(waiting.wait.semaphore, None, 9))
    assert isa.check(changed(module, "vector", at, new), SMALL).verdict == "deadlock"


def test_trip_count_that_was_changed_is_unsupported():
    module, _, _ = chain()
    code = module.stream("vector").instructions
    at = next(n for n, i in enumerate(code) if i.op is Op.NEXT)
    short = changed(module, "vector", at, replace(code[at], b=2))
    assert isa.check(short, SMALL).verdict in ("unsupported", "deadlock")
