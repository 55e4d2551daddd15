"""A barrier stands for each wait for a counter that has no semaphore."""

from __future__ import annotations

import pytest

from headway.check import check
from headway.check.generate import Shape, generate
from headway.ir import parse
from headway.passes.limit_counters import limited_counters
from headway.passes.report import semaphores
from headway.strategies.barrier import STRATEGY
from headway.sync import to_text, verify_sync
from headway.sync.program import SyncProgram
from headway.targets import bind
from headway.targets.generic import TARGET
from headway.targets.limits import limited

CHAIN = """program @p { engine A engine B engine C buffer x buffer y
  A p writes(x) A q writes(y) B r reads(x) writes(x) C s reads(x, y) }"""


def cut(text: str, count: int) -> SyncProgram:
    target = limited(TARGET, {"semaphores": count})
    synced = STRATEGY.synchronize(bind(parse(text), target), target)
    found, _ = limited_counters(synced, target, STRATEGY.synchronize)
    verify_sync(found)
    assert check(found, {}).verdict in ("exact", "late")
    return found


def engine_text(sync: SyncProgram, name: str) -> str:
    inside = to_text(sync).partition(f"  engine {name} {{")[2].partition("\n  }\n")[0]
    return " ".join(inside.split())


def test_barrier_stands_where_a_wait_would_name_another_counter() -> None:
    found = cut(CHAIN, 1)  # r and s wait for A, and s for B
    assert semaphores(found) == ("A",)
    assert engine_text(found, "B") == "r waits A >= 1 barrier"
    assert engine_text(found, "C") == "barrier s"


def test_without_semaphores_there_is_a_barrier_between_all_that_depend_on_each_other() -> None:
    found = cut(CHAIN, 0)
    assert semaphores(found) == ()
    assert engine_text(found, "A") == "p q barrier barrier"
    assert engine_text(found, "B") == "barrier r barrier"


def test_concession_names_the_counters() -> None:
    target = limited(TARGET, {"semaphores": 1})
    synced = STRATEGY.synchronize(bind(parse(CHAIN), target), target)
    _, concession = limited_counters(synced, target, STRATEGY.synchronize)
    assert str(concession) == "barriers instead of waits for B: too few semaphores"


@pytest.mark.thorough
@pytest.mark.parametrize("count", [0, 1, 2])
def test_random_programs_wait_for_as_many_counters_and_are_never_early(count: int) -> None:
    for seed in range(12):
        case = generate(seed, Shape(10, 200, control_in_memory=seed % 3 == 0))
        target = limited(TARGET, {"semaphores": count})
        synced = STRATEGY.synchronize(case.program, target)
        found, _ = limited_counters(synced, target, STRATEGY.synchronize)
        verify_sync(found)
        assert len(semaphores(found)) <= count
        verdict = check(found, case.inputs)
        assert verdict.verdict in ("exact", "late"), f"seed {seed}: {verdict}"
