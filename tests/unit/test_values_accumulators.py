"""What instructions with `reduce_cmd` leave in the accumulators of their engine."""

# The lambdas of the table have no types.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_files import recorded, results

from headway.compiler import synchronize
from headway.execution import from_instructions, run

ARGS = {"x": "float32[16,24]", "y": "float32[16,24]"}
BEFORE = """
    result = nl.ndarray((16, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    a, b = nl.load(x), nl.load(y)
    tile = nl.ndarray((16, 24), dtype=nl.float32, buffer=nl.sbuf)
    out = nl.ndarray((16, 1), dtype=nl.float32, buffer=nl.sbuf)
    reset, more = nisa.reduce_cmd.reset_reduce, nisa.reduce_cmd.reduce
    clear, load, idle = nisa.reduce_cmd.reset, nisa.reduce_cmd.load_reduce, nisa.reduce_cmd.idle
"""
AFTER = """
    nl.store(result, value=out)
    return result
"""
ACTIVATION = "nisa.activation(dst=tile, op=nl.exp, reduce_op=nl.add, "
REDUCE = "nisa.tensor_scalar_reduce(dst=tile, op0=nl.add, operand0=1.0, "
RANGE = "lo, hi = nl.zeros((16, 1), nl.float32, nl.sbuf), nl.full((16, 1), 99.0, nl.float32)\n    "
SELECT = (
    "nisa.range_select(dst=tile, comp_op0=nl.greater_equal, comp_op1=nl.less, bound0=lo, "
    "bound1=hi, "
)


def column(values: Any) -> Any:
    return values.reshape(16, 1)


CASES: dict[str, tuple[str, Any]] = {
    "activation": (
        f"{ACTIVATION}data=a, reduce_cmd=reset)\n    "
        f"{ACTIVATION}data=b, reduce_cmd=more, reduce_res=out)",
        lambda x, y: np.exp(x).sum(1) + np.exp(y).sum(1),
    ),
    "activation-reset-only": (
        f"{ACTIVATION}data=a, reduce_cmd=reset)\n    "
        f"{ACTIVATION}data=a, reduce_cmd=clear)\n    "
        f"{ACTIVATION}data=b, reduce_cmd=more, reduce_res=out)",
        lambda x, y: np.exp(y).sum(1),
    ),
    "activation-idle-only-reads": (
        f"{ACTIVATION}data=a, reduce_cmd=reset)\n    "
        "nisa.activation(dst=tile, op=nl.exp, data=b)\n    "
        f"{ACTIVATION}data=b, reduce_cmd=idle, reduce_res=out)",
        lambda x, y: np.exp(x).sum(1),
    ),
    "tensor_scalar_reduce": (
        f"{REDUCE}data=a, reduce_op=nl.maximum)\n    "
        f"{REDUCE}data=b, reduce_op=nl.maximum, reduce_cmd=more, reduce_res=out)",
        lambda x, y: np.maximum(x.max(1), y.max(1)) + 1,
    ),
    "tensor_scalar_reduce-load": (
        f"{REDUCE}data=a, reduce_op=nl.add, reduce_cmd=load, reduce_init=b[:, 0:1],"
        " reduce_res=out)",
        lambda x, y: (x + 1).sum(1) + y[:, 0],
    ),
    "one-engine-shares": (
        f"{REDUCE}data=a, reduce_op=nl.add)\n    "
        "nisa.exponential(dst=tile, src=b, reduce_cmd=more, reduce_res=out)",
        lambda x, y: (x + 1).sum(1) + np.exp(y).sum(1),
    ),
    "range_select": (
        f"{RANGE}{SELECT}on_true_tile=a)\n    "
        f"{SELECT}on_true_tile=b, reduce_cmd=more, reduce_res=out)",
        lambda x, y: np.maximum(x.max(1), y.max(1)),
    ),
    "tensor_scalar_cumulative": (
        "nisa.tensor_scalar_cumulative(dst=tile, src=a, op0=nl.multiply, op1=nl.add, imm0=2.0)\n"
        "    nisa.tensor_scalar_cumulative(dst=tile, src=b, op0=nl.multiply, op1=nl.add, imm0=2.0,"
        " reduce_cmd=more)\n"
        "    nisa.tensor_copy(dst=out, src=tile[:, 23:24])",
        lambda x, y: 2 * x.sum(1) + 2 * y.sum(1),
    ),
    "in-a-loop": (
        "nisa.tensor_scalar_reduce(dst=tile[:, 0:1], data=a[:, 0:1], op0=nl.add, operand0=0.0,"
        " reduce_op=nl.add)\n"
        "    for i in nl.affine_range(22):\n"
        "        nisa.tensor_scalar_reduce(dst=tile[:, 0:1], data=a[:, nl.ds(i + 1, 1)],"
        " op0=nl.add, operand0=0.0, reduce_op=nl.add, reduce_cmd=more)\n"
        "    nisa.tensor_scalar_reduce(dst=tile[:, 0:1], data=a[:, 23:24], op0=nl.add,"
        " operand0=0.0, reduce_op=nl.add, reduce_cmd=more, reduce_res=out)",
        lambda x, y: x.sum(1),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_accumulators_are_kept_between_instructions(name: str, tmp_path: Path) -> None:
    code, expected = CASES[name]
    traced = recorded(tmp_path, f"{BEFORE}    {code}{AFTER}", ARGS).traced()
    x, y = (np.random.default_rng(n).standard_normal((16, 24), np.float32) for n in (1, 2))
    (got,) = results(traced, {"x": x, "y": y})
    np.testing.assert_allclose(got, column(expected(x, y)), rtol=1e-5)


def test_partitions_have_accumulators_of_their_own(tmp_path: Path) -> None:
    code = (
        f"{REDUCE.replace('dst=tile', 'dst=tile[8:16, :]')}data=a[8:16, :], reduce_op=nl.add)\n    "
        f"{REDUCE.replace('dst=tile', 'dst=tile[0:8, :]')}data=a[0:8, :], reduce_op=nl.add)\n    "
        f"{REDUCE}data=b, reduce_op=nl.add, reduce_cmd=more, reduce_res=out)"
    )
    traced = recorded(tmp_path, f"{BEFORE}    {code}{AFTER}", ARGS).traced()
    x, y = (np.random.default_rng(n).standard_normal((16, 24), np.float32) for n in (1, 2))
    (got,) = results(traced, {"x": x, "y": y})
    np.testing.assert_allclose(got, column((x + 1).sum(1) + (y + 1).sum(1)), rtol=1e-5)


def test_accumulators_are_the_same_in_every_concurrent_order(tmp_path: Path) -> None:
    code = CASES["in-a-loop"][0]
    traced = recorded(tmp_path, f"{BEFORE}    {code}{AFTER}", ARGS).traced()
    assert "vector accumulators" in traced.values.memories
    assert run(traced, synchronize(traced.program), {}, orders=3).is_equal


def test_instructions_that_overlap_reduce_in_their_order(tmp_path: Path) -> None:
    body = """
        result = nl.ndarray((16, 1), dtype=nl.float32, buffer=nl.shared_hbm)
        out = nl.ndarray((16, 1), dtype=nl.float32, buffer=nl.sbuf)
        tiles = [nl.load(x[i]) for i in range(4)]
        for i, tile in enumerate(tiles):
            nisa.activation(
                dst=nl.ndarray((16, 24), dtype=nl.float32, buffer=nl.sbuf),
                op=nl.copy,
                data=tile,
                reduce_op=nl.add,
                reduce_cmd=nisa.reduce_cmd.reduce if i else nisa.reduce_cmd.reset_reduce,
                reduce_res=out if i == 3 else None,
            )
        nl.store(result, value=out)
        return result
    """
    traced = recorded(tmp_path, body, {"x": "float32[4,16,24]"}).traced()
    sync = synchronize(traced.program, "trn2", "counted")
    assert run(traced, sync, {}, orders=10).is_equal
    assert run(traced, sync, {}, orders=10, execute=from_instructions).is_equal
