"""Block dimensions that the index of a device loop names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_files import recorded, results

from headway.check import check
from headway.compiler import synchronize
from headway.errors import HeadwayError
from headway.execution import run
from headway.frontends.nki.tidy import operations
from headway.values import Traced

ARGS = {"x": "float32[64,24]"}
READ_IN_A_DEVICE_LOOP = """
    y = nl.ndarray((64, 24), dtype=nl.float32, buffer=nl.shared_hbm)
    tiles = nl.ndarray((4, nl.par_dim(16), 24), dtype=nl.float32, buffer=nl.sbuf)
    for k in nl.affine_range(4):
        tiles[k] = nl.load(x[nl.ds(k * 16, 16), :])
    for i in nl.dynamic_range(4):
        nl.store(y[nl.ds(i * 16, 16), :], value=nl.multiply(tiles[i], 2.0))
    return y
"""
WRITTEN_IN_A_DEVICE_LOOP = """
    y = nl.ndarray((64, 24), dtype=nl.float32, buffer=nl.shared_hbm)
    tiles = nl.ndarray((4, nl.par_dim(16), 24), dtype=nl.float32, buffer=nl.sbuf)
    for i in nl.dynamic_range(4):
        tiles[i] = nl.load(x[nl.ds(i * 16, 16), :])
    for k in nl.affine_range(4):
        nl.store(y[nl.ds(k * 16, 16), :], value=nl.multiply(tiles[k], 2.0))
    return y
"""
BOTH_IN_DEVICE_LOOPS = """
    y = nl.ndarray((64, 24), dtype=nl.float32, buffer=nl.shared_hbm)
    tiles = nl.ndarray((2, 2, nl.par_dim(16), 24), dtype=nl.float32, buffer=nl.sbuf)
    for i in nl.dynamic_range(2):
        for j in nl.affine_range(2):
            tiles[i, j] = nl.load(x[nl.ds(i * 32 + j * 16, 16), :])
    for i in nl.dynamic_range(2):
        for j in nl.affine_range(2):
            tiles[1 - i, j] = nl.multiply(tiles[1 - i, j], 2.0)
    for i in nl.dynamic_range(2):
        for j in nl.dynamic_range(2):
            nl.store(y[nl.ds(i * 32 + j * 16, 16), :], value=tiles[i, j])
    return y
"""
BODIES = [READ_IN_A_DEVICE_LOOP, WRITTEN_IN_A_DEVICE_LOOP, BOTH_IN_DEVICE_LOOPS]
IDS = ["read", "written", "both"]


def program(folder: Path, body: str) -> Traced:
    return recorded(folder, body, ARGS).traced()


@pytest.mark.parametrize("body", BODIES, ids=IDS)
def test_each_iteration_has_its_block(body: str, tmp_path: Path) -> None:
    x = np.random.default_rng(1).standard_normal((64, 24), np.float32)
    (got,) = results(program(tmp_path, body), {"x": x})
    np.testing.assert_array_equal(got, 2 * x)


@pytest.mark.parametrize("body", BODIES, ids=IDS)
def test_the_order_is_exact_and_enough(body: str, tmp_path: Path) -> None:
    traced = program(tmp_path, body)
    synced = synchronize(traced.program)
    check(synced, {}).raise_for_failure()
    assert run(traced, synced, {}, orders=3).is_equal


def test_a_block_never_written_is_noticed(tmp_path: Path) -> None:
    body = """
        tiles = nl.ndarray((4, nl.par_dim(16), 24), dtype=nl.float32, buffer=nl.sbuf)
        for i in nl.dynamic_range(4):
            nl.store(x[nl.ds(i * 16, 16), :], value=tiles[i])
    """
    with pytest.raises(HeadwayError, match="reads 'tiles', which nothing has written"):
        recorded(tmp_path, body, ARGS)


def test_a_matmul_begins_anew_in_each_block(tmp_path: Path) -> None:
    body = """
        y = nl.ndarray((4, 24, 24), dtype=nl.float32, buffer=nl.shared_hbm)
        sums = nl.ndarray((4, nl.par_dim(24), 24), dtype=nl.float32, buffer=nl.psum)
        for i in nl.dynamic_range(4):
            a = nl.load(x[nl.ds(i * 16, 16), :])
            nisa.nc_matmul(sums[i], stationary=a, moving=a)
        for k in nl.affine_range(4):
            nl.store(y[k], value=nl.copy(sums[k]))
        return y
    """
    x: Any = np.random.default_rng(1).standard_normal((64, 24), np.float32)
    (got,) = results(program(tmp_path, body), {"x": x})
    wanted = [block.T @ block for block in x.reshape(4, 16, 24)]
    np.testing.assert_allclose(got, np.stack(wanted), rtol=1e-5, atol=1e-5)


def test_a_block_stays_one_of_its_own_when_others_are_named_at_run_time(tmp_path: Path) -> None:
    """`x[...] = tiles[0]` right after `tiles[0] = ...` may not replace the write of the block."""
    body = """
        y = nl.ndarray((16, 24), dtype=nl.float32, buffer=nl.shared_hbm)
        tiles = nl.ndarray((1, nl.par_dim(16), 24), dtype=nl.float32, buffer=nl.sbuf)
        out = nl.ndarray((16, 24), dtype=nl.float32, buffer=nl.sbuf)
        tiles[0] = nl.load(x[0:16, :])
        out[...] = tiles[0]
        for i in nl.dynamic_range(1):
            out += tiles[i]
        nl.store(y, value=out)
        return y
    """
    trace = recorded(tmp_path, body, ARGS)
    assert sum(1 for _ in operations(trace.recorded)) == 4
    x = np.random.default_rng(1).standard_normal((64, 24), np.float32)
    (got,) = results(trace.traced(), {"x": x})
    np.testing.assert_array_equal(got, 2 * x[:16])


def test_a_block_that_is_placed_by_hand_is_named_at_trace_time(tmp_path: Path) -> None:
    body = """
        import neuronxcc.nki.compiler as ncc
        place = ncc.sbuf.mod_alloc(base_addr=0, num_free_tiles=(2,))
        tiles = nl.ndarray((4, nl.par_dim(16), 24), dtype=nl.float32, buffer=place)
        for i in nl.dynamic_range(4):
            tiles[i] = nl.load(x[nl.ds(i * 16, 16), :])
    """
    with pytest.raises(HeadwayError, match="names a block that is placed by hand"):
        recorded(tmp_path, body, ARGS, "old")
