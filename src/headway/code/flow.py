"""Lower loops and ifs: what sequential and synchronized programs have in common.

loop i n { ... }      CHECK n >= 0
                      MOVE  i, 0
                      PAST  i, n, exit
                      TURN
                 head ...
                      NEXT  i, n, head
                 exit
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from headway.code import rows as op
from headway.code.rows import Fail, Rows
from headway.code.values import Shared, Values
from headway.errors import Location
from headway.ir.expr import Expr

R = TypeVar("R", bound=Rows)


class Flow(Generic[R]):
    """Lowers the body of one program; subclasses know its nodes.

    `registers` are address and size by name, `at` the place of the program, `turn_cost` what an
    iteration costs.
    """

    def __init__(
        self,
        code: R,
        shared: Shared,
        registers: Mapping[str, tuple[int, int]],
        at: Location | None,
        turn_cost: int = 0,
    ) -> None:
        self._code = code
        self._shared = shared
        self._values = Values(code, shared, registers)
        self._loop = at
        self._turn_cost = turn_cost

    def _emit(self, operation: int, *operands: int) -> int:
        """Append a row that does more than compute; return its number."""
        return self._code.emit(self._loop, operation, *operands)

    def _label(self) -> int:
        """Return the number of the next row, to which a jump leads."""
        return len(self._code)

    def _lower(self, expr: Expr, at: Location | None, into: int | None = None) -> int:
        return self._values.lower(expr, self._loop, at, into)

    def _land(self, row: int, operand: int) -> None:
        self._code.land(row, operand, self._label())

    def _counted(
        self,
        iteration: str,
        trip: Expr,
        at: Location | None,
        negative: Fail,
        body: Callable[[], None],
        first: int = 0,
    ) -> None:
        """Lower a loop that runs `trip` times; `negative` makes the error of a negative count.

        Its iterations are numbered from `first`.
        """
        # A copy: the registers of the expression may change inside the loop.
        count = self._lower(trip, at, into=self._code.place([0]))
        self._values.check(count, op.LARGEST, negative)
        if first:
            self._emit(op.ADD, count, count, self._shared.constant(first))
        with self._values.scope():
            place = self._enter(iteration, first)
            test = self._emit(op.PAST, place, count, 0)
            turn = self._turn(at, body)
            cost = self._code.rows[turn * op.WIDTH + op.AFTER]
            self._code.emit(at, op.NEXT, place, count, turn + 1, cost)
        self._leave(iteration, test, 3)

    def _conditional(
        self,
        iteration: str,
        condition: Expr,
        at: Location | None,
        load: Callable[[], None],
        body: Callable[[], None],
    ) -> None:
        """Lower a loop that runs while `condition` is not 0; `load` comes before every test."""
        with self._values.scope():
            place = self._enter(iteration)
            head = self._label()
            load()
            test = self._emit(op.ZERO, self._lower(condition, at), 0)
            self._turn(at, body)
            self._emit(op.ADD, place, place, self._shared.constant(1))
            self._emit(op.JUMP, head)
        self._leave(iteration, test, 2)

    def _choice(self, condition: int, then: Callable[[], None], orelse: Callable[[], None]) -> None:
        """Lower an if whose condition lies at an address."""
        test = self._emit(op.ZERO, condition, 0)
        with self._values.scope():
            then()
        end = self._emit(op.JUMP, 0)
        self._land(test, 2)
        with self._values.scope():
            orelse()
        self._land(end, 1)

    def _enter(self, iteration: str, first: int = 0) -> int:
        place = self._code.place([0])
        self._values.iterations[iteration] = place
        self._emit(op.MOVE, place, self._shared.constant(first))
        return place

    def _turn(self, at: Location | None, body: Callable[[], None]) -> int:
        """Lower one iteration; return the row of its cost, at its beginning."""
        outer, self._loop = self._loop, at
        turn = self._emit(op.TURN, 0, 0, 0, 0, self._turn_cost)
        body()
        self._end_of_turn()
        self._loop = outer
        return turn

    def _end_of_turn(self) -> None:
        """Finish what the last rows of an iteration left open."""

    def _leave(self, iteration: str, test: int, operand: int) -> None:
        del self._values.iterations[iteration]
        self._land(test, operand)
