"""Every operation against numpy: a small kernel each, in the new and the old style."""

# The lambdas of the table have no types.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import pytest
from kernel_files import recorded, results

from headway.compiler import synchronize
from headway.execution import run
from headway.values import generators
from headway.values.memory import fresh
from headway.values.operations import OPERATIONS

P, F = 16, 24
X, Y, COLUMN = f"float32[{P},{F}]", f"float32[{P},{F}]", f"float32[{P},1]"
FUNCTIONS = {
    "exp": np.exp,
    "tanh": np.tanh,
    "square": np.square,
    "abs": np.abs,
    "negative": np.negative,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "sin": np.sin,
    "cos": np.cos,
    "arctan": np.arctan,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "softplus": lambda x: np.log1p(np.exp(x)),
    "reciprocal": lambda x: 1 / x,
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "gelu_apprx_tanh": lambda x: (
        0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    ),
}
BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "greater": np.greater,
    "less_equal": np.less_equal,
    "not_equal": np.not_equal,
    "logical_and": lambda x, y: (x != 0) & (y != 0),
    "fmod": np.fmod,
    "mod": np.mod,
    "abs_max": lambda x, y: np.maximum(np.abs(x), np.abs(y)),
}
BITWISE = {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "left_shift": np.left_shift,
    "right_shift": np.right_shift,
}


class Case(NamedTuple):
    """A kernel with tile `x` (and others) loaded from arguments; `out` is stored and returned."""

    name: str
    code: str
    expected: Callable[..., Any]
    args: dict[str, str]
    style: str = "new"
    shape: tuple[int, ...] = (P, F)
    dtype: str = "float32"


def both(name: str, code: str, expected: Callable[..., Any], **args: str) -> list[Case]:
    return [Case(f"{name}-{style}", code, expected, args, style) for style in ("new", "old")]


def out(name: str, call: str, expected: Callable[..., Any], **kw: Any) -> Case:
    """A new-style instruction into a tile of its own."""
    shape, dtype, args = (
        kw.get("shape", (P, F)),
        kw.get("dtype", "float32"),
        kw.get("args", {"x": X}),
    )
    memory = kw.get("memory", "sbuf")
    made = f"out = nl.ndarray({shape}, dtype=nl.{dtype}, buffer=nl.{memory})\n"
    return Case(name, made + f"nisa.{call}", expected, args, "new", shape, dtype)


def bounds(ids: Any) -> Any:
    """Where the run of equal numbers around each element begins and ends, by hand."""
    row = ids[0].tolist()
    found = np.zeros((1, 2, F), dtype=np.int64)
    for i, segment in enumerate(row):
        first = next(k for k in range(i, -1, -1) if k == 0 or row[k - 1] != segment)
        last = next(k for k in range(i + 1, F + 1) if k == F or row[k] != segment)
        found[0, :, i] = (first, last) if segment else (F, -1)
    return found


def places(i: Any) -> Any:
    """Where the first partition is not zero, counted from 100, and how often that is."""
    found = np.full((P, F + 1), 7)
    where = [100 + k for k in range(F) if i[0, k]]
    found[0] = [*where, *[-1] * (F - len(where)), len(where)]
    return found


def triangular(x: Any) -> Any:
    return np.where(np.arange(F) <= np.arange(P)[:, None], x, -5)


def scanned(x: Any, y: Any) -> Any:
    result, state = np.empty_like(x), np.float32(0.5)
    for i in range(F):
        state = result[:, i] = x[:, i] * state + y[:, i]
    return result


def largest(x: Any) -> Any:
    return -np.sort(-x, axis=1)[:, :8]


CASES: list[Case] = [
    *(c for n, f in FUNCTIONS.items() for c in both(n, f"out = nl.{n}(x)", f, x=X)),
    *(c for n, f in BINARY.items() for c in both(n, f"out = nl.{n}(x, y)", f, x=X, y=Y)),
    *(
        Case(
            n,
            f"out = nl.{n}(x, 3)",
            lambda x, f=f: f(x, 3),
            {"x": f"int32[{P},{F}]"},
            dtype="int32",
        )
        for n, f in BITWISE.items()
    ),
    *both(
        "sum",
        "out = nl.broadcast_to(nl.sum(x, axis=1, keepdims=True), (16, 24))",
        lambda x: np.repeat(x.sum(1, keepdims=True), F, 1),
        x=X,
    ),
    *both("number-first", "out = nl.subtract(2.0, x)", lambda x: 2 - x, x=X),
    *both("operators", "out = (x + y) * 2.0 - x / y", lambda x, y: (x + y) * 2 - x / y, x=X, y=Y),
    *both("column", "out = nl.multiply(x, c)", lambda x, c: x * c, x=X, c=COLUMN),
    *both(
        "where",
        "out = nl.where(nl.greater(x, 0.0), x, y)",
        lambda x, y: np.where(x > 0, x, y),
        x=X,
        y=Y,
    ),
    *both(
        "where-masked",
        "out = nl.zeros((16, 24), nl.float32, buffer=nl.sbuf)\n"
        "out[...] = nl.where(nl.greater(x, 0.0), x, y, mask=np.ones((16, 24), bool))",
        lambda x, y: np.where(x > 0, x, y),
        x=X,
        y=Y,
    ),
    Case(
        "zeros-beside-a-matmul",
        "p = nl.zeros((16, 24), nl.float32, buffer=nl.psum)\n"
        "p[:, 0:16] += nl.matmul(x[:, 0:16], x[:, 0:16], transpose_x=True)\nout = nl.copy(p)",
        lambda x: np.pad(x[:, 0:16].T @ x[:, 0:16], ((0, 0), (0, 8))),
        {"x": X},
        "old",
    ),
    Case(
        "broadcast_to-dtype",
        "out = nl.broadcast_to(c, shape=(16, 24), dtype=nl.float16)",
        lambda c: np.repeat(c.astype(np.float16), F, 1),
        {"c": COLUMN},
        dtype="float16",
    ),
    *both("accumulate", "out = nl.copy(x)\nout += y\nout *= y", lambda x, y: (x + y) * y, x=X, y=Y),
    *both(
        "assign",
        "out = nl.zeros((16, 24), nl.float32, buffer=nl.sbuf)\nout[:, 0:8] = nl.exp(x[:, 8:16])",
        lambda x: np.concatenate([np.exp(x[:, 8:16]), np.zeros((P, F - 8), np.float32)], 1),
        x=X,
    ),
    *both(
        "full",
        "out = nl.full((16, 24), 2.5, nl.float32, buffer=nl.sbuf)",
        lambda x: np.full((P, F), 2.5),
        x=X,
    ),
    *both(
        "softmax",
        "out = nl.softmax(x, axis=1)",
        lambda x: (
            np.exp(x - x.max(1, keepdims=True))
            / np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True)
        ),
        x=X,
    ),
    *both(
        "integers",
        "out = nl.copy(nl.add(x, y), dtype=nl.float32)",
        lambda x, y: (x + y).astype(np.float32),
        x=f"int32[{P},{F}]",
        y=f"int32[{P},{F}]",
    ),
    out(
        "activation",
        "activation(dst=out, op=nl.exp, data=x, scale=0.5, bias=c)",
        lambda x, c: np.exp(x * np.float32(0.5) + c),
        args={"x": X, "c": COLUMN},
    ),
    out(
        "activation-scale-tile",
        "activation(dst=out, op=nl.tanh, data=x, scale=c)",
        lambda x, c: np.tanh(x * c),
        args={"x": X, "c": COLUMN},
    ),
    out(
        "tensor_scalar",
        "tensor_scalar(dst=out, data=x, op0=nl.subtract, operand0=c, reverse0=True,"
        " op1=nl.multiply, operand1=3.0)",
        lambda x, c: (c - x) * 3,
        args={"x": X, "c": COLUMN},
    ),
    out(
        "tensor_scalar-numpy",
        "tensor_scalar(dst=out, data=x, op0=np.add, operand0=1.5)",
        lambda x: x + np.float32(1.5),
    ),
    out(
        "tensor_tensor",
        "tensor_tensor(dst=out, data1=x, data2=y, op=nl.subtract)",
        lambda x, y: x - y,
        args={"x": X, "y": Y},
    ),
    out(
        "scalar_tensor_tensor",
        "scalar_tensor_tensor(dst=out, data=x, op0=nl.multiply, operand0=c,"
        " op1=nl.add, operand1=y)",
        lambda x, y, c: x * c + y,
        args={"x": X, "y": Y, "c": COLUMN},
    ),
    out(
        "tensor_reduce",
        "tensor_reduce(dst=out, op=nl.maximum, data=x, axis=1, negate=True)",
        lambda x: -x.max(1, keepdims=True),
        shape=(P, 1),
    ),
    out(
        "tensor_partition_reduce",
        "tensor_partition_reduce(dst=out, op=nl.add, data=x)",
        lambda x: x.sum(0, keepdims=True),
        shape=(1, F),
    ),
    out("reciprocal-isa", "reciprocal(dst=out, data=x)", lambda x: 1 / x),
    out(
        "tensor_copy",
        "tensor_copy(dst=out, src=x)",
        lambda x: x.astype(ml_dtypes.bfloat16),
        dtype="bfloat16",
    ),
    out(
        "float8",
        "tensor_copy(dst=out, src=x)",
        lambda x: x.astype(ml_dtypes.float8_e4m3),
        dtype="float8_e4m3",
    ),
    out(
        "rounding",
        "tensor_scalar(dst=out, data=x, op0=nl.multiply, operand0=0.5)",
        lambda x: np.rint(x * np.float32(0.5)),
        dtype="int32",
    ),
    out("memset", "memset(dst=out, value=1.5)", lambda x: np.full((P, F), 1.5)),
    out(
        "iota",
        "iota(dst=out, pattern=[[2, 24]], offset=3, channel_multiplier=10)",
        lambda x: 3 + 10 * np.arange(P)[:, None] + 2 * np.arange(F),
        dtype="int32",
    ),
    out(
        "affine_select",
        "affine_select(dst=out, pattern=[[-1, 24]], channel_multiplier=1,"
        " on_true_tile=x, on_false_value=-5.0)",
        triangular,
    ),
    out(
        "nc_transpose", "nc_transpose(dst=out, data=x)", lambda x: x.T, shape=(F, P), memory="psum"
    ),
    out(
        "nc_matmul",
        "nc_matmul(dst=out, stationary=x, moving=y)",
        lambda x, y: x.T @ y,
        shape=(F, F),
        memory="psum",
        args={"x": X, "y": Y},
    ),
    out(
        "nc_matmul-bfloat16",
        "nc_matmul(dst=out, stationary=x, moving=y)",
        lambda x, y: x.astype(np.float32).T @ y.astype(np.float32),
        shape=(F, F),
        memory="psum",
        args={"x": f"bfloat16[{P},{F}]", "y": f"bfloat16[{P},{F}]"},
    ),
    out(
        "tensor_tensor_scan",
        "tensor_tensor_scan(dst=out, data0=x, data1=y, initial=0.5, op0=nl.multiply, op1=nl.add)",
        scanned,
        args={"x": X, "y": Y},
    ),
    out(
        "tensor_scalar_cumulative",
        "tensor_scalar_cumulative(dst=out, src=x, op0=nl.multiply, op1=nl.add, imm0=2.0)",
        lambda x: np.cumsum(2 * x, axis=1),
    ),
    out(
        "bn_stats",
        "bn_stats(dst=out, data=x)",
        lambda x: np.stack(
            [
                s
                for h in (x[:, 0::2], x[:, 1::2])
                for s in (np.full(P, F / 2), h.mean(1), h.var(1) * F / 2)
            ],
            1,
        ),
        shape=(P, 6),
    ),
    out("max8", "max8(dst=out, src=x)", largest, shape=(P, 8)),
    out(
        "nc_stream_shuffle",
        "nc_stream_shuffle(dst=out, src=x, shuffle_mask=[1, 0] + list(range(2, 32)))",
        lambda x: x[[1, 0, *range(2, P)]],
    ),
    out(
        "nc_n_gather",
        "nc_n_gather(dst=out, data=x, indices=i)",
        lambda x, i: np.take_along_axis(x, i % F, 1),
        args={"x": X, "i": f"uint32[{P},{F}]"},
    ),
    out(
        "local_gather",
        "local_gather(dst=out, src_buffer=x, index=i, num_elem_per_idx=2)",
        lambda x, i: np.stack([x[:, k : k + 2] for k in i.flatten(order="F")], axis=1),
        args={"x": f"float32[{P},{F + 1}]", "i": f"uint16[{P},3]"},
        shape=(P, 3 * P, 2),
    ),
    out(
        "nonzero_with_count",
        "memset(dst=out, value=7)\nnisa.nonzero_with_count(dst=out, src=i, index_offset=100)",
        places,
        args={"i": f"int32[{P},{F}]"},
        shape=(P, F + 1),
        dtype="int32",
    ),
    out(
        "nonzero_with_count-dimensions",
        "memset(dst=out, value=7)\n"
        "nisa.nonzero_with_count(dst=out, src=i.reshape((16, 1, 24)), index_offset=100)",
        lambda i: places(i)[:, None],
        args={"i": f"int32[{P},{F}]"},
        shape=(P, 1, F + 1),
        dtype="int32",
    ),
    out(
        "tensor_scalar-unary",
        "tensor_scalar(dst=out, data=x, op0=nl.abs, operand0=0.0, op1=nl.add, operand1=1.0)",
        lambda x: np.abs(x) + 1,
    ),
    out(
        "tensor_scalar-unary-alone",
        "tensor_scalar(dst=out, data=x, op0=nl.square, operand0=None)",
        np.square,
    ),
    Case(
        "tensor_scalar_reduce-unary",
        "tile = nl.ndarray((16, 24), dtype=nl.float32)\n"
        "out = nl.ndarray((16, 1), dtype=nl.float32)\n"
        "nisa.tensor_scalar_reduce(dst=tile, data=x, op0=nl.abs, operand0=0.0,"
        " reduce_op=nl.maximum, reduce_res=out)",
        lambda x: np.abs(x).max(1, keepdims=True),
        {"x": X},
        shape=(P, 1),
    ),
    out(
        "sequence_bounds",
        "sequence_bounds(dst=out, segment_ids=i)",
        bounds,
        args={"i": f"int32[1,{F}]"},
        shape=(1, 2, F),
        dtype="int32",
    ),
    out(
        "dma_compute",
        "dma_compute(dst=out, srcs=[x, y, x], reduce_op=nl.add)",
        lambda x, y: x + y + x,
        args={"x": X, "y": Y},
    ),
    Case(
        "activate2",
        "out = nl.ndarray((16, 24), dtype=nl.float32)\n"
        "big = nl.ndarray((16, 1), dtype=nl.float32)\n"
        "nisa.activate2(dst=out, op=nl.exp, data=x, imm0=0.5, imm1=1.0, op0=nl.multiply,\n"
        "               op1=nl.subtract, reverse1=True, reduce_op=nl.maximum, reduce_res=big,\n"
        "               reduce_cmd=nisa.reduce_cmd.reset_reduce)\n"
        "nisa.tensor_scalar(dst=out, data=out, op0=nl.divide, operand0=big)",
        lambda x: np.exp(1 - x / 2) / np.exp(1 - x / 2).max(1, keepdims=True),
        {"x": X},
    ),
    Case(
        "bn_aggr",
        "stats = nl.ndarray((16, 6), dtype=nl.float32)\n"
        "out = nl.ndarray((16, 2), dtype=nl.float32)\n"
        "nisa.bn_stats(dst=stats, data=x)\nnisa.bn_aggr(dst=out, data=stats)",
        lambda x: np.stack([x.mean(1), x.var(1)], 1),
        {"x": X},
        shape=(P, 2),
    ),
    Case(
        "reduce_res",
        "tile = nl.ndarray((16, 24), dtype=nl.float32)\n"
        "out = nl.ndarray((16, 1), dtype=nl.float32)\n"
        "nisa.activation_reduce(dst=tile, op=nl.exp, data=x, reduce_op=nl.add, reduce_res=out)",
        lambda x: np.exp(x).sum(1, keepdims=True),
        {"x": X},
        shape=(P, 1),
    ),
    Case(
        "tensor_scalar_reduce",
        "tile = nl.ndarray((16, 24), dtype=nl.float32)\n"
        "out = nl.ndarray((16, 1), dtype=nl.float32)\n"
        "nisa.tensor_scalar_reduce(dst=tile, data=x, op0=nl.add, operand0=1.0,"
        " reduce_op=nl.maximum, reduce_res=out)",
        lambda x: (x + 1).max(1, keepdims=True),
        {"x": X},
        shape=(P, 1),
    ),
    Case(
        "exponential",
        "tile = nl.ndarray((16, 24), dtype=nl.float32)\n"
        "out = nl.ndarray((16, 1), dtype=nl.float32)\n"
        "nisa.exponential(dst=tile, src=x, max_value=c, reduce_res=out)",
        lambda x, c: np.exp(x - c).sum(1, keepdims=True),
        {"x": X, "c": COLUMN},
        shape=(P, 1),
    ),
    Case(
        "index8",
        "top = nl.ndarray((16, 8), dtype=nl.float32)\nnisa.max8(dst=top, src=x)\n"
        "out = nl.ndarray((16, 8), dtype=nl.uint32)\n"
        "nisa.nc_find_index8(dst=out, data=x, vals=top)",
        lambda x: np.argsort(-x, axis=1, kind="stable")[:, :8],
        {"x": X},
        shape=(P, 8),
        dtype="uint32",
    ),
    Case(
        "match_replace8",
        "top = nl.ndarray((16, 8), dtype=nl.float32)\nnisa.max8(dst=top, src=x)\n"
        "out = nl.ndarray((16, 24), dtype=nl.float32)\n"
        "nisa.nc_match_replace8(dst=out, data=x, vals=top, imm=-9.0)",
        lambda x: np.where(x >= largest(x)[:, 7:8], np.float32(-9), x),
        {"x": X},
    ),
    Case(
        "tensor_copy_predicated",
        "out = nl.copy(y)\np = nl.greater(x, 0.0)\n"
        "nisa.tensor_copy_predicated(dst=out, src=x, predicate=p)",
        lambda x, y: np.where(x > 0, x, y),
        {"x": X, "y": Y},
    ),
    Case(
        "select_reduce",
        "out = nl.ndarray((16, 24), dtype=nl.float32)\np = nl.greater(x, 0.0)\n"
        "nisa.select_reduce(dst=out, predicate=p, on_true=x, on_false=-1.0)",
        lambda x: np.where(x > 0, x, -1),
        {"x": X},
    ),
    Case(
        "range_select",
        "out = nl.ndarray((16, 24), dtype=nl.float32)\n"
        "nisa.range_select(dst=out, on_true_tile=x, comp_op0=nl.greater_equal, comp_op1=nl.less,"
        " bound0=lo, bound1=hi, on_false_value=-7.0)",
        lambda x, lo, hi: np.where((np.arange(F) >= lo) & (np.arange(F) < hi), x, -7),
        {"x": X, "lo": COLUMN, "hi": COLUMN},
    ),
    Case(
        "core_barrier",
        "out = nl.copy(x)\nother = nl.copy(x)\nnisa.core_barrier(out, (0, 1))\n"
        "nisa.core_barrier([out, other], (0, 1))",
        lambda x: x,
        {"x": X},
    ),
    Case(
        "identity",
        "out = nl.shared_identity_matrix(16, dtype=nl.float32)",
        lambda x: np.eye(P),
        {"x": X},
        shape=(P, P),
    ),
    Case("view", "out = x.view(nl.int32)", lambda x: x.view(np.int32), {"x": X}, dtype="int32"),
    Case(
        "reshape",
        "out = nl.copy(x[:, 8:16].reshape((16, 2, 4)).reshape((16, 8)))",
        lambda x: x[:, 8:16],
        {"x": X},
        shape=(P, 8),
    ),
    Case("stride", "out = nl.copy(x[:, 0:24:3])", lambda x: x[:, ::3], {"x": X}, shape=(P, 8)),
    Case(
        "pattern",
        "out = nl.copy(x.ap(pattern=[[24, 16], [2, 8]], offset=1))",
        lambda x: x[:, 1:17:2],
        {"x": X},
        shape=(P, 8),
    ),
    Case(
        "pattern-of-another-type",
        "out = nl.copy(x.ap(pattern=[[48, 16], [2, 8]], offset=2, dtype=nl.uint16))",
        lambda x: x.view(np.uint16)[:, 2:18:2],
        {"x": X},
        shape=(P, 8),
        dtype="uint16",
    ),
    Case(
        "pattern-of-a-view",
        "out = nl.copy(x[:, 4:24].ap(pattern=[[24, 16], [1, 8]], offset=2))",
        lambda x: x[:, 6:14],
        {"x": X},
        shape=(P, 8),
    ),
    Case(
        "pattern-of-a-view-inherits",
        "out = nl.copy(x[:, 4:24].ap(pattern=[[24, 16], [1, 8]]))",
        lambda x: x[:, 4:12],
        {"x": X},
        shape=(P, 8),
    ),
    Case(
        "old-matmul",
        "out = nl.copy(nl.matmul(x, y, transpose_x=True))",
        lambda x, y: x.T @ y,
        {"x": X, "y": Y},
        "old",
        (F, F),
    ),
    Case(
        "old-matmul-transposes",
        "out = nl.copy(nl.matmul(x, nl.load_transpose2d(y_ref)))",
        lambda x, y: x @ y.T,
        {"x": X, "y": Y},
        "old",
        (P, P),
    ),
    Case(
        "old-arange",
        "i, j = nl.arange(16)[:, None], nl.arange(8)[None, :]\nout = nl.copy(x[i, 2 * j + 1])",
        lambda x: x[:, 1:17:2],
        {"x": X},
        "old",
        (P, 8),
    ),
    Case(
        "old-mgrid",
        "g = nl.mgrid[0:16, 0:8]\nout = nl.copy(x[g.p, g.x + 4])",
        lambda x: x[:, 4:12],
        {"x": X},
        "old",
        (P, 8),
    ),
    Case(
        "old-mask",
        "i, j = nl.arange(16)[:, None], nl.arange(24)[None, :]\n"
        "out = nl.zeros((16, 24), nl.float32, buffer=nl.sbuf)\n"
        "out[i, j] = nl.copy(x[i, j], mask=(j < 10) & (i < 9))",
        lambda x: np.where((np.arange(F) < 10) & (np.arange(P)[:, None] < 9), x, 0),
        {"x": X},
        "old",
    ),
    Case(
        "old-mask-reduce",
        "i, j = nl.arange(16)[:, None], nl.arange(24)[None, :]\n"
        "out = nl.zeros((16, 1), nl.float32, buffer=nl.sbuf)\n"
        "out[...] = nl.max(x[i, j], axis=1, keepdims=True, mask=(j < 10) & (i < 9))",
        lambda x: np.where(np.arange(P)[:, None] < 9, x[:, :10].max(1, keepdims=True), 0),
        {"x": X},
        "old",
        (P, 1),
    ),
    Case(
        "old-mask-reduce-dimensions",
        "i, j, k = nl.mgrid[0:16, 0:4, 0:6]\n"
        "out = nl.sum(x.reshape((16, 4, 6))[i, j, k], axis=[2], mask=(k < 5))",
        lambda x: x.reshape(P, 4, 6)[:, :, :5].sum(2),
        {"x": X},
        "old",
        (P, 4),
    ),
    Case(
        "old-mask-outside",
        "i, j = nl.arange(16)[:, None], nl.arange(32)[None, :]\n"
        "wide = nl.zeros((16, 32), nl.float32, buffer=nl.sbuf)\n"
        "wide[i, j] = nl.load(x_ref[i, j], mask=(j < 24))\nout = nl.copy(wide[:, 8:32])",
        lambda x: np.concatenate([x[:, 8:], np.zeros((P, 8), np.float32)], 1),
        {"x": X},
        "old",
    ),
    Case(
        "old-iota",
        "out = nisa.iota(nl.arange(24)[None, :] + 2, dtype=nl.int32)",
        lambda x: np.arange(F)[None] + 2,
        {"x": X},
        "old",
        (1, F),
        "int32",
    ),
    Case(
        "old-affine_select",
        "i, j = nl.arange(16)[:, None], nl.arange(24)[None, :]\n"
        "out = nisa.affine_select(pred=(i >= j), on_true_tile=x, on_false_value=-5.0)",
        triangular,
        {"x": X},
        "old",
    ),
    Case(
        "old-activation",
        "out = nisa.activation(op=nl.exp, data=x, scale=2.0)",
        lambda x: np.exp(2 * x),
        {"x": X},
        "old",
    ),
    Case(
        "old-reduce",
        "out = nisa.tensor_reduce(np.max, data=x, axis=(1,), keepdims=True)",
        lambda x: x.max(1, keepdims=True),
        {"x": X},
        "old",
        (P, 1),
    ),
]


def kernel(case: Case) -> str:
    """The body: every argument `a` is loaded as the tile `a`; the argument itself is `a_ref`."""
    loads = [f"{name} = nl.load({name}_ref)" for name in case.args]
    made = f"result = nl.ndarray({case.shape}, dtype=nl.{case.dtype}, buffer=nl.shared_hbm)"
    store = "nl.store(result, value=out if out.buffer != nl.psum else nl.copy(out))"
    return "\n".join([*loads, case.code, made, store, "return result"])


def arguments(case: Case) -> dict[str, Any]:
    """Numbers without two that are equal, so that searches have one answer."""
    random = np.random.default_rng(3)
    found: dict[str, Any] = {}
    for name, text in case.args.items():
        dtype, _, shape = text.rstrip("]").partition("[")
        size = tuple(map(int, shape.split(",")))
        if dtype.startswith(("int", "uint")):
            found[name] = random.integers(0, F, size).astype(dtype)
        elif dtype == "bfloat16":
            found[name] = random.standard_normal(size).astype(ml_dtypes.bfloat16)
        else:
            found[name] = (random.standard_normal(size) * 3).astype(np.float32)
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_operation_computes_what_numpy_does(case: Case, tmp_path: Path) -> None:
    args = {f"{name}_ref": text for name, text in case.args.items()}
    traced = recorded(tmp_path, kernel(case), args, case.style).traced()
    given = arguments(case)
    (got,) = results(traced, {f"{name}_ref": value for name, value in given.items()})
    wanted = np.asarray(case.expected(*given.values()))
    if got.dtype.kind in "iu":
        np.testing.assert_array_equal(got, wanted)
    else:
        got, wanted = got.astype(np.float64), wanted.astype(np.float64)
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.thorough
def test_every_operation_has_a_case(tmp_path: Path) -> None:
    used = {"nc_match_replace8", "matmul_mx", "quantize_mx"}  # these have tests of their own
    used |= generators.OPERATIONS
    for number, case in enumerate(CASES):
        folder = tmp_path / str(number)
        folder.mkdir()
        args = {f"{name}_ref": text for name, text in case.args.items()}
        traced = recorded(folder, kernel(case), args, case.style).traced()
        used |= {meaning.operation for meaning in traced.values.meanings.values()}
    assert set(OPERATIONS) - used == {"copy"}


@pytest.mark.parametrize("name", ["tensor_reduce", "old-mask", "index8"])
def test_a_case_runs_concurrently(name: str, tmp_path: Path) -> None:
    case = next(case for case in CASES if case.name == name)
    args = {f"{name}_ref": text for name, text in case.args.items()}
    traced = recorded(tmp_path, kernel(case), args, case.style).traced()
    assert run(traced, synchronize(traced.program), {}, orders=3).is_equal


def test_an_index_in_memory_is_looked_up(tmp_path: Path) -> None:
    body = """
        y = nl.ndarray((4, 24), dtype=nl.float32, buffer=nl.shared_hbm)
        index = nl.load(i)
        row = nisa.register_alloc(index[0:1, 0:1])
        nl.store(y[nl.ds(0, 2), :], value=nl.load(x[nl.ds(row * 2 + 1, 2), :]))
        rows = nl.ndarray((2, 24), dtype=nl.float32, buffer=nl.sbuf)
        pattern = [[24, 2], [1, 24]]
        nisa.dma_copy(dst=rows, src=x.ap(pattern=pattern, vector_offset=index, indirect_dim=0))
        nl.store(y[nl.ds(2, 2), :], value=rows)
        return y
    """
    traced = recorded(tmp_path, body, {"x": "float32[16,24]", "i": "int32[2,1]"}).traced()
    x = np.random.default_rng(1).standard_normal((16, 24), dtype=np.float32)
    (y,) = results(traced, {"x": x, "i": np.array([[3], [9]])})
    np.testing.assert_array_equal(y[:2], x[7:9])
    np.testing.assert_array_equal(y[2:], np.stack([x[3], x[10]]))


def test_random_arguments_depend_on_the_seed(tmp_path: Path) -> None:
    traced = recorded(tmp_path, "return nl.load(x)", {"x": X}).traced()
    one, same, other = (fresh(traced.values, seed=seed)["x"] for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
