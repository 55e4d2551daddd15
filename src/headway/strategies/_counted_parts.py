"""What engine programs of the strategy `counted` are made of: registers, captures and waits.

Engines capture the same accesses and wait for the same positions, over and over: equal parts are
one object, for all engines.
"""

from __future__ import annotations

from headway.analysis.reduce import Need
from headway.analysis.sites import Sites
from headway.analysis.steps import WRITE, Steps
from headway.ir.expr import Binary, Expr
from headway.sync.program import Assign, RegisterRef, Threshold, Wait

_Row = tuple[list[int], int, list[Assign]]
"""Sites of a step, the offset of its counter, and the captures there."""


class Parts:
    """The parts for one prepared program, made when they are first needed."""

    def __init__(self, steps: Steps, sites: Sites) -> None:
        self._steps = steps
        self._sites = sites
        self._shadows = [RegisterRef(f"shadow.{counter}") for counter in steps.counters]
        self._names: dict[int, str] = {}  # by the number of a key
        self._counts: dict[tuple[int, int], Expr] = {}
        self._waits: dict[tuple[int, bool, int], Wait] = {}
        # By site; what engines capture there is most of the time the same.
        self._registers: list[RegisterRef | None] = [None] * len(sites.keys)
        self._captured_waits: list[Wait | None] = [None] * len(sites.keys)
        self._captures: list[Assign | None] = [None] * len(sites.keys)
        self._rows: list[_Row | None] = [None] * steps.size

    def shadow(self, q: int) -> RegisterRef:
        """Return the register that counts the signals of a counter."""
        return self._shadows[q]

    def count(self, q: int, offset: int) -> Expr:
        """Return the number of signals of a counter, `offset` more than its register says."""
        found = self._counts.get((q, offset))
        if found is None:
            found = self._counts[q, offset] = plus(self._shadows[q], offset)
        return found

    def captures(self, at: int, q: int, sites: list[int], offset: int) -> list[Assign]:
        """Return the captures of the count of q at the sites of a step."""
        row = self._rows[at]
        if row is None or row[0] is not sites or row[1] != offset:
            row = self._rows[at] = sites, offset, self._row(q, sites, offset)
        return row[2]

    def _row(self, q: int, sites: list[int], offset: int) -> list[Assign]:
        count = self.count(q, offset)
        row: list[Assign] = []
        for site in sites:
            found = self._captures[site]
            if found is None or found.value is not count:
                found = self._captures[site] = Assign(self.register(site), count)
            row.append(found)
        return row

    def register(self, site: int) -> RegisterRef:
        """Return the register of what is captured at a site."""
        found = self._registers[site]
        if found is None:
            name, slot = self.name(self._sites.keys[site]), self._sites.spot(site).slot
            found = self._registers[site] = RegisterRef(name, slot)
        return found

    def name(self, number: int) -> str:
        """Return the name of the registers of a key: `write.q.x`, or `write.q.x.3` for atom 3."""
        name = self._names.get(number)
        if name is None:
            key = self._sites.key(number)
            place = self._steps.places[key.place]
            kind = "write" if key.kind == WRITE else "access"
            atom = f".{place.atom}" if place.atom else ""
            name = f"{kind}.{self._steps.counters[key.counter]}.{place.buffer}{atom}"
            self._names[number] = name
        return name

    def wait(self, need: Need, offset: int) -> Wait:
        """Return a wait at a point where the count is `offset` more than its register says."""
        q, position, gap, site = need
        if site is None:
            if gap is None:
                return self._wait(q, None, position or 0)
            return self._wait(q, self._shadows[q], offset - gap)
        wait = self._captured_waits[site]
        if wait is None:
            threshold = Threshold(self.register(site))
            wait = self._captured_waits[site] = Wait(self._steps.counters[q], threshold)
        return wait

    def _wait(self, q: int, shadow: RegisterRef | None, offset: int) -> Wait:
        number = (q, shadow is None, offset)
        wait = self._waits.get(number)
        if wait is None:
            threshold = Threshold(shadow, offset)
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
