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
    """An access at which the count is captured. `number` is that of its key."""

    key: Key
    slot: Expr
    number: int


Needs = Sequence[Sequence[Need]]


class Sites:
    """What may be captured at each step. Equal sites are one object, as their slots are."""

    def __init__(self, counters: int) -> None:
        self._counters = counters
        self._sites: dict[tuple[int, int], Site] = {}
        self._of: dict[int, list[Site]] = {}

    def number(self, kind: int, counter: int, place: int) -> int:
        """Return a number for a key: quick to look up, and in no order."""
        return (place * self._counters + counter) * 2 + kind

    def key(self, number: int) -> Key:
        """Return the key of a number."""
        place, counter = divmod(number >> 1, self._counters)
        return Key(number & 1, counter, place)

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
        slot = touch.slot
        number = (touch.place * self._counters + counter) * 2 + kind
        site = self._sites.get((number, id(slot)))
        if site is None:
            site = Site(Key(kind, counter, touch.place), slot, number)
            self._sites[number, id(slot)] = site
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
        self._sites = sites
        self._last_read: dict[int, int] = {}  # by the number of a key
        self._last_use: defaultdict[int, int] = defaultdict(lambda: -1)
        for at, step in enumerate(steps):
            if step.engine == engine and (waits := needs[at]):
                self._note(at, waits)
        if self._last_read:
            self._find_sites(steps, horizons)
        self._places = sorted(self.sites)

    @property
    def keys(self) -> list[Key]:
        """Everything that is captured."""
        return sorted(map(self._sites.key, self._last_read))

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

    def places(self, start: int, end: int) -> list[int]:
        """Return the steps of a range at which something is captured."""
        return self._places[bisect_left(self._places, start) : bisect_left(self._places, end)]

    def _note(self, at: int, waits: Sequence[Need]) -> None:
        self.needs[at] = waits
        number, last_read = self._sites.number, self._last_read
        for counter, position, gap, kind, place, _ in waits:
            if position is not None:
                continue
            if gap is None:
                last_read[number(kind, counter, place)] = at
            else:
                self._last_use[counter] = at

    def _find_sites(self, steps: Sequence[Step], horizons: Sequence[int]) -> None:
        """Find the accesses whose capture is read later (C17 shows one that is not)."""
        last_read, sites_of = self._last_read.get, self._sites.of
        captured = {self._sites.key(number).counter for number in self._last_read}
        for step in steps:
            if step.counter in captured:
                horizon = horizons[step.at]
                every = sites_of(step)
                found = [site for site in every if last_read(site[2], -1) >= horizon]
                if found:
                    # Engines that capture the same have one list, and so one list of operations.
                    self.sites[step.at] = every if len(found) == len(every) else found
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
