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
    """The data with the first match of each of eight values replaced, and their indices."""
    rows, wanted = _rows(data), _rows(vals)
    found = _found(rows, wanted)
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


OPERATIONS = {f.__name__: f for f in (nc_n_gather, max8, nc_find_index8, nc_match_replace8)}
