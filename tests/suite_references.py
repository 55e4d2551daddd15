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

    `fixed` are arguments that are not random, and `inputs` how often run-time loops run.
    """

    file: str
    args: Mapping[str, str]
    reference: Reference
    name: str = ""
    off: float = 1e-4
    fixed: Mapping[str, Any] = field(default_factory=dict[str, Any])
    inputs: Mapping[str, int] = field(default_factory=dict[str, int])

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


def causal(q: Any, k: Any) -> Any:
    """The weights of keys for queries, both [token, feature], in a softmax without later keys."""
    scores = np.where(np.tri(len(q), dtype=bool), q @ k.T, -np.inf)
    return softmax(scores)


def flash_attention(q: Any, k: Any, v: Any) -> Any:
    return causal(q.T, k.T) @ v


def paged_attention(
    q: Any, pages: Any, table: Any, lengths: Any, q_new: Any, table_new: Any, count: int = 2
) -> Any:
    def attended(query: Any, columns: Any) -> Any:
        cached = [pages[column.astype(int)] for column in columns.T]
        keys = np.concatenate([page[:, :128] for page in cached], axis=1)
        return softmax(query.T @ keys) @ np.concatenate([page[:, 128:] for page in cached])

    some = [attended(*each) for each in zip(q, table[:, :, :count], strict=True)]
    new = [attended(*each) for each in zip(q_new, table_new[:, :, :1], strict=True)]
    return np.stack(some), np.stack(new)


def token_attention(q: Any, k: Any, v: Any, lengths: Any, tokens: int = 256) -> Any:
    scores = np.einsum("bfh,bft->bht", q, k[:, :, :tokens])
    return np.stack([softmax(s) @ values[:tokens] for s, values in zip(scores, v, strict=True)])


def attention_backward(q: Any, dy: Any, k: Any, v: Any, stats: Any) -> Any:
    heads, count = q.shape[:2]
    found: list[list[Any]] = [[], [], []]
    for h in range(heads):
        rows, slope, keys = (np.concatenate(each[h, :, :, :128]) for each in (q, dy, k))
        values = np.concatenate([tile.T for tile in v[h]])
        weight = causal(rows, keys)
        raw = slope @ values.T
        scores = weight * (raw - (weight * raw).sum(axis=1, keepdims=True))
        for kept, gradient in zip(
            found, (scores @ keys, scores.T @ rows, weight.T @ slope), strict=True
        ):
            kept.append(gradient.reshape(count, 128, 128))
    return tuple(np.stack(each) for each in found)


def attention_backward_arguments() -> dict[str, Any]:
    """Random tiles with their transpose beside them, and the sums that belong to them."""
    q, dy, k, v = np.random.default_rng(2).uniform(-0.3, 0.3, (4, 1, 2, 128, 128))
    rows, slope, keys, values = (np.concatenate(each[0]) for each in (q, dy, k, v))
    scores = np.where(np.tri(256, dtype=bool), rows @ keys.T, -np.inf)
    low = -np.log(np.exp(scores).sum(axis=1))
    mean = (slope * (causal(rows, keys) @ values)).sum(axis=1)
    both = (np.concatenate([each, each.swapaxes(2, 3)], axis=3) for each in (q, dy, k))
    stats = np.stack([low, mean, np.arange(256)], axis=1).reshape(1, 2, 128, 3)
    arrays = (*both, v.swapaxes(2, 3), stats)
    return {
        n: a.astype(np.float32) for n, a in zip(("q", "dy", "k", "v", "stats"), arrays, strict=True)
    }


def experts(x: Any, y: Any, up: Any, down: Any, blocks: Any) -> Any:
    """Add what experts give for blocks of tokens: pairs of an expert and the rows of a block."""
    for expert, rows in blocks:
        rows = rows.astype(int)
        first = np.concatenate(np.split(up[expert], x.shape[1] // 128, axis=1))
        inner = x[rows] @ first
        y[rows] += inner / (1 + np.exp(-inner)) @ down[expert]
    return y


def moe(x: Any, y: Any, up: Any, down: Any, order: Any, lengths: Any) -> Any:
    return experts(x, y, up, down, [(column // 2, rows) for column, rows in enumerate(order.T)])


def moe_hybrid(x: Any, y: Any, up: Any, down: Any, order: Any, used: Any) -> Any:
    return experts(x, y, up, down, enumerate(order.T))


def moe_while(x: Any, y: Any, up: Any, down: Any, starts: Any, lengths: Any) -> Any:
    blocks = [(e, rows + 128 * turn) for e, rows in enumerate(starts.T) for turn in range(2)]
    return experts(x, y, up, down, blocks)


def moe_backward(x: Any, dy: Any, dx: Any, weights: Any, order: Any, lengths: Any) -> Any:
    d_up, d_down = np.zeros((2, len(weights), 128, 128))
    for column, numbers in enumerate(order.T):
        rows, expert = numbers.astype(int), column // 2
        first, first_turned, second_turned = np.split(weights[expert], 3, axis=1)
        inner = np.maximum(x[rows] @ first, 0)
        slope = (inner > 0) * (dy[rows] @ second_turned)
        d_down[expert] += inner.T @ dy[rows]
        d_up[expert] += x[rows].T @ slope
        dx[rows] += slope @ first_turned
    return dx, d_up, d_down


def order(tokens: int, blocks: int) -> Any:
    """Rows of blocks of tokens, as columns: different ones in a block."""
    random = np.random.default_rng(3)
    return np.stack([random.permutation(tokens)[:128] for _ in range(blocks)], axis=1)


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
        fixed={"ids": np.arange(384)[:, None] * 7 % 300},
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
    *(
        Case(
            "attention",
            dict.fromkeys("qk", "float32[128,512]") | {"v": "float32[512,128]", "tiles": tiles},
            flash_attention,
            "flash_attention",
        )
        for tiles in ("1", "2")
    ),
    Case(
        "attention",
        {"q": "float32[2,128,128]", "pages": "float32[300,256]", "table": "int32[2,128,3]"}
        | {"lengths": "int32[2,1]", "q_new": "float32[2,128,1]", "table_new": "int32[2,128,1]"}
        | {"tiles": "1"},
        paged_attention,
        "paged_attention",
        fixed={
            "table": order(300, 6).T.reshape(2, 3, 128).swapaxes(1, 2),
            "table_new": order(300, 2).T[:, :, None],
        },
        inputs={"g_trips": 2},
    ),
    Case(
        "attention",
        {"q": "float32[2,128,16]", "k": "float32[2,128,384]", "v": "float32[2,384,128]"}
        | {"lengths": "int32[2,1]", "tiles": "2"},
        token_attention,
        "token_attention",
        inputs={"s_trips": 1, "s_trips_2": 1},
    ),
    Case(
        "attention_backward",
        dict.fromkeys(("q", "dy", "k"), "float32[1,2,128,256]")
        | {"v": "float32[1,2,128,128]", "stats": "float32[1,2,128,3]", "tiles": "1"},
        attention_backward,
        fixed=attention_backward_arguments(),
    ),
    *(
        Case(
            "moe",
            dict.fromkeys("xy", "float32[300,256]")
            | {"up": f"float32[{count},128,256]", "down": f"float32[{count},128,256]"}
            | args,
            reference,
            reference.__name__,
            fixed=fixed,
            inputs=inputs,
        )
        for count, args, reference, fixed, inputs in (
            (
                2,
                {"order": "int32[128,4]", "lengths": "int32[2,1]", "tiles": "1"},
                moe,
                {"order": order(300, 4)},
                {"t_trips": 2},
            ),
            (
                3,
                {"order": "int32[128,3]", "used": "int32[1,2]", "blocks": "2", "tiles": "1"},
                moe_hybrid,
                {"order": order(300, 3)},
                {"rest_trips": 1},
            ),
            (
                2,
                {"starts": "int32[128,2]", "lengths": "int32[2,1]", "tiles": "1"},
                moe_while,
                {"starts": order(172, 2)},
                {"going_trips": 2},
            ),
        )
    ),
    Case(
        "moe",
        dict.fromkeys(("x", "dy", "dx"), "float32[300,128]")
        | {"weights": "float32[2,128,384]", "order": "int32[128,4]"}
        | {"lengths": "int32[2,1]", "tiles": "1"},
        moe_backward,
        "moe_backward",
        fixed={"order": order(300, 4)},
        inputs={"t_trips": 2},
    ),
)

BY_HAND = (
    Case("by_hand", {"x": "float32[384,64]"}, calibration_loop, "calibration_loop"),
    Case("by_hand", {"a": "float32[256,256]", "b": "float32[256,1024]"}, matmul, "matmul"),
    Case("by_hand", {"image": "float32[258,66]"}, maxpool, "maxpool"),
    Case("by_hand", {"x": "float32[384,96]", "gamma": _ROW}, rmsnorm, "rmsnorm"),
    Case("by_hand", {"x": "float32[384,96]"}, softmax, "softmax"),
    Case("by_hand", {"x": "float32[1024,128]", "identity": UNIT}, transpose, "transpose"),
)
