"""The steps of compiled loops over rows: values and control flow. It needs numba and numpy.

Only the modules that hold a compiled loop import this one. What is compiled here is compiled into
the caller: calls would cost as much as the work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

from headway.code.arrays import Longs
from headway.code.loops import BARE
from headway.code.rows import (
    ADD,
    CHECK,
    DIV,
    EQ,
    FAILED,
    FETCH,
    GT,
    JUMP,
    LARGEST,
    LE,
    LEFT,
    LT,
    MAX,
    MIN,
    MOD,
    MOVE,
    MOVED,
    MUL,
    NE,
    STORE,
    SUB,
    TOO_LARGE,
    TOO_LONG,
    VALUE,
    WIDTH,
    ZERO,
)

at = np.uintp
"""An address as an index: numba checks a signed one for counting from the end, at every access."""

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """Compile into the caller."""
    return numba.njit(inline="always")(function)  # pyright: ignore


def called(function: F) -> F:
    """Compile a function that only compiled ones call."""
    return numba.njit(**BARE)(function)  # pyright: ignore


@compiled
def _arithmetic(operation: int, left: int, right: int) -> int:
    if operation == ADD:
        return left + right
    if operation == SUB:
        return left - right
    if operation == MUL:
        return left * right
    if operation == MOD:
        return left % right
    if operation == DIV:
        return left // right
    if operation == MIN:
        return min(left, right)
    if operation == MAX:
        return max(left, right)
    return _comparison(operation, left, right)


@compiled
def _comparison(operation: int, left: int, right: int) -> int:
    if operation == EQ:
        return int(left == right)
    if operation == NE:
        return int(left != right)
    if operation == LT:
        return int(left < right)
    if operation == LE:
        return int(left <= right)
    if operation == GT:
        return int(left > right)
    return int(left >= right)


@compiled
def _overflows(operation: int, left: int, right: int, result: int) -> bool:
    if operation == MUL:
        return abs(float(left) * float(right)) >= LARGEST
    return result >= LARGEST or result <= -LARGEST


@compiled
def _binary(m: Longs, pc: int) -> int:
    operation, left, right = int(m[at(pc)]), int(m[at(m[at(pc + 2)])]), int(m[at(m[at(pc + 3)])])
    if right == 0 and (operation == DIV or operation == MOD):
        return -FAILED
    result = _arithmetic(operation, left, right)
    if _overflows(operation, left, right, result):
        return -TOO_LARGE
    m[at(m[at(pc + 1)])] = result
    return pc + WIDTH


@compiled
def _jump(m: Longs, pc: int) -> int:
    operation, a, b = m[at(pc)], m[at(pc + 1)], m[at(pc + 2)]
    if operation == JUMP:
        return a
    if operation == ZERO:
        return b if m[at(a)] == 0 else pc + WIDTH
    return m[at(pc + 3)] if m[at(a)] >= m[at(b)] else pc + WIDTH  # PAST


@compiled
def compute(m: Longs, pc: int) -> int:
    """Do one row before TURN. Return the next row, or minus the reason to stop."""
    operation, a, b, c = m[at(pc)], m[at(pc + 1)], m[at(pc + 2)], m[at(pc + 3)]
    if operation < MOVE:
        return _binary(m, pc)
    if operation >= JUMP:
        return _jump(m, pc)
    if operation == MOVE:
        m[at(a)] = m[at(b)]
    elif operation == FETCH:
        m[at(a)] = m[at(b + m[at(c)])]
    elif operation == STORE:
        m[at(a + m[at(c)])] = m[at(b)]
    elif operation == CHECK and not 0 <= m[at(a)] < b:
        m[VALUE] = m[at(a)]
        return -FAILED
    return pc + WIDTH


@compiled
def count_down(m: Longs) -> int:
    """Count something that is done, or return that it is one too many."""
    if m[LEFT] == 0:
        return TOO_LONG
    m[LEFT] -= 1
    return MOVED
