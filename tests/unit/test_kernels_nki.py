"""The suite's NKI kernels compute what they are called, and synchronize exactly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from kernel_files import results
from suite_references import BY_HAND, CASES, Case, Reference

from headway.bench import allocation
from headway.check import check
from headway.compiler import compare, synchronize
from headway.frontends import ArgSpec, Trace, record
from headway.frontends.nki.tensor import sequence
from headway.kernels import load, names
from headway.kernels._traced import FOLDER
from headway.values import Traced


def arguments(traced: Traced, whole: Mapping[str, int]) -> dict[str, Any]:
    random = np.random.default_rng(1)
    found: dict[str, Any] = {}
    for name, memory in traced.values.arguments.items():
        shape = traced.values.memories[memory].shape
        found[name] = random.uniform(-0.5, 0.5, shape).astype(np.float32)
        if name == "identity":
            found[name] = np.eye(*shape, dtype=np.float32)
        elif name in whole:
            found[name] = random.integers(whole[name] + 1, size=shape)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_kernel_computes_what_it_is_called(case: Case) -> None:
    trace = traced_from(case.file, case.name or case.file, case.args)
    computes(trace.traced(), case.reference, case.off, case.whole)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "args", "reference"), BY_HAND)
def test_kernel_with_tiles_placed_by_hand_computes_the_same(
    name: str, args: dict[str, str], reference: Reference
) -> None:
    trace = traced_from("by_hand", name, args)
    computes(trace.traced({}, "as-written"), reference)


def traced_from(file: str, name: str, args: Mapping[str, str]) -> Trace:
    specs = {key: ArgSpec.parse(text) for key, text in args.items()}
    return record(FOLDER / f"{file}.py", name, specs)


def computes(
    traced: Traced,
    reference: Reference,
    off: float = 1e-4,
    whole: Mapping[str, int] | None = None,
) -> None:
    given = arguments(traced, whole or {})
    wanted = reference(**{n: value.astype(np.float64) for n, value in given.items()})
    for found, right in zip(results(traced, given), sequence(wanted), strict=True):
        assert found.shape == right.shape
        assert np.abs(found.astype(np.float64) - right).max() <= off * np.abs(right).max()
    assert check(synchronize(traced.program, "trn2", "counted"), {}).verdict == "exact"


WITH_SOURCE = tuple(name for name in names() if any(p.name == "nki" for p in load(name).parameters))


@pytest.mark.thorough
@pytest.mark.parametrize("name", WITH_SOURCE)
def test_kernel_of_the_suite_may_come_from_its_nki_source(name: str) -> None:
    kernel = load(name)
    for tiles in (1, 2):
        program = kernel.program(nki=1, tiles=tiles)
        inputs = kernel.usual(program, tiles)
        assert inputs
        assert set(inputs) <= set(kernel.inputs)
        found = compare(program, inputs, "trn2", ("barrier", "counted"))
        latencies = [found.strategies[each].latency_ns for each in ("ideal", "counted", "barrier")]
        assert latencies == sorted(latencies)


@pytest.mark.thorough
@pytest.mark.parametrize("name", allocation.SUITE)
def test_automatic_buffers_are_as_fast_as_those_by_hand(name: str) -> None:
    found = allocation.Point(name).measure()
    ratio = allocation.ratio(found)
    assert ratio is not None
    assert ratio <= 1 + allocation.EVEN
    assert f"`{name}`" in allocation.section([found])
