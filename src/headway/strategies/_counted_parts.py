"""What engine programs of the strategy `counted` are made of: registers, captures and waits.

Engines capture the same accesses and wait for the same positions, over and over: equal parts are
one object, for all engines.
"""

from __future__ import annotations

from collections.abc import Sequence

from headway.analysis.plan import Key, Site
from headway.analysis.reduce import Need
from headway.analysis.steps import WRITE, Steps
from headway.ir.expr import Binary, Expr
from headway.sync.program import Assign, RegisterRef, Threshold, Wait


class Parts:
    """The parts for one prepared program, made when they are first needed."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._shadows = [RegisterRef(f"shadow.{counter}") for counter in steps.counters]
        self._names: dict[Key, str] = {}
        self._registers: dict[tuple[int, int, int, int], RegisterRef] = {}
        self._counts: dict[tuple[int, int], Expr] = {}
        self._captures: dict[tuple[int, int], Assign] = {}
        self._rows: dict[tuple[int, int], tuple[Sequence[Site], list[Assign]]] = {}
        self._waits: dict[tuple[int, int, int, int], Wait] = {}

    def shadow(self, q: int) -> RegisterRef:
        """Return the register that counts the signals of a counter."""
        return self._shadows[q]

    def count(self, q: int, offset: int) -> Expr:
        """Return the number of signals of a counter, `offset` more than its register says."""
        found = self._counts.get((q, offset))
        if found is None:
            found = self._counts[q, offset] = plus(self._shadows[q], offset)
        return found

    def captures(self, sites: Sequence[Site], offset: int) -> list[Assign]:
        """Return the captures of that number at the accesses of an instruction."""
        found = self._rows.get((id(sites), offset))
        if found is None:
            row = [self._capture(site, offset) for site in sites]
            found = self._rows[id(sites), offset] = (sites, row)  # keeps the argument alive
        return found[1]

    def _capture(self, site: Site, offset: int) -> Assign:
        found = self._captures.get((id(site), offset))
        if found is None:
            (kind, q, place), slot, _ = site
            register, value = self._register(kind, q, place, slot), self.count(q, offset)
            found = self._captures[id(site), offset] = Assign(register, value)
        return found

    def _register(self, kind: int, q: int, place: int, slot: Expr) -> RegisterRef:
        """Return the register of a capture; equal slots are one object already."""
        number = (kind, q, place, id(slot))
        found = self._registers.get(number)
        if found is None:
            found = self._registers[number] = RegisterRef(self.name(Key(kind, q, place)), slot)
        return found

    def name(self, key: Key) -> str:
        """Return a name such as `write.q.x`, or `write.q.x.3` for atom 3."""
        name = self._names.get(key)
        if name is None:
            place = self._steps.places[key.place]
            kind = "write" if key.kind == WRITE else "access"
            atom = f".{place.atom}" if place.atom else ""
            name = f"{kind}.{self._steps.counters[key.counter]}.{place.buffer}{atom}"
            self._names[key] = name
        return name

    def wait(self, need: Need, offset: int) -> Wait:
        """Return a wait at a point where the count is `offset` more than its register says."""
        q, position, gap, kind, place, slot = need
        if position is not None:
            number = (q, -1, position, 0)
        elif gap is not None:
            number = (q, -2, offset - gap, 0)
        else:
            number = (kind, q, place, id(slot))
        wait = self._waits.get(number)
        if wait is None:
            if position is not None:
                threshold = Threshold(None, position)
            elif gap is not None:
                threshold = Threshold(self._shadows[q], offset - gap)
            else:
                threshold = Threshold(self._register(kind, q, place, slot))
            wait = self._waits[number] = Wait(self._steps.counters[q], threshold)
        return wait


def plus(expr: Expr, number: Expr) -> Expr:
    """Return a sum, computed as far as it is static."""
    if isinstance(number, int):
        if isinstance(expr, int):
            return expr + number
        if not number:
            return expr
        if isinstance(expr, Binary) and expr.operator == "+" and isinstance(expr.right, int):
            return plus(expr.left, expr.right + number)
        if number < 0:
            return Binary("-", expr, -number)
    return Binary("+", expr, number)


def times(factor: int, expr: Expr) -> Expr:
    """Return a product, computed as far as it is static."""
    if isinstance(expr, int):
        return factor * expr
    return expr if factor == 1 else Binary("*", factor, expr)
