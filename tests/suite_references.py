"""The NKI kernels of the suite, small, with what they have to compute in numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy

np: Any = numpy
Reference = Callable[..., Any]
UNIT = "float32[128,128]"


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel of a file with arguments; results may be off by `off` of the greatest element.

    `whole` has the greatest value of arguments that are whole numbers.
    """

    file: str
    args: Mapping[str, str]
    reference: Reference
    name: str = ""
    off: float = 1e-4
    whole: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def title(self) -> str:
        """What distinguishes this case from others."""
        return f"{self.file}-{self.name or self.file}-{self.args.get('tiles', '')}"


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


def cumsum(x: Any) -> Any:
    return np.cumsum(x, axis=1)


def topk(logits: Any, count: int = 16) -> Any:
    places = np.argsort(-logits, axis=1)[:, :count]
    return np.take_along_axis(logits, places, axis=1), places


def rope(x: Any, cosines: Any, sines: Any) -> Any:
    return x * cosines + np.roll(x, x.shape[2] // 2, axis=2) * sines


def gather(table: Any, ids: Any) -> Any:
    return table[ids[:, 0].astype(int)] * np.sqrt(table.shape[1])


def conv1d(images: Any, weights: Any) -> Any:
    taps = weights.reshape(len(weights), 128, -1, 128)
    shifted = np.lib.stride_tricks.sliding_window_view(images, taps.shape[2], axis=2)
    return np.einsum("bclt,kcto->bkol", shifted, taps)


def cross_entropy(logits: Any, chosen: Any) -> Any:
    return np.log(np.exp(logits).sum(axis=1, keepdims=True)) - chosen


def delta_rule(columns: Any, rows: Any) -> Any:
    state = np.zeros((128, 128))
    found: list[Any] = []
    for column, row in zip(columns, rows, strict=True):
        state = np.exp(column[:, 2:]) * state
        wrong = row[0, 128:] - column[:, 0] @ state
        state = state + np.outer(row[0, :128], wrong)
        found.append(column[:, 1] @ state)
    return np.stack(found)[:, None, :]


def rmsnorm_quant(x: Any) -> Any:
    return np.round(32 * x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5))


def rmsnorm_qkv(x: Any, weights: Any) -> Any:
    return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5) @ weights


def mlp(x: Any, gate: Any, up: Any, down: Any) -> Any:
    gated = gate.T @ x
    return down.T @ (gated / (1 + np.exp(-gated)) * (up.T @ x))


_ROW, _BLOCK = "float32[1,96]", {"block_rows": "2", "block_columns": "2"}
_LAYER = {"x": "float32[512,128]", "gate": "float32[128,1024]", "up": "float32[128,1024]"}
_ROWS = {"x": "float32[512,96]", "gamma": _ROW, "beta": _ROW}
CASES = (
    *(Case("layernorm", {**_ROWS, "tiles": tiles}, layernorm) for tiles in ("1", "2")),
    Case("rmsnorm", {"x": "float32[256,96]", "gamma": _ROW, "tiles": "1"}, rmsnorm),
    Case("softmax", {"x": "float32[512,96]", "tiles": "2"}, softmax),
    Case("transpose", {"x": "float32[512,128]", "identity": UNIT, "tiles": "1"}, transpose),
    Case("calibration_loop", {"x": "float32[256,64]", "tiles": "1"}, calibration_loop),
    Case("maxpool", {"image": "float32[258,66]", "tiles": "1"}, maxpool),
    Case("matmul", {"a": "float32[384,256]", "b": "float32[384,1024]", "tiles": "1"}, matmul),
    *(
        Case("matmul", {"a": "float32[256,256]", "b": "float32[256,1024]", **_BLOCK}, matmul, name)
        for name in ("blocked", "blocked_by_rows")
    ),
    Case(
        "mamba",
        {
            **dict.fromkeys(("delta", "u"), "float32[128,24]"),
            "a": "float32[128,3]",
            **dict.fromkeys("bc", "float32[3,24]"),
            **{"length": "8", "tiles": "1"},
        },
        mamba,
    ),
    Case("swiglu", {**_LAYER, "down": "float32[1024,512]", "identity": UNIT}, swiglu),
    Case(
        "bmm_softmax",
        {"a": "float32[1,128,64]", "b": "float32[1,64,4096]", "identity": UNIT},
        bmm_softmax,
    ),
    *(Case("cumsum", {"x": "float32[256,1024]", "tiles": tiles}, cumsum) for tiles in ("1", "2")),
    Case("topk", {"logits": "float32[256,40]", "rounds": "2", "tiles": "2"}, topk),
    Case(
        "rope",
        {"x": "float32[4,128,16]", **dict.fromkeys(("cosines", "sines"), "float32[128,16]")}
        | {"tiles": "2"},
        rope,
    ),
    Case(
        "gather",
        {"table": "float32[300,16]", "ids": "int32[384,1]", "tiles": "1"},
        gather,
        whole={"ids": 299},
    ),
    Case(
        "conv1d",
        {"images": "float32[2,128,34]", "weights": "float32[2,128,384]", "tiles": "1"},
        conv1d,
    ),
    Case(
        "cross_entropy",
        {"logits": "float32[128,6144]", "chosen": "float32[128,1]", "tiles": "1"},
        cross_entropy,
    ),
    Case(
        "delta_rule",
        {"columns": "float32[6,128,3]", "rows": "float32[6,1,256]", "tiles": "2"},
        delta_rule,
    ),
    Case("rmsnorm_quant", {"x": "float32[128,3072]", "tiles": "1"}, rmsnorm_quant, off=0.02),
    Case(
        "rmsnorm_qkv",
        {"x": "float32[128,256]", "weights": "float32[256,1024]", "tiles": "1"},
        rmsnorm_qkv,
    ),
    Case(
        "mlp",
        {"x": "float32[128,512]", **dict.fromkeys(("gate", "up"), "float32[128,256]")}
        | {"down": "float32[256,256]", "tiles": "1"},
        mlp,
    ),
    Case(
        "selective_scan",
        {**dict.fromkeys(("delta", "u"), "float32[128,1024]"), "a": "float32[128,1]"}
        | {**dict.fromkeys("bc", "float32[1,1024]"), "tiles": "1"},
        mamba,
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
