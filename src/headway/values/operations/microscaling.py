"""Microscaling formats: groups of 32 elements share a scale, which is a power of two.

A group is eight partitions of four elements, and the four are one element of a packed type. The
scale of a group lies in the quarter of the partitions that the group is in: that of group g in row
`g // 4 * 32 + g % 4`. A scale is the eight bits of an exponent, 127 more than it says.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes

from headway.errors import HeadwayError
from headway.values.numbers import as_float, np
from headway.values.operations.matrices import added

GROUP, PACK, BIAS = 8, 4, 127
_ELEMENTS = {
    "float4_e2m1fn_x4": ml_dtypes.float4_e2m1fn,
    "float8_e4m3fn_x4": ml_dtypes.float8_e4m3fn,
    "float8_e5m2_x4": ml_dtypes.float8_e5m2,
}
_LARGEST = {"float8_e4m3fn_x4": (8, 448.0), "float8_e5m2_x4": (15, 57344.0)}
"""The greatest exponent of a type, and its greatest number."""


def quantize_mx(src: Any, dst_type: str, dst_scale_type: str) -> dict[str, Any]:
    """The elements divided by the scale of their group, in a packed type, and the scales.

    The scale is `2 ** (floor(log2(greatest)) - (E - 1))`, where E is the greatest exponent of the
    type; of a group of zeros it is the smallest one.
    """
    if dst_type not in _LARGEST:
        raise HeadwayError(f"there are no values of quantize_mx to {dst_type}")
    exponent, most = _LARGEST[dst_type]
    rows = as_float(src).reshape(src.shape[0], -1)
    groups = rows.reshape(rows.shape[0] // GROUP, GROUP, rows.shape[1] // PACK, PACK)
    greatest = np.abs(groups).max(axis=(1, 3))
    log2 = np.frexp(greatest)[1] - 1
    scale = np.where(greatest > 0, np.clip(log2 - (exponent - 1) + BIAS, 0, 254), 0)
    scaled = groups / np.exp2(scale.astype(np.float32) - BIAS)[:, None, :, None]
    elements = np.clip(scaled, -most, most).reshape(rows.shape).astype(_ELEMENTS[dst_type])
    return {"dst": elements.view(np.uint32), **_scattered(scale, dst_scale_type, src.shape[0])}


def _scattered(scale: Any, dtype: str, partitions: int) -> dict[str, Any]:
    """Return the scales in their rows; other rows stay as they are."""
    rows = _rows(scale.shape[0])
    spread = np.zeros((_height(partitions), scale.shape[1]), dtype=np.uint8)
    spread[rows] = scale
    chosen = np.zeros((spread.shape[0], 1), dtype=bool)
    chosen[rows] = True
    bits = spread if dtype == "uint8" else spread.view(ml_dtypes.float8_e8m0fnu)
    return {"dst_scale": bits, "dst_scale.mask": chosen}


def _rows(groups: int) -> Any:
    group = np.arange(groups)
    return group // 4 * 32 + group % 4


def _height(partitions: int) -> int:
    """Return the partitions that a tile of scales has: few if all are in one quarter."""
    return partitions // GROUP if partitions <= 32 else partitions


def matmul_mx(
    stationary: Any,
    moving: Any,
    stationary_scale: Any,
    moving_scale: Any,
    stationary_type: str,
    moving_type: str,
    accumulate: bool = False,
    addend: Any = None,
) -> Any:
    """`stationary.T @ moving` of the numbers that elements and scales stand for, in float32."""
    left = _dequantized(stationary, stationary_scale, stationary_type)
    right = _dequantized(moving, moving_scale, moving_type)
    return added(np.matmul(np.ascontiguousarray(left.T), right), accumulate, addend)


def _dequantized(packed: Any, scale: Any, dtype: str) -> Any:
    """Return a tile as numbers, [partition * 4 + element, column]."""
    if dtype not in _ELEMENTS:
        raise HeadwayError(f"there are no values of nc_matmul_mx of {dtype}")
    tile = packed.reshape(packed.shape[0], -1)
    numbers = _unpacked(tile, dtype)
    bits = scale.reshape(scale.shape[0], -1).view(np.uint8)
    exponents = bits[_rows(tile.shape[0] // GROUP), : tile.shape[1]].astype(np.float32) - BIAS
    scaled = numbers * np.exp2(exponents).repeat(GROUP, axis=0)[:, :, None]
    return scaled.transpose(0, 2, 1).reshape(-1, tile.shape[1])


def _unpacked(tile: Any, dtype: str) -> Any:
    """Return the four numbers of each element, [partition, column, 4]."""
    if dtype == "float4_e2m1fn_x4":
        nibbles = tile[:, :, None] >> (4 * np.arange(PACK, dtype=tile.dtype)) & 0xF
        return nibbles.astype(np.uint8).view(_ELEMENTS[dtype]).astype(np.float32)
    bytes_of = np.ascontiguousarray(tile)[:, :, None].view(np.uint8)
    return bytes_of.view(_ELEMENTS[dtype]).astype(np.float32)


OPERATIONS = {f.__name__: f for f in (matmul_mx, quantize_mx)}
