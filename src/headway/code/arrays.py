"""Code as the array that compiled loops work on. It needs numpy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from headway.code import rows as op
from headway.code.rows import Rows

Longs = npt.NDArray[np.int64]
Ints = npt.NDArray[np.int32]


def memory(code: Rows) -> tuple[Longs, Longs]:
    """Return memory with the code behind the values, and a view of the rows in it.

    Jumps lead to addresses; row r lies at `len(code.memory) + r * WIDTH`.
    """
    begin = len(code.memory)
    m = np.array(code.memory + code.rows, np.int64)
    rows = m[begin:].reshape(-1, op.WIDTH)
    for operation, operand in ((op.JUMP, 1), (op.ZERO, 2), (op.PAST, 3), (op.NEXT, 3)):
        jumps = rows[:, 0] == operation
        rows[jumps, operand] = begin + rows[jumps, operand] * op.WIDTH
    return m, rows
