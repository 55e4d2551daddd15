"""Kernels with values: sequential meaning, concurrent orders, and waits that end too early."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest
from kernel_files import recorded, results

from headway.check import check
from headway.check.mutate import mutants
from headway.compiler import synchronize
from headway.errors import HeadwayError, InvalidInput, InvalidProgram
from headway.execution import concurrent, run
from headway.ir import to_text
from headway.strategies import names
from headway.sync.program import SyncProgram
from headway.values import Traced
from headway.values.memory import differences, fresh

MATMUL = """
    c = nl.ndarray((256, 64), dtype=nl.float32, buffer=nl.shared_hbm)
    for m in nl.affine_range(2):
        total = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.psum)
        for k in nl.affine_range(3):
            left = nl.ndarray((128, 128), dtype=a.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=left, src=a[nl.ds(k * 128, 128), nl.ds(m * 128, 128)])
            right = nl.load(b[nl.ds(k * 128, 128), :])
            nisa.nc_matmul(dst=total, stationary=left, moving=right)
        out = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(dst=out, src=total)
        nl.store(c[nl.ds(m * 128, 128), :], value=out)
    return c
"""
SHAPES = {"a": "float32[384,256]", "b": "float32[384,64]"}
STEPS = """
    y = nl.ndarray((4, 128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
    for i in range(4):
        tile = nl.load(x[i])
        scaled = nl.multiply(tile, SCALE)
        nl.store(y[i], value=scaled)
    return y
"""


@pytest.fixture
def matmul(tmp_path: Path) -> Traced:
    return recorded(tmp_path, MATMUL, SHAPES).traced()


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).standard_normal(shape, dtype=np.float32)


def test_a_matmul_computes_what_numpy_does(matmul: Traced) -> None:
    a, b = numbers(384, 256), numbers(384, 64)
    (c,) = results(matmul, {"a": a, "b": b})
    np.testing.assert_allclose(c, a.T @ b, rtol=1e-4, atol=1e-4)


@pytest.mark.thorough
@pytest.mark.parametrize("strategy", sorted(set(names()) - {"static"}))
def test_every_strategy_keeps_the_values(matmul: Traced, strategy: str) -> None:
    sync = synchronize(matmul.program, "trn2", strategy)
    outcome = run(matmul, sync, {}, orders=2)
    assert outcome.is_equal
    assert outcome.instructions == 22


def is_early(sync: SyncProgram) -> bool:
    try:
        return check(sync, {}).verdict == "early"
    except InvalidProgram:
        return False  # a wait for nothing is no wait


def is_noticed(matmul: Traced, sync: SyncProgram, orders: int) -> bool:
    return not run(matmul, sync, {}, orders=orders).is_equal


@pytest.mark.thorough
def test_every_wait_that_ends_too_early_gives_other_values(matmul: Traced) -> None:
    sync = synchronize(matmul.program, "trn2", "counted")
    early = [m.program for m in mutants(sync, ["threshold-lowered"]) if is_early(m.program)]
    assert len(early) >= 5
    assert all(is_noticed(matmul, program, orders=30) for program in early)


def test_two_runs_of_one_order_are_the_same(matmul: Traced) -> None:
    sync = synchronize(matmul.program, "trn2", "counted")
    (early, *_) = mutants(sync, ["wait-deleted"])
    one, other = fresh(matmul.values), fresh(matmul.values)
    for contents in (one, other):
        concurrent(early.program, matmul.values, {}, contents, Random(3))
    assert not list(differences(one, other))


def test_a_number_may_change_from_one_iteration_to_the_next(tmp_path: Path) -> None:
    trace = recorded(tmp_path, STEPS.replace("SCALE", "1.0 / (i + 1)"), {"x": "float32[4,128,8]"})
    traced = trace.traced()
    assert trace.rolled_operations == 3
    x = numbers(4, 128, 8)
    (y,) = results(traced, {"x": x})
    wanted = np.stack([x[i] * np.float32(1.0 / (i + 1)) for i in range(4)])
    np.testing.assert_array_equal(y, wanted)


def test_the_text_of_the_program_says_nothing_of_values(tmp_path: Path) -> None:
    texts = [
        to_text(
            recorded(tmp_path, STEPS.replace("SCALE", scale), {"x": "float32[4,128,8]"}).program()
        )
        for scale in ("2.0", "3.0")
    ]
    assert texts[0] == texts[1]


def test_a_run_time_bound_decides_how_much_is_computed(tmp_path: Path) -> None:
    trace = recorded(tmp_path, STEPS.replace("SCALE", "2.0"), {"x": "float32[4,128,8]"})
    traced = trace.traced({"i": "n"})
    x = numbers(4, 128, 8)
    (y,) = results(traced, {"x": x}, {"n": 3})
    np.testing.assert_array_equal(y[:3], 2 * x[:3])
    assert np.isnan(y[3]).all()
    with pytest.raises(InvalidInput, match="leaves its memory"):
        results(traced, {"x": x}, {"n": 5})


def test_a_number_of_an_iteration_that_was_not_traced_is_unknown(tmp_path: Path) -> None:
    body = STEPS.replace("SCALE", "1.0 / (i + 1)").replace("x[i]", "x[0]").replace("y[i]", "y[0]")
    traced = recorded(tmp_path, body, {"x": "float32[4,128,8]"}).traced({"i": "n"})
    with pytest.raises(InvalidInput, match="only for the iterations that were traced"):
        results(traced, inputs={"n": 5})


def test_a_loop_of_the_device_accumulates_from_its_second_iteration_on(tmp_path: Path) -> None:
    body = """
        total = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.psum)

        def step(k):
            left = nl.load(a[nl.ds(k * 128, 128), :])
            right = nl.load(b[nl.ds(k * 128, 128), :])
            nisa.nc_matmul(dst=total, stationary=left, moving=right)

        nl.fori_loop(0, 3, step)
        c = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        nl.store(c, value=nl.copy(total))
        return c
    """
    traced = recorded(tmp_path, body, {"a": "float32[384,128]", "b": "float32[384,64]"}).traced()
    a, b = numbers(384, 128), numbers(384, 64)
    (c,) = results(traced, {"a": a, "b": b})
    np.testing.assert_allclose(c, a.T @ b, rtol=1e-4, atol=1e-4)


def test_zeros_of_the_old_style_begin_an_accumulation(tmp_path: Path) -> None:
    body = """
        c = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.shared_hbm)
        for m in nl.affine_range(2):
            total = nl.zeros((64, 64), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(3):
                left = nl.load(a[nl.ds(k * 128, 128), nl.ds(m * 64, 64)])
                total += nisa.nc_matmul(left, nl.load(b[nl.ds(k * 128, 128), :]))
            nl.store(c[nl.ds(m * 64, 64), :], value=nl.copy(total))
        return c
    """
    shapes = {"a": "float32[384,128]", "b": "float32[384,64]"}
    traced = recorded(tmp_path, body, shapes, "old").traced(buffers=1)
    a, b = numbers(384, 128), numbers(384, 64)
    (c,) = results(traced, {"a": a, "b": b})
    np.testing.assert_allclose(c, a.T @ b, rtol=1e-4, atol=1e-4)


def test_an_operation_without_values_is_an_error_at_its_line(tmp_path: Path) -> None:
    body = """
        y = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
        tile = nl.load(x)
        nisa.tensor_tensor(dst=tile, data1=tile, data2=tile, op=nl.bitwise_and)
        nl.store(y, value=tile)
        return y
    """
    traced = recorded(tmp_path, body, {"x": "float32[128,8]"}).traced()
    with pytest.raises(HeadwayError, match=r"kernels.py:11:5: error: \w+_tile: bitwise_and of"):
        results(traced)


def test_an_argument_may_be_one_that_the_kernel_does_not_use(tmp_path: Path) -> None:
    args = {"x": "float32[128,8]", "unused": "float32[128,8]"}
    traced = recorded(tmp_path, "return nl.load(x)", args).traced()
    x = numbers(128, 8)
    (y,) = results(traced, {"x": x, "unused": x})
    np.testing.assert_array_equal(y, x)


def test_an_argument_has_to_fit(matmul: Traced) -> None:
    with pytest.raises(InvalidInput, match="'a' has shape"):
        results(matmul, {"a": numbers(2, 2)})
    with pytest.raises(InvalidInput, match="no tensor argument"):
        results(matmul, {"z": numbers(2, 2)})
