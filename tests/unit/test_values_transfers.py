"""Transfers whose place is known only at run time, that skip, add, or have nobody to talk to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_files import recorded, results

from headway.errors import HeadwayError
from headway.frontends.nki.record import Op

# ---- elements that leave their tensor

LOAD = """
    result = nl.ndarray((8, 24), dtype=nl.float32, buffer=nl.shared_hbm)
    index, out = nl.load(i), nl.full((8, 24), -1.0, nl.float32, nl.sbuf)
    j = nl.arange(24)[None, :]
    nisa.dma_copy(src=x[index, j], dst=out, oob_mode=nisa.oob_mode.skip)
    nl.store(result, value=out)
    return result
"""
STORE = """
    result = nl.ndarray((16, 24), dtype=nl.float32, buffer=nl.shared_hbm)
    index, rows = nl.load(i), nl.load(x[0:8, :])
    j = nl.arange(24)[None, :]
    nl.store(result, value=nl.full((16, 24), -1.0, nl.float32, nl.sbuf))
    nisa.dma_copy(dst=result[index, j], src=rows, {how})
    return result
"""
ARGS = {"x": "float32[16,24]", "i": "int32[8,1]"}
INDEX = np.array([[0], [15], [16], [3], [99], [4], [5], [6]], np.int32)


def numbers() -> Any:
    return np.random.default_rng(1).standard_normal((16, 24), np.float32)


def test_a_load_skips_rows_that_are_not_there(tmp_path: Path) -> None:
    x = numbers()
    (got,) = results(recorded(tmp_path, LOAD, ARGS, "old").traced(), {"x": x, "i": INDEX})
    wanted = np.full((8, 24), -1, np.float32)
    for row, index in enumerate(INDEX[:, 0]):
        if index < 16:
            wanted[row] = x[index]
    np.testing.assert_array_equal(got, wanted)


def test_a_store_skips_rows_that_are_not_there(tmp_path: Path) -> None:
    x = numbers()
    body = STORE.format(how="oob_mode=nisa.oob_mode.skip")
    (got,) = results(recorded(tmp_path, body, ARGS, "old").traced(), {"x": x, "i": INDEX})
    wanted = np.full((16, 24), -1, np.float32)
    for row, index in enumerate(INDEX[:, 0]):
        if index < 16:
            wanted[index] = x[row]
    np.testing.assert_array_equal(got, wanted)


def test_without_skipping_a_row_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    body = STORE.format(how="oob_mode=nisa.oob_mode.error")
    traced = recorded(tmp_path, body, ARGS, "old").traced()
    with pytest.raises(HeadwayError, match="leaves its memory"):
        results(traced, {"x": numbers(), "i": INDEX})


MOVED = """
    result = nl.ndarray((8, 24), dtype=nl.float32, buffer=nl.shared_hbm)
    index = nl.load(i)
    p, j = nl.arange(8)[:, None], nl.arange(24)[None, :]
    nl.store(result, value=nl.load(x[index[p, 0] + {shift}, j]{mask}))
    return result
"""


@pytest.mark.parametrize("body", [LOAD, STORE], ids=["load", "store"])
def test_without_skipping_a_negative_row_is_an_error(tmp_path: Path, body: str) -> None:
    body = body.replace("{how}", "").replace("oob_mode=nisa.oob_mode.skip", "")
    traced = recorded(tmp_path, body, ARGS, "old").traced()
    index = np.array([[0], [1], [-1], [3], [4], [5], [6], [7]], np.int32)
    with pytest.raises(HeadwayError, match="leaves its memory"):
        results(traced, {"x": numbers(), "i": index})


def test_a_skipping_load_skips_negative_rows(tmp_path: Path) -> None:
    x, index = numbers(), np.array([[0], [1], [-1], [3], [4], [-5], [6], [7]], np.int32)
    (got,) = results(recorded(tmp_path, LOAD, ARGS, "old").traced(), {"x": x, "i": index})
    np.testing.assert_array_equal(got, np.where(index >= 0, x[index[:, 0]], np.float32(-1)))


def test_an_index_may_be_negative_where_the_view_begins_later(tmp_path: Path) -> None:
    x, index = numbers(), np.array([[-1], [0], [1], [-2], [4], [5], [6], [7]], np.int32)
    body = MOVED.format(shift=2, mask="")
    (got,) = results(recorded(tmp_path, body, ARGS, "old").traced(), {"x": x, "i": index})
    np.testing.assert_array_equal(got, x[index[:, 0] + 2])


def test_a_negative_index_that_a_mask_leaves_out_is_not_used(tmp_path: Path) -> None:
    x, index = numbers(), np.array([[3], [0], [1], [2], [-1], [-1], [-9], [7]], np.int32)
    body = MOVED.format(shift=0, mask=", mask=p < 4")
    (got,) = results(recorded(tmp_path, body, ARGS, "old").traced(), {"x": x, "i": index})
    np.testing.assert_array_equal(got[:4], x[index[:4, 0]])


def test_a_transfer_adds_to_what_is_there(tmp_path: Path) -> None:
    x, index = numbers(), np.arange(0, 16, 2, dtype=np.int32).reshape(8, 1)
    body = STORE.format(how="dst_rmw_op=np.add")
    (got,) = results(recorded(tmp_path, body, ARGS, "old").traced(), {"x": x, "i": index})
    wanted = np.full((16, 24), -1, np.float32)
    wanted[index[:, 0]] += x[:8]
    np.testing.assert_array_equal(got, wanted)


def test_atomic_rmw_adds_in_memory(tmp_path: Path) -> None:
    body = """
        result = nl.ndarray((16, 24), dtype=nl.float32, buffer=nl.shared_hbm)
        nl.store(result, value=nl.load(x))
        nl.atomic_rmw(result[0:16, 0:24], value=nl.load(x), op=np.add)
        return result
    """
    x = numbers()
    (got,) = results(recorded(tmp_path, body, {"x": ARGS["x"]}, "old").traced(), {"x": x})
    np.testing.assert_array_equal(got, x + x)


# ---- index arrays that a number in memory moves


@pytest.mark.parametrize(
    ("index", "first", "step"),
    [
        ("start[0, 0] + nl.arange(4)[:, None]", 3, 1),
        ("nl.arange(4)[:, None] + start[0, 0]", 3, 1),
        ("nl.arange(4)[:, None] * 2 + start[0, 0]", 3, 2),
    ],
)
def test_an_index_array_is_moved_at_run_time(
    index: str, first: int, step: int, tmp_path: Path
) -> None:
    body = f"""
        result = nl.ndarray((4, 24), dtype=nl.float32, buffer=nl.shared_hbm)
        start = nl.load(i)
        j = nl.arange(24)[None, :]
        nl.store(result, value=nl.load(x[{index}, j]))
        return result
    """
    x = numbers()
    args = {"x": ARGS["x"], "i": "int32[1,1]"}
    traced = recorded(tmp_path, body, args, "old").traced()
    (got,) = results(traced, {"x": x, "i": np.array([[3]], np.int32)})
    np.testing.assert_array_equal(got, x[first : first + 4 * step : step])


def test_an_index_array_is_moved_by_a_register(tmp_path: Path) -> None:
    body = """
        result = nl.ndarray((4, 24), dtype=nl.float32, buffer=nl.shared_hbm)
        start = nisa.register_alloc(nl.load(i))
        k, j = nl.arange(4)[:, None], nl.arange(24)[None, :]
        nl.store(result, value=nl.load(x[(start + k) * 2 + 1, j]))
        return result
    """
    x = numbers()
    traced = recorded(tmp_path, body, {"x": ARGS["x"], "i": "int32[1,1]"}).traced()
    (got,) = results(traced, {"x": x, "i": np.array([[3]], np.int32)})
    np.testing.assert_array_equal(got, x[7:15:2])


def test_a_column_of_numbers_moves_each_row(tmp_path: Path) -> None:
    body = """
        result = nl.ndarray((8, 6), dtype=nl.float32, buffer=nl.shared_hbm)
        index = nl.load(i)
        k, j = nl.arange(8)[:, None], nl.arange(6)[None, :]
        nl.store(result, value=nl.load(x[k, index + j]))
        return result
    """
    x, index = numbers(), np.arange(8, dtype=np.int32).reshape(8, 1) * 2
    traced = recorded(tmp_path, body, ARGS, "old").traced()
    (got,) = results(traced, {"x": x, "i": index})
    wanted = [x[row, start : start + 6] for row, start in enumerate(index[:, 0])]
    np.testing.assert_array_equal(got, np.stack(wanted))


# ---- other devices

COLLECTIVE = """
    import nki.collectives as ncc
    result = nl.ndarray((16, 24), dtype=nl.float32, buffer=nl.shared_hbm)
    group = ncc.ReplicaGroup({groups})
    ncc.all_reduce(srcs=[x], dsts=[result], replica_group=group, op=nl.add)
    return result
"""


def test_a_collective_of_one_device_is_a_copy(tmp_path: Path) -> None:
    x = numbers()
    body = COLLECTIVE.format(groups="[[0]]")
    (got,) = results(recorded(tmp_path, body, {"x": ARGS["x"]}).traced(), {"x": x})
    np.testing.assert_array_equal(got, x)


def test_a_collective_of_several_devices_has_no_values(tmp_path: Path) -> None:
    traced = recorded(tmp_path, COLLECTIVE.format(groups="[[0, 1]]"), {"x": ARGS["x"]}).traced()
    with pytest.raises(HeadwayError, match="what arrives comes from other devices"):
        results(traced, {"x": numbers()})


def test_a_collective_by_channels_has_its_lists_by_name(tmp_path: Path) -> None:
    body = """
        import nki.collectives as ncc
        result = nl.ndarray((16, 24), dtype=nl.float32, buffer=nl.shared_hbm)
        group = ncc.ReplicaGroup([[0]])
        ncc.collective_permute_implicit(
            srcs_by_channel=[[x]], dsts_by_channel=[[result]], replica_group=group, channel_ids=[0]
        )
        return result
    """
    x = numbers()
    (got,) = results(recorded(tmp_path, body, {"x": ARGS["x"]}).traced(), {"x": x})
    np.testing.assert_array_equal(got, x)


def test_a_collective_of_the_old_style_names_one_source_and_one_target(tmp_path: Path) -> None:
    body = """
        import nki.collectives as ncc
        result = nl.ndarray((16, 24), dtype=nl.float32, buffer=nl.shared_hbm)
        ncc.collective_permute(dst=result, src=x, source_target_pairs=[[0, 1], [1, 0]])
        return result
    """
    (op,) = recorded(tmp_path, body, {"x": ARGS["x"]}).recorded
    assert isinstance(op, Op)
    assert [operand.storage.name for operand in op.operands] == ["x", "result"]


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("nisa.sendrecv(a, out, 1, 1, 0)", "what arrives comes from another core"),
    ],
)
def test_what_has_no_values_says_why(code: str, reason: str, tmp_path: Path) -> None:
    body = f"""
        result = nl.ndarray((16, 24), dtype=nl.uint32, buffer=nl.shared_hbm)
        a, out = nl.load(x), nl.ndarray((16, 24), dtype=nl.uint32, buffer=nl.sbuf)
        {code}
        nl.store(result, value=out)
        return result
    """
    traced = recorded(tmp_path, body, {"x": "uint32[16,24]"}).traced()
    with pytest.raises(HeadwayError, match=reason):
        results(traced)


# ---- transposes, constants


@pytest.mark.parametrize(
    ("shape", "axes", "order"),
    [
        ((16, 24), "None", (1, 0)),
        ((8, 4, 6), "None", (2, 1, 0)),
        ((8, 4, 6), "(2, 1, 0)", (2, 1, 0)),
        ((8, 2, 3, 6), "None", (3, 1, 2, 0)),
    ],
)
def test_dma_transpose_permutes_as_documented(
    shape: tuple[int, ...], axes: str, order: tuple[int, ...], tmp_path: Path
) -> None:
    target = tuple(shape[axis] for axis in order)
    body = f"""
        result = nl.ndarray({target}, dtype=nl.float32, buffer=nl.shared_hbm)
        out = nl.ndarray({target}, dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_transpose(dst=out, src=x, axes={axes})
        nl.store(result, value=out)
        return result
    """
    arg = f"float32[{','.join(map(str, shape))}]"
    x = np.random.default_rng(1).standard_normal(shape, np.float32)
    (got,) = results(recorded(tmp_path, body, {"x": arg}).traced(), {"x": x})
    np.testing.assert_array_equal(got, x.transpose(order))


def test_rows_named_in_memory_are_transposed(tmp_path: Path) -> None:
    body = """
        result = nl.ndarray((6, 4, 8), dtype=nl.float32, buffer=nl.shared_hbm)
        p, j, k = nl.arange(8)[:, None], nl.arange(4)[None, :, None], nl.arange(6)[None, None, :]
        index = nl.load(i)
        nl.store(result, value=nisa.dma_transpose(x[index[p, 0], j, k], axes=(2, 1, 0)))
        return result
    """
    x = np.random.default_rng(1).standard_normal((16, 4, 6), np.float32)
    index = np.array([[3], [1], [15], [0], [2], [9], [9], [4]], np.int32)
    args = {"x": "float32[16,4,6]", "i": "int32[8,1]"}
    (got,) = results(recorded(tmp_path, body, args, "old").traced(), {"x": x, "i": index})
    np.testing.assert_array_equal(got, x[index[:, 0]].transpose(2, 1, 0))


def test_an_offset_counts_rows_of_the_shape_that_a_tensor_was_given(tmp_path: Path) -> None:
    body = """
        result = nl.ndarray((1, 4), dtype=nl.float32, buffer=nl.shared_hbm)
        start = nisa.register_alloc(nl.load(i))
        row = x.reshape((1, 24))
        out = nl.ndarray((1, 4), dtype=nl.float32, buffer=nl.sbuf)
        pattern = [[24, 1], [1, 4]]
        nisa.dma_copy(dst=out, src=row.ap(pattern, 2, scalar_offset=start, indirect_dim=1))
        nl.store(result, value=out)
        return result
    """
    x = np.random.default_rng(1).standard_normal(24, np.float32)
    traced = recorded(tmp_path, body, {"x": "float32[24]", "i": "int32[1,1]"}).traced()
    (got,) = results(traced, {"x": x, "i": np.array([[5]], np.int32)})
    np.testing.assert_array_equal(got[0], x[7:11])


def test_an_indirect_dimension_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    body = "return nl.load(x.ap([[1, 1], [1, 4]], scalar_offset=nl.load(i), indirect_dim=1))"
    with pytest.raises(HeadwayError, match=r"indirect_dim=1 of a tensor of shape \(24,\)"):
        recorded(tmp_path, body, {"x": "float32[24]", "i": "int32[1,1]"})


def test_a_constant_is_read_from_a_file(tmp_path: Path) -> None:
    x = np.random.default_rng(1).standard_normal((16, 24), np.float32)
    np.save(tmp_path / "constant.npy", x)
    body = f"""
        result = nl.ndarray((16, 24), dtype=nl.float32, buffer=nl.shared_hbm)
        nl.store(result, value=nl.load(nl.shared_constant({str(tmp_path / "constant.npy")!r})))
        return result
    """
    (got,) = results(recorded(tmp_path, body, {}).traced())
    np.testing.assert_array_equal(got, x)
    with pytest.raises(HeadwayError, match=r"the constant in '.*missing\.npy' cannot be read"):
        recorded(tmp_path, body.replace("constant.npy", "missing.npy"), {})
