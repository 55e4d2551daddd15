"""What one engine has to count and to capture, and up to where.

In     a prepared program with the waits that remain
Out    for one engine: its waits, the counters and captures that later waits read, and the accesses
       at which it captures
Keeps  everything that a wait reads is counted or captured on every path to it
Cost   linear in the steps
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from headway.analysis.steps import ACCESS, WRITE, AnyStep, IfStep, Step
from headway.analysis.visit import Need
from headway.ir.expr import Expr


class Key(NamedTuple):
    """What a capture holds: the position of the last write or access of a place by a counter."""

    kind: int
    counter: int
    place: int


class Site(NamedTuple):
    """An access at which the count is captured."""

    key: Key
    slot: Expr


Needs = Mapping[tuple[str, int], Sequence[Need]]


class Plan:
    """What one engine has to do besides its instructions. `at` numbers steps in textual order."""

    def __init__(
        self, engine: int, steps: Sequence[Step], needs: Needs, horizons: Sequence[int]
    ) -> None:
        self.engine = engine
        self.needs: dict[int, Sequence[Need]] = {}
        self.sites: dict[int, list[Site]] = {}
        self._last_read: dict[Key, int] = {}
        self._last_use: defaultdict[int, int] = defaultdict(lambda: -1)
        for at, step in enumerate(steps):
            if step.engine == engine and (waits := needs.get((step.name, engine))):
                self._note(at, waits)
        if self._last_read:
            self._find_sites(steps, horizons)
        self._places = sorted(self.sites)

    @property
    def keys(self) -> list[Key]:
        """Everything that is captured."""
        return sorted(self._last_read)

    @property
    def counters(self) -> list[int]:
        """Everything that is counted."""
        return sorted(self._last_use)

    def is_used(self, q: int, horizon: int) -> bool:
        """Tell whether the count of q is read from `horizon` on."""
        return q in self._last_use and self._last_use[q] >= horizon

    def has_sites(self, start: int, size: int) -> bool:
        """Tell whether something is captured in a range of steps."""
        first = bisect_left(self._places, start)
        return first < len(self._places) and self._places[first] < start + size

    def _note(self, at: int, waits: Sequence[Need]) -> None:
        self.needs[at] = waits
        for need in waits:
            if need.position is not None:
                continue
            if need.gap is None:
                self._last_read[Key(need.kind, need.counter, need.place)] = at
            else:
                self._last_use[need.counter] = at

    def _find_sites(self, steps: Sequence[Step], horizons: Sequence[int]) -> None:
        """Find the accesses whose capture is read later (C17 shows one that is not)."""
        for at, step in enumerate(steps):
            for site in _sites(step):
                if self._last_read.get(site.key, -1) >= horizons[at]:
                    self.sites.setdefault(at, []).append(site)
                    self._last_use[site.key.counter] = max(self._last_use[site.key.counter], at)


def _sites(step: Step) -> dict[Site, None]:
    found: dict[Site, None] = {}
    for touch in (*step.reads, *step.writes):
        found[Site(Key(ACCESS, step.counter, touch.place), touch.slot)] = None
    for touch in step.writes:
        found[Site(Key(WRITE, step.counter, touch.place), touch.slot)] = None
    return found


def horizons(steps: Sequence[AnyStep]) -> list[int]:
    """Return for each step the first one that may come after it: the loop around it begins anew."""
    found: list[int] = []
    _horizons(steps, -1, found)
    return found


def _horizons(steps: Sequence[AnyStep], start: int, found: list[int]) -> None:
    for step in steps:
        if isinstance(step, Step):
            found.append(start if start >= 0 else len(found) + 1)
            continue
        if isinstance(step, IfStep):
            _horizons((*step.loads, *step.then, *step.orelse), start, found)
            continue
        if not step.is_while:
            _horizons(step.loads, start, found)
        inner = start if start >= 0 else len(found)
        _horizons((*step.loads, *step.body) if step.is_while else step.body, inner, found)
