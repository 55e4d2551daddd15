"""Matrix multiplications in other forms: two rows in a partition, masks, microscaling formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from kernel_files import recorded, results

from headway.compiler import synchronize
from headway.errors import HeadwayError
from headway.execution import run
from headway.frontends.nki.tidy import operations

# ---- two rows of the contracted dimension in each partition

DOUBLE = """
    result = nl.ndarray((24, 40), dtype=nl.float32, buffer=nl.shared_hbm)
    a, b = nl.load(x), nl.load(y)
    out = nl.ndarray((24, 40), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(out, stationary=a, moving=b, perf_mode=nisa.matmul_perf_mode.double_row)
    nl.store(result, value=nl.copy(out))
    return result
"""
OLD_DOUBLE = """
    result = nl.ndarray((24, 40), dtype=nl.float32, buffer=nl.shared_hbm)
    out = nisa.nc_matmul(nl.load(x), nl.load(y), perf_mode="double_row_gen3")
    nl.store(result, value=out)
    return result
"""
PAIRS = {"x": "float8_e4m3[16,2,24]", "y": "float8_e5m2[16,2,40]"}


@pytest.mark.parametrize(("style", "body"), [("new", DOUBLE), ("old", OLD_DOUBLE)])
def test_double_row_contracts_two_rows(style: str, body: str, tmp_path: Path) -> None:
    traced = recorded(tmp_path, body, PAIRS, style).traced()
    x = normal(1, (16, 2, 24)).astype(ml_dtypes.float8_e4m3)
    y = normal(2, (16, 2, 40)).astype(ml_dtypes.float8_e5m2)
    (got,) = results(traced, {"x": x, "y": y})
    wanted = np.einsum("pim,pin->mn", x.astype(np.float32), y.astype(np.float32))
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


def test_double_row_takes_as_long_as_one_row(tmp_path: Path) -> None:
    found = operations(recorded(tmp_path, DOUBLE, PAIRS).recorded)
    (matmul,) = (op for op in found if op.kind.operation == "matmul")
    assert matmul.kind.work.elements == 40


def test_double_row_needs_two_rows(tmp_path: Path) -> None:
    with pytest.raises(HeadwayError, match="the first free dimension of both has 2 elements"):
        recorded(tmp_path, DOUBLE, PAIRS | {"x": "float8_e4m3[16,3,24]"})


# ---- masks

MASKED = """
    result = nl.ndarray((24, 40), dtype=nl.float32, buffer=nl.shared_hbm)
    k, m, n = nl.arange(16)[:, None], nl.arange(24)[None, :], nl.arange(40)[None, :]
    i, j = nl.arange(24)[:, None], nl.arange(40)[None, :]
    a, b = nl.load(x), nl.load(y)
    out = nl.zeros((24, 40), dtype=nl.float32, buffer=nl.sbuf)
    out[i, j] = nl.copy(nisa.nc_matmul(a[k, m], b[k, n], mask={mask}), mask={copied})
    nl.store(result, value=out)
    return result
"""


@pytest.mark.parametrize(
    ("mask", "copied", "shape"),
    [
        ("(k < 9)", "None", (9, 24, 40)),
        ("(k < 9) & (n < 30)", "(j < 30)", (9, 24, 30)),
        ("(k < 9) & (m < 20)", "(i < 20)", (9, 20, 40)),
        ("(n < 30)", "(j < 30)", (16, 24, 30)),
    ],
)
def test_a_mask_shrinks_a_matmul(
    mask: str, copied: str, shape: tuple[int, int, int], tmp_path: Path
) -> None:
    body = MASKED.format(mask=mask, copied=copied)
    args = {"x": "float32[16,24]", "y": "float32[16,40]"}
    traced = recorded(tmp_path, body, args, "old").traced()
    x, y = normal(1, (16, 24)), normal(2, (16, 40))
    (got,) = results(traced, {"x": x, "y": y})
    k, m, n = shape
    wanted = np.zeros((24, 40))
    wanted[:m, :n] = x[:k, :m].T @ y[:k, :n]
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


def test_a_mask_that_may_mean_either_operand_is_refused(tmp_path: Path) -> None:
    body = MASKED.replace("40", "24").format(mask="(n < 20)", copied="None")
    args = {"x": "float32[16,24]", "y": "float32[16,24]"}
    traced = recorded(tmp_path, body, args, "old").traced()
    with pytest.raises(HeadwayError, match="whose operands have as many columns each"):
        results(traced, {"x": normal(1, (16, 24)), "y": normal(2, (16, 24))})


# ---- microscaling formats

QUANTIZED = """
    result = nl.ndarray((8, 12), dtype=nl.float32, buffer=nl.shared_hbm)
    a, b = nl.load(x), nl.load(y)
    rows = {rows}
    qa = nl.ndarray((64, 8), dtype=nl.{kind}, buffer=nl.sbuf)
    qb = nl.ndarray((64, 12), dtype=nl.{kind}, buffer=nl.sbuf)
    sa = nl.ndarray((rows, 8), dtype=nl.{scale}, buffer=nl.sbuf)
    sb = nl.ndarray((rows, 12), dtype=nl.{scale}, buffer=nl.sbuf)
    nisa.quantize_mx(dst=qa, src=a, dst_scale=sa)
    nisa.quantize_mx(dst=qb, src=b, dst_scale=sb)
    out = nl.ndarray((8, 12), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul_mx(out, qa, qb, sa, sb)
    nisa.nc_matmul_mx(out, qa, qb, sa, sb)
    nl.store(result, value=nl.copy(out))
    return result
"""


@pytest.mark.parametrize("kind", ["float8_e4m3fn_x4", "float8_e5m2_x4"])
@pytest.mark.parametrize("scale", ["uint8", "float8_e8m0fnu"])
@pytest.mark.parametrize("partitions", [32, 64])
def test_microscaling_matmul_of_quantized_tiles(
    kind: str, scale: str, partitions: int, tmp_path: Path
) -> None:
    rows = 4 if partitions == 32 else 64
    body = QUANTIZED.format(kind=kind, scale=scale, rows=rows).replace("(64, ", f"({partitions}, ")
    args = {"x": f"bfloat16[{partitions},32]", "y": f"bfloat16[{partitions},48]"}
    traced = recorded(tmp_path, body, args).traced()
    x = (normal(1, (partitions, 32)) * 50).astype(ml_dtypes.bfloat16)
    y = normal(2, (partitions, 48)).astype(ml_dtypes.bfloat16)
    y[:8, :4] = 0  # a group of zeros
    (got,) = results(traced, {"x": x, "y": y})
    left, right = (quantized(t.astype(np.float32), kind) for t in (x, y))
    wanted = 2 * np.einsum("pmi,pni->mn", left, right)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-3)


def test_microscaling_runs_concurrently(tmp_path: Path) -> None:
    body = QUANTIZED.format(kind="float8_e4m3fn_x4", scale="uint8", rows=64)
    traced = recorded(tmp_path, body, {"x": "bfloat16[64,32]", "y": "bfloat16[64,48]"}).traced()
    assert run(traced, synchronize(traced.program), {}, orders=3).is_equal


def quantized(tile: Any, kind: str) -> Any:
    """Return the numbers that a tile is rounded to, [partition, column, 4]; group by group."""
    dtype, exponent = {
        "float8_e4m3fn_x4": (ml_dtypes.float8_e4m3fn, 8),
        "float8_e5m2_x4": (ml_dtypes.float8_e5m2, 15),
    }[kind]
    found = np.zeros_like(tile)
    for p in range(0, tile.shape[0], 8):
        for f in range(0, tile.shape[1], 4):
            group = tile[p : p + 8, f : f + 4]
            greatest = np.abs(group).max()
            if greatest:
                scale = 2.0 ** (np.floor(np.log2(greatest)) - (exponent - 1))
                found[p : p + 8, f : f + 4] = (group / scale).astype(dtype).astype(float) * scale
    return found.reshape(tile.shape[0], -1, 4)


def test_four_bit_elements_are_read_from_the_lowest_on(tmp_path: Path) -> None:
    body = """
        result = nl.ndarray((2, 2), dtype=nl.float32, buffer=nl.shared_hbm)
        out = nl.ndarray((2, 2), dtype=nl.float32, buffer=nl.psum)
        a, sa = nl.load(x), nl.load(s)
        nisa.nc_matmul_mx(out, a, a, sa, sa)
        nl.store(result, value=nl.copy(out))
        return result
    """
    args = {"x": "float4_e2m1fn_x4[32,2]", "s": "uint8[4,2]"}
    traced = recorded(tmp_path, body, args).traced()
    x = np.zeros((32, 2), np.uint16)
    x[0] = [0x4321, 0x0002]  # 0.5 1 1.5 2, and 1 0 0 0
    s = np.full((4, 2), 127, np.uint8)
    s[0, 1] = 129  # times four
    (got,) = results(traced, {"x": x, "s": s})
    np.testing.assert_array_equal(got, [[0.25 + 1 + 2.25 + 4, 2], [2, 16]])


def normal(seed: int, shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


# ---- the first matmul into a place


@pytest.mark.parametrize(
    "part",
    [
        "out.ap(pattern=[[48, 8], [1, 12]], offset=12 * k)",
        "out.reshape((8, 4, 12))[:, k, :]",
        "out[:, nl.ds(12 * k, 12)]",
    ],
)
def test_each_place_of_a_psum_tile_begins_anew_in_whatever_form_it_is_named(
    part: str, tmp_path: Path
) -> None:
    """A pattern counts as the whole tile for the order, and for this as what it reaches."""
    body = f"""
        result = nl.ndarray((8, 48), dtype=nl.float32, buffer=nl.shared_hbm)
        a, b = nl.load(x), nl.load(y)
        out = nl.ndarray((8, 48), dtype=nl.float32, buffer=nl.psum)
        for k in range(4):
            nisa.nc_matmul({part}, stationary=a, moving=b[:, nl.ds(12 * k, 12)])
        nisa.nc_matmul(out, stationary=a, moving=b)
        nl.store(result, value=nl.copy(out))
        return result
    """
    args = {"x": "float32[16,8]", "y": "float32[16,48]"}
    traced = recorded(tmp_path, body, args).traced()
    x, y = normal(1, (16, 8)), normal(2, (16, 48))
    (got,) = results(traced, {"x": x, "y": y})
    np.testing.assert_allclose(got[:, :12], 2 * (x.T @ y)[:, :12], rtol=1e-5, atol=1e-5)
