"""Operations that search the elements of each partition for the largest ones."""

from __future__ import annotations

from typing import Any

from headway.values.numbers import as_float, np


def max8(src: Any) -> Any:
    """The eight largest elements of each partition, the largest first."""
    rows = as_float(src).reshape(src.shape[0], -1)
    return -np.sort(-rows, axis=1)[:, :8]


def nc_find_index8(data: Any, vals: Any) -> Any:
    """The index of each of eight values; equal values get the next index each."""
    return _found(_rows(data), _rows(vals))


def nc_match_replace8(data: Any, vals: Any, imm: Any) -> dict[str, Any]:
    """The data with the first match of each of eight values replaced, and their indices.

    The last of equal values gets the first match.
    """
    rows, wanted = _rows(data), _rows(vals)
    found = _found(rows, wanted[:, ::-1])[:, ::-1]
    result = rows.copy()
    for partition, indices in enumerate(found):
        result[partition, indices[indices >= 0]] = imm
    return {"dst": result, "dst_idx": found}


def _rows(tile: Any) -> Any:
    return as_float(tile).reshape(tile.shape[0], -1)


def _found(rows: Any, wanted: Any) -> Any:
    result = np.full(wanted.shape, -1, dtype=np.int64)
    for partition in range(rows.shape[0]):
        taken: set[int] = set()
        for k, value in enumerate(wanted[partition]):
            for index in np.flatnonzero(rows[partition] == value):
                if int(index) not in taken:
                    taken.add(int(index))
                    result[partition, k] = index
                    break
    return result


def nc_n_gather(data: Any, indices: Any) -> Any:
    """In each partition the elements that the indices name, along the free dimensions."""
    rows = data.reshape(data.shape[0], -1)
    return np.take_along_axis(rows, indices.reshape(data.shape[0], -1).astype(np.int64), axis=1)


CORE = 16
"""Partitions that one core of the gpsimd engine reaches."""


def local_gather(
    src_buffer: Any, index: Any, num_elem_per_idx: Any = 1, num_valid_indices: Any = None
) -> Any:
    """Elements in a row from each index on, by indices that sixteen partitions share.

    The indices of a core are those of its partitions, along the partition first.
    """
    rows = src_buffer.reshape(src_buffer.shape[0], -1)
    shared = index.reshape(index.shape[0] // CORE, CORE, -1).astype(np.int64)
    flat = shared.transpose(0, 2, 1).reshape(len(shared), -1)[:, :num_valid_indices]
    places = flat[:, :, None] + np.arange(num_elem_per_idx)
    return np.take_along_axis(rows, places.reshape(len(shared), -1).repeat(CORE, axis=0), axis=1)


def nonzero_with_count(src: Any, index_offset: Any = 0, padding_val: Any = -1) -> dict[str, Any]:
    """The places of what is not zero, padding, and their count, in a core's first partition.

    The other partitions stay as they are.
    """
    rows = src.reshape(src.shape[0], -1)
    result = np.full((rows.shape[0], rows.shape[1] + 1), padding_val, dtype=np.int64)
    for partition in range(0, rows.shape[0], CORE):
        found = np.flatnonzero(rows[partition])
        result[partition, : len(found)] = found + index_offset
        result[partition, -1] = len(found)
    return {"dst": result, "mask": (np.arange(rows.shape[0]) % CORE == 0)[:, None]}


def sequence_bounds(segment_ids: Any) -> Any:
    """For each element where its segment begins and ends; n and -1 where the segment is 0."""
    rows = segment_ids.reshape(segment_ids.shape[0], -1)
    count = rows.shape[1]
    places = np.arange(count)
    changes = np.diff(rows, axis=1) != 0
    edge = np.ones((rows.shape[0], 1), dtype=bool)
    starts = np.where(np.concatenate([edge, changes], axis=1), places, 0)
    ends = np.where(np.concatenate([changes, edge], axis=1), places + 1, count)
    first = np.maximum.accumulate(starts, axis=1)
    last = np.minimum.accumulate(ends[:, ::-1], axis=1)[:, ::-1]
    return np.stack([np.where(rows, first, count), np.where(rows, last, -1)], axis=1)


OPERATIONS = {
    f.__name__: f
    for f in (
        local_gather,
        max8,
        nc_find_index8,
        nc_match_replace8,
        nc_n_gather,
        nonzero_with_count,
        sequence_bounds,
    )
}
