"""Element types, and how engines convert between them.

Engines compute in float32 and round once, to the nearest, when they write. A float that becomes an
integer is rounded to the nearest even one and saturates (assumed: the public documentation does not
say). Integers of other sizes keep their low bits.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy

from headway.errors import HeadwayError

np: Any = numpy
"""The types of arrays are known only at run time here."""

_OF_ML = ("bfloat16", "float8_e4m3", "float8_e5m2", "float8_e4m3fn", "float8_e8m0fnu")
PACKED = {"float4_e2m1fn_x4": "uint16", "float8_e4m3fn_x4": "uint32", "float8_e5m2_x4": "uint32"}
"""Types of four elements in one: whole numbers that hold the bits."""
_OTHER_NAMES = {"bool_": "bool", "tfloat32": "float32", **PACKED}


@cache
def numpy_type(name: str) -> Any:
    """Return the numpy type of that name. Raise HeadwayError."""
    if name in _OF_ML:
        return np.dtype(getattr(ml_dtypes, name))
    try:
        return np.dtype(_OTHER_NAMES.get(name, name))
    except TypeError:
        raise HeadwayError(f"there are no values of type {name!r}") from None


def is_integer(array: Any) -> bool:
    """Tell whether an array holds whole numbers."""
    return array.dtype.kind in "iu"


def is_array(value: Any) -> bool:
    """Tell whether this is an array and no single number."""
    return isinstance(value, numpy.ndarray) and value.ndim > 0


def as_float(value: Any) -> Any:
    """Return numbers as float32, in which engines compute."""
    return np.asarray(value).astype(np.float32)


def converted(array: Any, dtype: Any) -> Any:
    """Return an array with its elements converted."""
    if array.dtype == dtype:
        return array
    if dtype.kind in "iu" and array.dtype.kind not in "iub":
        limits = np.iinfo(dtype)
        rounded = np.rint(np.nan_to_num(array.astype(np.float64), nan=0.0))
        return np.clip(rounded, limits.min, limits.max).astype(dtype)
    return array.astype(dtype)
