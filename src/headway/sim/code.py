"""The code that engine programs are lowered to: rows of integers over one flat memory.

Operands are addresses in memory, where constants, inputs, registers and iterations lie side by
side, behind the records of `headway.sim.records`; a row is `operation, a, b, c, d, e`.
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

# Rows that take time: e ps more when they are done, spent on synchronization.
SPEND = 20
TURN = 21  # an iteration begins
NEXT = 22  # memory[a] += 1; if it is below memory[b], an iteration begins: spend d ps, go to c
AWAIT = 23  # wait for the counter at a to reach memory[b] + c
COMPUTE = 24  # issue the instruction at a; it is site b, with d iteration numbers as c lists them
TRANSFER = 25  # trigger the instruction at a, likewise
READ = 26  # load a control value, counted by the counter at a, likewise
GIVE = 27  # spend c ps; add a token to the flag at a when what the counter at b issued is complete
MEET = 28  # a barrier
END = 29

WIDTH = 6
AFTER = 5
"""The operand that says how long a row takes when it is done."""

LARGEST = 2**62
"""Values are smaller than this, so that sums do not overflow."""

Fail = Callable[[int], Exception]
"""Makes the error of a row from the value that it stopped at."""


class TooLarge(Exception):
    """A value does not fit the compiled simulator."""


@dataclass(slots=True)
class Code:
    """`rows` has `WIDTH` integers for each row; `loops` the place of the loop that it lies in.

    `memory` has its first values. `places` says where rows stand and `fails` what is wrong if they
    stop.
    """

    memory: list[int]
    rows: list[int] = field(default_factory=list[int])
    entries: list[int] = field(default_factory=list[int])
    loops: list[Location | None] = field(default_factory=list[Location | None])
    places: dict[int, Location | None] = field(default_factory=dict[int, Location | None])
    fails: dict[int, Fail] = field(default_factory=dict[int, Fail])
    sites: list[Site] = field(default_factory=list[Site])

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
