"""Rows of integers over one flat memory: values and control flow, which all users share.

Operands are addresses in memory, where constants, inputs, registers and iterations lie side by
side, behind the records of the user; a row is `operation, a, b, c, d, e`. Users add rows from `OWN`
on. The first two places of memory are `VALUE` and `LEFT`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from headway.errors import Location

# memory[a] := memory[b] OPERATION memory[c]
EQ, NE, LT, LE, GT, GE, ADD, SUB, MUL, DIV, MOD, MIN, MAX = range(13)
MOVE = 13  # memory[a] := memory[b]
FETCH = 14  # memory[a] := memory[b + memory[c]]
STORE = 15  # memory[a + memory[c]] := memory[b]
CHECK = 16  # stop unless 0 <= memory[a] < b
JUMP = 17  # go to a
ZERO = 18  # go to b if memory[a] = 0
PAST = 19  # go to c if memory[a] >= memory[b]
TURN = 20  # an iteration begins; it costs e
NEXT = 21  # memory[a] += 1; if it is below memory[b], an iteration begins, which costs d: go to c
OWN = 22

# Why a loop stops: nobody can go on, somebody could, or a row failed, and how. Users add reasons.
STILL, MOVED, FAILED, TOO_LARGE, TOO_LONG = range(5)

WIDTH = 6
AFTER = 5
"""The operand that says what a row costs when it is done."""

VALUE = 0
"""Where a row that stops leaves the value that it stopped at."""

LEFT = 1
"""How much more may be done before the run is too long."""

LARGEST = 2**62
"""Values are smaller than this, so that sums do not overflow."""

Fail = Callable[[int], Exception]
"""Makes the error of a row from the value that it stopped at."""


class TooLarge(Exception):
    """A value does not fit the compiled code."""


@dataclass(slots=True)
class Rows:
    """`rows` has `WIDTH` integers for each row; `loops` the place of the loop that it lies in.

    `memory` has its first values. `fails` says what is wrong if a row stops.
    """

    memory: list[int]
    rows: list[int] = field(default_factory=list[int])
    entries: list[int] = field(default_factory=list[int])
    loops: list[Location | None] = field(default_factory=list[Location | None])
    fails: dict[int, Fail] = field(default_factory=dict[int, Fail])

    def __len__(self) -> int:
        return len(self.loops)

    def emit(self, loop: Location | None, operation: int, *operands: int) -> int:
        """Append a row; return its number."""
        self.rows += (operation, *operands, *[0] * (WIDTH - 1 - len(operands)))
        self.loops.append(loop)
        return len(self.loops) - 1

    def land(self, row: int, operand: int, to: int) -> None:
        """Let the jump at `row` lead to the row `to`."""
        self.rows[row * WIDTH + operand] = to

    def place(self, values: list[int]) -> int:
        """Return the address of new memory with these values. Raise TooLarge."""
        if any(abs(value) >= LARGEST for value in values):
            raise TooLarge
        self.memory += values
        return len(self.memory) - len(values)
