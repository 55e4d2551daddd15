"""All passes together: what `synchronize` returns is within the limits of the target."""

from __future__ import annotations

from dataclasses import replace

import pytest
from effort import effort

from headway import kernels, passes, strategies, targets
from headway.bench.compile_time import nests
from headway.check import check
from headway.check.generate import Shape, generate
from headway.compiler import fit, synchronize
from headway.errors import InvalidInput
from headway.fitting import prepared
from headway.ir import parse
from headway.sync import to_text
from headway.sync.program import Exec, Load, SyncProgram, Waits, walk_sync
from headway.targets.generic import TARGET

NARROW = replace(
    TARGET,
    waits_per_instruction=1,
    has_register_sums=False,
    semaphores=replace(TARGET.semaphores, is_signed=False),
)
ROTATING = parse("""program @p { input n engine PE engine SP queue Q on SP buffer b slots 2
  loop i n { SP ld triggers(Q) writes(b[i % 2]) PE mm reads(b[i % 2]) } }""")


def carriers(sync: SyncProgram) -> list[Exec | Load | Waits]:
    nodes = (node for engine in sync.engines for node in walk_sync(engine.body))
    return [node for node in nodes if isinstance(node, Exec | Load | Waits)]


def test_every_pass_of_the_order_is_there_and_called_like_its_file() -> None:
    assert set(passes.names()) == set(passes.ORDER)
    assert [passes.load(name).name for name in passes.ORDER] == list(passes.ORDER)


def test_passes_run_in_their_own_order_whatever_order_they_are_named_in() -> None:
    chosen = passes.chosen(["split-waits", "drop-dead-registers"], passes.REGISTRY)
    assert [step.name for step in chosen] == ["drop-dead-registers", "split-waits"]


def test_unknown_pass_is_refused() -> None:
    with pytest.raises(InvalidInput, match="unknown pass 'split-wait'"):
        synchronize(ROTATING, "generic", passes=["split-wait"])


def test_without_passes_the_program_is_as_the_strategy_leaves_it() -> None:
    assert "ld waits PE >= shadow.PE - 1" in to_text(synchronize(ROTATING, NARROW, passes=()))
    assert "ld waits PE >= threshold.1" in to_text(synchronize(ROTATING, NARROW))


def work(nest_count: int) -> float:
    """Return how many functions all passes call for each nest, where registers are too few."""
    target, counted = replace(NARROW, registers=16), strategies.load("counted")
    bound, _ = prepared(nests(nest_count, 3, 11, 4), target)
    synced = counted.synchronize(bound, target)
    steps = passes.chosen(None, passes.REGISTRY, counted.synchronize)
    return effort(lambda: passes.run(synced, target, steps)) / nest_count


def test_passes_take_no_more_for_each_nest_of_a_longer_program() -> None:
    assert work(6) < 1.1 * work(3)


@pytest.mark.thorough
@pytest.mark.parametrize("strategy", ["counted", "scoreboard", "barrier"])
def test_random_programs_are_within_the_limits_and_keep_their_verdict(strategy: str) -> None:
    for seed in range(5):
        case = generate(seed, Shape(9, 400, control_in_memory=seed % 2 == 0))
        given = strategies.load(strategy).synchronize(case.program, TARGET)
        found = synchronize(case.program, NARROW, strategy)
        assert check(found, case.inputs).verdict == check(given, case.inputs).verdict
        for node in carriers(found):
            assert isinstance(node, Waits) or len(node.waits) <= 1
            assert not any(w.threshold.register and w.threshold.offset for w in node.waits)


REGISTERS = {
    "calibration-loop": {"gpsimd": 1, "scalar": 2, "sync": 1, "vector": 2},
    "matmul": {"gpsimd": 3, "scalar": 2, "sync": 3, "tensor": 5, "vector": 4},
    "sync-chain": {"gpsimd": 1, "scalar": 1, "vector": 2},
}


@pytest.mark.parametrize("name", REGISTERS)
def test_registers_on_kernels_are_few(name: str) -> None:
    _, report = fit(kernels.load(name).program(), "trn2")
    assert report.registers == REGISTERS[name]
    assert report.concessions == ()


@pytest.mark.thorough
def test_program_for_a_target_obeys_its_limits() -> None:
    target = targets.load("trn2")
    for name in kernels.names():
        for node in carriers(synchronize(kernels.load(name).program(), target)):
            assert isinstance(node, Waits) or len(node.waits) <= target.waits_per_instruction
