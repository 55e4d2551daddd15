"""The code that engine programs are lowered to: rows of integers over one flat memory.

Every operand is an address in memory, where constants, inputs, registers and iterations lie side
by side; a row is `operation, a, b, c, d`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from headway.errors import Location
from headway.sim.timeline import Site

# memory[a] := memory[b] OPERATION memory[c]
EQ, NE, LT, LE, GT, GE, ADD, SUB, MUL, DIV, MOD, MIN, MAX = range(13)
MOVE = 13  # memory[a] := memory[b]
FETCH = 14  # memory[a] := memory[b + memory[c]]
STORE = 15  # memory[a + memory[c]] := memory[b]
CHECK = 16  # stop unless 0 <= memory[a] < b
JUMP = 17  # go to a
ZERO = 18  # go to b if memory[a] = 0
PAST = 19  # go to c if memory[a] >= memory[b]
NEXT = 20  # memory[a] += 1, go to b

SPEND = 21  # spend a ps on synchronization
TURN = 22  # an iteration begins: spend a ps on synchronization
AWAIT = 23  # wait for counter a >= memory[b] + c, then spend d ps
COMPUTE = 24  # issue instruction a at site b
TRANSFER = 25  # trigger instruction a at site b
READ = 26  # load a control value: counter a, site b
GIVE = 27  # spend c ps; add a token to flag a when all that was issued on counter b is complete
MEET = 28  # a barrier
END = 29

WIDTH = 5

HEADER = 20
"""Addresses that the kernel keeps for itself; values come after them."""

LARGEST = 2**62
"""Values are smaller than this, so that sums do not overflow."""

Fail = Callable[[int], Exception]
"""Makes the error of a row from the value that it stopped at."""


class TooLarge(Exception):
    """A value does not fit the compiled simulator."""


@dataclass(slots=True)
class Code:
    """`rows` has `WIDTH` integers for each row; `loops` the place of the loop that it lies in.

    `places` says where rows stand and `fails` what is wrong if they stop. The iteration numbers of
    site s lie in memory at `scopes[first_scope[s]:first_scope[s + 1]]`.
    """

    rows: list[int] = field(default_factory=list[int])
    memory: list[int] = field(default_factory=lambda: [0] * HEADER)
    entries: list[int] = field(default_factory=list[int])
    loops: list[Location | None] = field(default_factory=list[Location | None])
    places: dict[int, Location | None] = field(default_factory=dict[int, Location | None])
    fails: dict[int, Fail] = field(default_factory=dict[int, Fail])
    sites: list[Site] = field(default_factory=list[Site])
    scopes: list[int] = field(default_factory=list[int])
    first_scope: list[int] = field(default_factory=lambda: [0])

    def __len__(self) -> int:
        return len(self.loops)

    def emit(self, loop: Location | None, operation: int, *operands: int) -> int:
        """Append a row; return its number."""
        self.rows += (operation, *operands, *[0] * (WIDTH - 1 - len(operands)))
        self.loops.append(loop)
        return len(self.loops) - 1

    def land(self, row: int, operand: int) -> None:
        """Let the jump at `row` lead to the next row."""
        self.rows[row * WIDTH + operand] = len(self.loops)

    def place(self, values: list[int]) -> int:
        """Return the address of new memory with these values. Raise TooLarge."""
        if any(abs(value) >= LARGEST for value in values):
            raise TooLarge
        self.memory += values
        return len(self.memory) - len(values)
