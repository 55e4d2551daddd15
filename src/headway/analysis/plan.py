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
from collections.abc import Iterable, Sequence

from headway.analysis.reduce import Need
from headway.analysis.sites import Sites
from headway.analysis.steps import AnyStep, IfStep, Step

Needs = Sequence[Sequence[Need]]


class Plan:
    """What one engine has to do besides its instructions. `at` numbers steps in textual order.

    `sites` are those at which it captures, by step.
    """

    def __init__(self, engine: int, needs: Needs, sites: Sites) -> None:
        self.engine = engine
        self.needs = needs
        self.sites: dict[int, list[int]] = {}
        self.last_read: dict[int, int] = {}  # step, by the key of a capture
        self._sites = sites
        self._last_use: defaultdict[int, int] = defaultdict(lambda: -1)
        self._places: list[int] = []

    @property
    def keys(self) -> list[int]:
        """The numbers of the keys of everything that is captured."""
        return sorted(self.last_read, key=self._sites.key)

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

    def note(self, at: int, waits: Sequence[Need]) -> None:
        """Note what the waits of the engine's next step read."""
        keys, last_read = self._sites.keys, self.last_read
        for counter, _, gap, site in waits:
            if site is not None:
                last_read[keys[site]] = at
            elif gap is not None:
                self._last_use[counter] = at

    def capture(self, step: Step, sites: list[int]) -> None:
        """Capture at the next step of which a capture is read."""
        self.sites[step.at] = sites
        self._places.append(step.at)
        self._last_use[step.counter] = max(self._last_use[step.counter], step.at)


def plans(
    engines: int, steps: Sequence[Step], needs: Needs, sites: Sites, horizons: Sequence[int]
) -> list[Plan]:
    """Return the plan of each engine."""
    found = [Plan(engine, needs, sites) for engine in range(engines)]
    for step, waits in zip(steps, needs, strict=True):
        if waits:
            found[step.engine].note(step.at, waits)
    _find_captures(found, steps, sites, horizons)
    return found


def _find_captures(
    found: Sequence[Plan], steps: Sequence[Step], sites: Sites, horizons: Sequence[int]
) -> None:
    """Find the accesses whose capture is read later (C17 shows one that is not)."""
    readers = _readers(found, sites)
    by_all = {  # up to where a capture is read by all that read captures of its counter
        number: min(plan.last_read.get(number, -1) for plan in readers[sites.key(number).counter])
        for plan in found
        for number in plan.last_read
    }
    for step in steps:
        if step.counter not in readers:
            continue
        every, horizon = sites.of(step), horizons[step.at]
        numbers = [sites.keys[site] for site in every]
        is_for_all = min([by_all.get(number, -1) for number in numbers], default=-1) >= horizon
        for plan in readers[step.counter]:
            # Engines that capture the same have one list, and so one list of operations.
            if is_for_all:
                plan.capture(step, every)
                continue
            last = plan.last_read.get
            some = [
                s for s, number in zip(every, numbers, strict=True) if last(number, -1) >= horizon
            ]
            if some:
                plan.capture(step, every if len(some) == len(every) else some)


def _readers(plans: Iterable[Plan], sites: Sites) -> dict[int, list[Plan]]:
    """Return for each counter the engines that read captures of it."""
    found: dict[int, list[Plan]] = {}
    for plan in plans:
        for counter in {sites.key(number).counter for number in plan.last_read}:
            found.setdefault(counter, []).append(plan)
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
