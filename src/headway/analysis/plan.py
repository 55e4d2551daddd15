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
from collections.abc import Sequence
from typing import NamedTuple

from headway.analysis.reduce import Need
from headway.analysis.steps import ACCESS, WRITE, AnyStep, IfStep, Step
from headway.analysis.touches import Touch
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


Needs = Sequence[Sequence[Need]]


class Sites:
    """What may be captured at each step. Equal sites are one object, as their slots are."""

    def __init__(self) -> None:
        self._sites: dict[tuple[int, int, int, int], Site] = {}
        self._of: dict[int, list[Site]] = {}

    def of(self, step: Step) -> list[Site]:
        """Return the sites of a step."""
        found = self._of.get(step.at)
        if found is None:
            touches = [(ACCESS, touch) for touch in (*step.shown_reads, *step.shown_writes)]
            touches += [(WRITE, touch) for touch in step.shown_writes]
            sites = {id(site): site for site in (self._site(step.counter, *t) for t in touches)}
            found = self._of[step.at] = list(sites.values())
        return found

    def _site(self, counter: int, kind: int, touch: Touch) -> Site:
        key = (kind, counter, touch.place, id(touch.slot))
        site = self._sites.get(key)
        if site is None:
            site = self._sites[key] = Site(Key(kind, counter, touch.place), touch.slot)
        return site


class Plan:
    """What one engine has to do besides its instructions. `at` numbers steps in textual order."""

    def __init__(
        self,
        engine: int,
        steps: Sequence[Step],
        needs: Needs,
        sites: Sites,
        horizons: Sequence[int],
    ) -> None:
        self.engine = engine
        self.needs: dict[int, Sequence[Need]] = {}
        self.sites: dict[int, list[Site]] = {}
        self._last_read: dict[Key, int] = {}
        self._last_use: defaultdict[int, int] = defaultdict(lambda: -1)
        for at, step in enumerate(steps):
            if step.engine == engine and (waits := needs[at]):
                self._note(at, waits)
        if self._last_read:
            self._find_sites(steps, sites, horizons)
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

    def _find_sites(self, steps: Sequence[Step], sites: Sites, horizons: Sequence[int]) -> None:
        """Find the accesses whose capture is read later (C17 shows one that is not)."""
        last_read = self._last_read
        captured = {key.counter for key in last_read}
        for step in steps:
            if step.counter in captured:
                horizon = horizons[step.at]
                found = [s for s in sites.of(step) if last_read.get(s.key, -1) >= horizon]
                if found:
                    self.sites[step.at] = found
                    self._last_use[step.counter] = max(self._last_use[step.counter], step.at)


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
