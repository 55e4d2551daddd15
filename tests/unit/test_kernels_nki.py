"""The suite's NKI kernels compute what they are called, and synchronize exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from kernel_files import results
from suite_references import BY_HAND, CASES, Case

from headway.bench import allocation
from headway.check import check
from headway.compiler import compare, synchronize
from headway.frontends import ArgSpec, Trace, record
from headway.frontends.nki.tensor import sequence
from headway.ir.program import Loop, While
from headway.ir.walk import instructions, walk
from headway.kernels import load, names
from headway.kernels._traced import FOLDER
from headway.values import Traced


def arguments(traced: Traced, fixed: Mapping[str, Any]) -> dict[str, Any]:
    random = np.random.default_rng(1)
    found: dict[str, Any] = {}
    for name, memory in traced.values.arguments.items():
        shape = traced.values.memories[memory].shape
        found[name] = random.uniform(-0.5, 0.5, shape).astype(np.float32)
        if name == "identity":
            found[name] = np.eye(*shape, dtype=np.float32)
        found[name] = fixed.get(name, found[name])
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_kernel_computes_what_it_is_called(case: Case) -> None:
    computes(case, traced_from(case).traced())


@pytest.mark.thorough
@pytest.mark.parametrize("case", BY_HAND, ids=lambda case: case.name)
def test_kernel_with_tiles_placed_by_hand_computes_the_same(case: Case) -> None:
    computes(case, traced_from(case).traced({}, "as-written"))


def traced_from(case: Case) -> Trace:
    specs = {key: ArgSpec.parse(text) for key, text in case.args.items()}
    return record(FOLDER / f"{case.file}.py", case.name or case.file, specs)


def computes(case: Case, traced: Traced) -> None:
    given = arguments(traced, case.fixed)
    wanted = case.reference(**{n: value.astype(np.float64) for n, value in given.items()})
    for found, right in zip(results(traced, given, case.inputs), sequence(wanted), strict=True):
        assert found.shape == right.shape
        assert np.abs(found.astype(np.float64) - right).max() <= case.off * np.abs(right).max()
    verdict = check(synchronize(traced.program, "trn2", "counted"), case.inputs)
    # An engine without work in a loop loads its trip count only to count along.
    assert [f for f in verdict.findings if "without work inside" not in f.message] == []


WITH_SOURCE = tuple(name for name in names() if any(p.name == "nki" for p in load(name).parameters))


@pytest.mark.thorough
@pytest.mark.parametrize("name", WITH_SOURCE)
def test_kernel_of_the_suite_may_come_from_its_nki_source(name: str) -> None:
    kernel = load(name)
    program = kernel.program(nki=1)
    inputs = kernel.usual(program)
    assert inputs
    assert set(inputs) <= set(kernel.inputs)
    found = compare(program, inputs, "trn2", ("barrier", "counted"))
    latencies = [found.strategies[each].latency_ns for each in ("ideal", "counted", "barrier")]
    assert latencies == sorted(latencies)
    unrolled = kernel.program(nki=1, tiles=2)
    assert sum(1 for _ in instructions(unrolled.body)) > sum(1 for _ in instructions(program.body))


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in WITH_SOURCE if name != "calibration-loop"])
def test_nki_source_with_static_bounds_has_inputs_only_for_those_in_memory(name: str) -> None:
    kernel = load(name)
    program = kernel.program(nki=1, static=1)
    controlled = [n for n in walk(program.body) if isinstance(n, Loop | While) and n.control]
    assert (program.inputs == ()) == (not controlled)


def test_every_kernel_but_the_micro_benchmark_has_an_nki_source() -> None:
    assert set(names()) - set(WITH_SOURCE) == {"sync-chain"}


@pytest.mark.thorough
@pytest.mark.parametrize("name", allocation.SUITE)
def test_automatic_buffers_are_as_fast_as_those_by_hand(name: str) -> None:
    found = allocation.Point(name).measure()
    ratio = allocation.ratio(found)
    assert ratio is not None
    assert ratio <= 1 + allocation.EVEN
    assert f"`{name}`" in allocation.section([found])
