"""Random numbers: the same in every order, from the seed or the state, and as likely as asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest
from kernel_files import recorded, results

from headway.compiler import synchronize
from headway.execution import run

np: Any = numpy

X = {"x": "float32[128,64]"}


def made(tmp_path: Path, body: str, style: str = "new", args: dict[str, Any] | None = None) -> Any:
    """Return what a kernel computes that is given x, all ones."""
    traced = recorded(tmp_path, body, X, style).traced()
    return results(traced, args or {"x": np.ones((128, 64), np.float32)})


def xorwow(state: list[int], count: int) -> list[int]:
    """Marsaglia's generator, one number after the other."""
    x, y, z, w, v, d = state
    found: list[int] = []
    for _ in range(count):
        t = x ^ (x >> 2)
        x, y, z, w = y, z, w, v
        v = (v ^ (v << 4) ^ t ^ (t << 1)) & 0xFFFFFFFF
        d = (d + 362437) & 0xFFFFFFFF
        found.append((d + v) & 0xFFFFFFFF)
    return found


def test_gpsimd_makes_the_numbers_of_the_state_that_it_is_given(tmp_path: Path) -> None:
    body = """
        bits = nl.ndarray((4, 6), dtype=nl.uint32, buffer=nl.shared_hbm)
        after = nl.ndarray((4, 6), dtype=nl.uint32, buffer=nl.shared_hbm)
        seeds = nl.load(x)
        tile = nl.ndarray((4, 6), dtype=nl.uint32, buffer=nl.sbuf)
        kept = nl.ndarray((4, 6), dtype=nl.uint32, buffer=nl.sbuf)
        nisa.rand_set_state(seeds)
        nisa.rand_get_state(kept)
        nisa.rng(tile, engine=nisa.engine.gpsimd)
        nl.store(bits, value=tile)
        nl.store(after, value=kept)
        return bits, after
    """
    traced = recorded(tmp_path, body, {"x": "uint32[4,6]"}).traced()
    seeds = np.random.default_rng(0).integers(0, 2**32, (4, 6), np.uint32)
    bits, kept = results(traced, {"x": seeds})
    np.testing.assert_array_equal(bits, [xorwow(row, 6) for row in seeds.tolist()])
    np.testing.assert_array_equal(kept, seeds)


def test_the_vector_engine_takes_numbers_of_four_generators_in_turn(tmp_path: Path) -> None:
    body = """
        bits = nl.ndarray((4, 10), dtype=nl.uint32, buffer=nl.shared_hbm)
        tile = nl.ndarray((4, 10), dtype=nl.uint32, buffer=nl.sbuf)
        nisa.rand_set_state(nl.load(x), engine=nisa.engine.vector)
        nisa.rng(tile)
        nl.store(bits, value=tile)
        return bits
    """
    traced = recorded(tmp_path, body, {"x": "uint32[4,24]"}).traced()
    seeds = np.random.default_rng(1).integers(0, 2**32, (4, 24), np.uint32)
    (bits,) = results(traced, {"x": seeds})
    for lane, row in zip(bits, seeds.reshape(4, 4, 6).tolist(), strict=True):
        np.testing.assert_array_equal(lane, np.transpose([xorwow(s, 3) for s in row]).flat[:10])


def test_the_same_seed_makes_the_same_numbers(tmp_path: Path) -> None:
    body = """
        y = nl.ndarray((3, 128, 64), dtype=nl.uint16, buffer=nl.shared_hbm)
        for i, seed in enumerate((5, 6, 5)):
            start = nl.ndarray((1, 1), dtype=nl.uint32, buffer=nl.sbuf)
            nisa.memset(start, value=seed)
            nisa.set_rng_seed(start)
            tile = nl.ndarray((128, 64), dtype=nl.uint16, buffer=nl.sbuf)
            nisa.rng(dst=tile)
            nl.store(y[i], value=tile)
        return y
    """
    (y,) = made(tmp_path, body)
    np.testing.assert_array_equal(y[0], y[2])
    assert (y[0] != y[1]).mean() > 0.99
    assert len(np.unique(y[0].reshape(128, -1), axis=0)) == 128  # every lane has its own
    assert abs(y[0].mean() / 2**16 - 0.5) < 0.01


def test_numbers_go_on_where_the_last_instruction_stopped(tmp_path: Path) -> None:
    body = """
        y = nl.ndarray((2, 64, 32), dtype=nl.float32, buffer=nl.shared_hbm)
        for i in range(2):
            nl.store(y[i], value=nl.rand((64, 32)))
        return y
    """
    (y,) = made(tmp_path, body, "old")
    assert (y[0] != y[1]).mean() > 0.99
    assert y.min() >= 0
    assert y.max() < 1
    assert abs(y.mean() - 0.5) < 0.02


def test_the_old_style_takes_a_number_as_its_seed(tmp_path: Path) -> None:
    body = """
        y = nl.ndarray((2, 64, 32), dtype=nl.float32, buffer=nl.shared_hbm)
        for i in range(2):
            nl.random_seed(7)
            nl.store(y[i], value=nl.rand((64, 32)))
        return y
    """
    (y,) = made(tmp_path, body, "old")
    np.testing.assert_array_equal(y[0], y[1])


@pytest.mark.parametrize("call", ["nisa.dropout(tile, prob=0.25)", "nl.dropout(tile, rate=0.25)"])
def test_dropout_sets_so_many_elements_to_zero(call: str, tmp_path: Path) -> None:
    body = f"""
        y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        nl.store(y, value={call})
        return y
    """
    (y,) = made(tmp_path, body, "old")
    assert set(np.unique(y)) == {0, 1}
    assert abs((y == 0).mean() - 0.25) < 0.02


def test_dropout_with_a_probability_for_each_partition(tmp_path: Path) -> None:
    body = """
        y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile, chance = nl.load(x), nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.memset(chance[0:64], value=0.0)
        nisa.memset(chance[64:128], value=1.0)
        nisa.dropout(dst=tile, data=tile, prob=chance)
        nl.store(y, value=tile)
        return y
    """
    (y,) = made(tmp_path, body)
    np.testing.assert_array_equal(y[:, 0], [1] * 64 + [0] * 64)


def test_rand2_stays_in_its_range(tmp_path: Path) -> None:
    body = """
        y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.rand2(tile, -2.0, 6.0)
        nl.store(y, value=tile)
        return y
    """
    (y,) = made(tmp_path, body)
    assert -2 <= y.min() < -1.9
    assert 5.9 < y.max() <= 6
    assert abs(y.mean() - 2) < 0.1


def test_engines_at_once_make_the_numbers_that_they_make_in_turn(tmp_path: Path) -> None:
    body = """
        y = nl.ndarray((4, 128, 64), dtype=nl.uint32, buffer=nl.shared_hbm)
        for i in range(4):
            tile = nl.ndarray((128, 64), dtype=nl.uint32, buffer=nl.sbuf)
            other = nl.ndarray((128, 64), dtype=nl.uint32, buffer=nl.sbuf)
            nisa.rng(dst=tile, engine=nisa.engine.vector)
            nisa.rng(dst=other, engine=nisa.engine.gpsimd)
            nl.store(y[i], value=nl.bitwise_xor(tile, other))
        return y
    """
    traced = recorded(tmp_path, body, X).traced()
    sync = synchronize(traced.program, target="trn2", strategy="counted")
    assert run(traced, sync, {}, orders=3, seed=1).is_equal
