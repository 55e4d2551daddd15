"""Pack columns of numbers so that a browser reads a million rows at once: see page/data.js.

Every column is an array of the narrowest type that holds it, rising ones as differences; all of
them together are compressed and written as base64.
"""

from __future__ import annotations

import base64
import sys
import zlib
from array import array
from collections.abc import Iterable
from itertools import pairwise
from typing import Literal, TypedDict

ALIGNMENT = 8
"""Bytes at which a column begins, as typed arrays ask for."""

LIMITS: tuple[tuple[str, Literal["B", "H", "I"], int], ...] = (
    ("u8", "B", 2**8),
    ("u16", "H", 2**16),
    ("u32", "I", 2**32),
)


class Column(TypedDict):
    """Where a column lies: `at` in bytes, `n` values, its type, whether it holds differences."""

    at: int
    n: int
    type: str
    rising: bool


class Pack:
    """Collects columns."""

    def __init__(self) -> None:
        self._data = bytearray()

    def rising(self, values: Iterable[int]) -> Column:
        """Add numbers that do not fall."""
        column = list(values)
        return self._add([b - a for a, b in pairwise([0, *column])], rising=True)

    def plain(self, values: Iterable[int]) -> Column:
        """Add numbers."""
        return self._add(list(values), rising=False)

    def _add(self, values: list[int], rising: bool) -> Column:
        self._data.extend(bytes(-len(self._data) % ALIGNMENT))
        name, column = _narrowest(values)
        if sys.byteorder == "big":
            column.byteswap()
        found = Column(at=len(self._data), n=len(values), type=name, rising=rising)
        self._data.extend(column.tobytes())
        return found

    def text(self) -> str:
        """Return everything, compressed, as base64."""
        return base64.b64encode(zlib.compress(bytes(self._data), 6)).decode("ascii")


def _narrowest(values: list[int]) -> tuple[str, array[int] | array[float]]:
    least, most = min(values, default=0), max(values, default=0)
    for name, code, limit in LIMITS:
        if least >= 0 and most < limit:
            return name, array(code, values)
    if -(2**31) <= least and most < 2**31:
        return "i32", array("i", values)
    return "f64", array("d", values)  # exact to 2**53, which in ps are 2.5 hours
