"""Numbers for what may be captured: for sites, and for the keys that they share.

In     the spots of a prepared program, each a place with an expression for the slot
Out    for each step its sites: accesses by a counter to a spot, and its writes
Keeps  the key of a site, which says what a capture there holds, is that of all slots of the place
Cost   linear in the accesses; what belongs to a site is found in lists
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from headway.analysis.steps import ACCESS, WRITE, Step, Steps
from headway.analysis.touches import Spot


class Key(NamedTuple):
    """What a capture holds: the position of the last write or access of a place by a counter."""

    kind: int
    counter: int
    place: int


class Sites:
    """The sites of a prepared program. `keys` has the number of a key for each site.

    `groups` has a number for each counter and slot.
    """

    def __init__(self, steps: Steps) -> None:
        self._width = steps.sites_per_spot
        self._spots = steps.spots
        self.keys = self._numbers([spot.place for spot in self._spots], 1)
        self.groups = self._numbers([spot.shape for spot in self._spots], 2)
        self._of: dict[int, list[int]] = {}

    def _numbers(self, of_spots: Sequence[int], sharing: int) -> list[int]:
        """Return numbers of sites: one for so many `sharing` it, of all spots with a number."""
        width = self._width
        rows = {n: [n * width + i // sharing for i in range(width)] for n in set(of_spots)}
        return list(chain.from_iterable(map(rows.__getitem__, of_spots)))

    def key(self, number: int) -> Key:
        """Return the key of a number."""
        place, rest = divmod(number, self._width)
        return Key(rest & 1, rest >> 1, place)

    def spot(self, site: int) -> Spot:
        """Return the place and the slot of a site."""
        return self._spots[site // self._width]

    def of(self, step: Step) -> list[int]:
        """Return the sites of a step."""
        if step.at not in self._of:
            accesses, writes = 2 * step.counter + ACCESS, 2 * step.counter + WRITE
            sites: dict[int, None] = {}  # without a call for each: every step comes here
            for touch in step.shown_reads:
                sites[touch.sites + accesses] = None
            for touch in step.shown_writes:
                sites[touch.sites + accesses] = None
            for touch in step.shown_writes:
                sites[touch.sites + writes] = None
            self._of[step.at] = list(sites)
        return self._of[step.at]
