"""The suite's NKI kernels compute what they are called, and synchronize exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from kernel_files import results

from headway.bench import allocation
from headway.check import check
from headway.compiler import compare, synchronize
from headway.frontends import ArgSpec, Trace, record
from headway.kernels import load
from headway.kernels._traced import FOLDER
from headway.values import Traced

Reference = Callable[..., Any]
UNIT = "float32[128,128]"


def layernorm(x: Any, gamma: Any, beta: Any) -> Any:
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * gamma + beta


def rmsnorm(x: Any, gamma: Any) -> Any:
    return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5) * gamma


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def transpose(x: Any, identity: Any) -> Any:
    return x.T


def calibration_loop(x: Any) -> Any:
    return 2 * np.tanh(x)


def maxpool(image: Any) -> Any:
    return np.lib.stride_tricks.sliding_window_view(image, (3, 3)).max(axis=(2, 3))


def matmul(a: Any, b: Any) -> Any:
    return a.T @ b


def mamba(delta: Any, u: Any, a: Any, b: Any, c: Any) -> Any:
    y, state = np.zeros_like(delta), np.zeros(a.shape)
    for t in range(delta.shape[1]):
        step = delta[:, t : t + 1]
        state = np.exp(step * a) * state + step * u[:, t : t + 1] * b[:, t]
        y[:, t] = state @ c[:, t]
    return y


def swiglu(x: Any, gate: Any, up: Any, down: Any, identity: Any) -> Any:
    gated = x @ gate
    return gated / (1 + np.exp(-gated)) * (x @ up) @ down


def bmm_softmax(a: Any, b: Any, identity: Any) -> Any:
    e = np.exp(a @ b - (a @ b).max(axis=2, keepdims=True))
    return e / e.sum(axis=2, keepdims=True)


_ROW, _BLOCK = "float32[1,96]", {"block_rows": "2", "block_columns": "2"}
_LAYER = {"x": "float32[512,128]", "gate": "float32[128,1024]", "up": "float32[128,1024]"}
CASES: tuple[tuple[str, str, dict[str, str], Reference], ...] = (
    *(
        (
            "layernorm",
            "layernorm",
            {"x": "float32[512,96]", "gamma": _ROW, "beta": _ROW, "tiles": tiles},
            layernorm,
        )
        for tiles in ("1", "2")
    ),
    ("rmsnorm", "rmsnorm", {"x": "float32[256,96]", "gamma": _ROW, "tiles": "1"}, rmsnorm),
    ("softmax", "softmax", {"x": "float32[512,96]", "tiles": "2"}, softmax),
    (
        "transpose",
        "transpose",
        {"x": "float32[512,128]", "identity": UNIT, "tiles": "1"},
        transpose,
    ),
    (
        "calibration_loop",
        "calibration_loop",
        {"x": "float32[256,64]", "tiles": "1"},
        calibration_loop,
    ),
    ("maxpool", "maxpool", {"image": "float32[258,66]", "tiles": "1"}, maxpool),
    (
        "matmul",
        "matmul",
        {"a": "float32[384,256]", "b": "float32[384,1024]", "tiles": "1"},
        matmul,
    ),
    ("matmul", "blocked", {"a": "float32[256,256]", "b": "float32[256,1024]", **_BLOCK}, matmul),
    (
        "matmul",
        "blocked_by_rows",
        {"a": "float32[256,256]", "b": "float32[256,1024]", **_BLOCK},
        matmul,
    ),
    (
        "mamba",
        "mamba",
        {
            **dict.fromkeys(("delta", "u"), "float32[128,24]"),
            "a": "float32[128,3]",
            **dict.fromkeys("bc", "float32[3,24]"),
            **{"length": "8", "tiles": "1"},
        },
        mamba,
    ),
    ("swiglu", "swiglu", {**_LAYER, "down": "float32[1024,512]", "identity": UNIT}, swiglu),
    (
        "bmm_softmax",
        "bmm_softmax",
        {"a": "float32[1,128,64]", "b": "float32[1,64,4096]", "identity": UNIT},
        bmm_softmax,
    ),
)

BY_HAND: tuple[tuple[str, dict[str, str], Reference], ...] = (
    ("calibration_loop", {"x": "float32[384,64]"}, calibration_loop),
    ("matmul", {"a": "float32[256,256]", "b": "float32[256,1024]"}, matmul),
    ("maxpool", {"image": "float32[258,66]"}, maxpool),
    ("rmsnorm", {"x": "float32[384,96]", "gamma": _ROW}, rmsnorm),
    ("softmax", {"x": "float32[384,96]"}, softmax),
    ("transpose", {"x": "float32[1024,128]", "identity": UNIT}, transpose),
)


def arguments(traced: Traced) -> dict[str, Any]:
    random = np.random.default_rng(1)
    found: dict[str, Any] = {}
    for name, memory in traced.values.arguments.items():
        shape = traced.values.memories[memory].shape
        found[name] = random.uniform(-0.5, 0.5, shape).astype(np.float32)
        if name == "identity":
            found[name] = np.eye(*shape, dtype=np.float32)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize(("file", "name", "args", "reference"), CASES)
def test_kernel_computes_what_it_is_called(
    file: str, name: str, args: dict[str, str], reference: Reference
) -> None:
    computes(traced_from(file, name, args).traced(), reference)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "args", "reference"), BY_HAND)
def test_kernel_with_tiles_placed_by_hand_computes_the_same(
    name: str, args: dict[str, str], reference: Reference
) -> None:
    trace = traced_from("by_hand", name, args)
    computes(trace.traced({}, "as-written"), reference)


def traced_from(file: str, name: str, args: dict[str, str]) -> Trace:
    specs = {key: ArgSpec.parse(text) for key, text in args.items()}
    return record(FOLDER / f"{file}.py", name, specs)


def computes(traced: Traced, reference: Reference) -> None:
    given = arguments(traced)
    (found,) = results(traced, given)
    wanted = reference(**{n: value.astype(np.float64) for n, value in given.items()})
    assert np.abs(found - wanted).max() <= 1e-4 * np.abs(wanted).max()
    assert check(synchronize(traced.program, "trn2", "counted"), {}).verdict == "exact"


WITH_SOURCE = ("calibration-loop", "layernorm", "maxpool", "rmsnorm", "softmax", "transpose")


@pytest.mark.thorough
@pytest.mark.parametrize("name", WITH_SOURCE)
def test_kernel_of_the_suite_may_come_from_its_nki_source(name: str) -> None:
    kernel = load(name)
    for tiles in (1, 2):
        program = kernel.program(nki=1, tiles=tiles)
        inputs = kernel.usual(program, tiles)
        assert list(inputs) == ["n"]
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
