"""Waits for a capture that is never later than another one that the engine waited for before.

In     a prepared program with the waits that remain
Out    the same waits without some: what is left out is implied, on every path, by one that remains
Keeps  what an engine knows after each instruction
Cost   linear in the accesses, times the captures of one counter that are compared with each other

    loop i n {
      SP load_q triggers(Q) writes(q[i % 2])     # waits for the last access of PE to this slot of q
      SP load_u triggers(Q) writes(u[i % 2])     # ... of u, which is never later: no wait
      PE up reads(u[i % 2])
      PE down reads(q[i % 2])
    }

A capture A is *open* from an access of it until the next access of B to an equal slot in the same
body. Where it is not open, A is not later than B in any slot: the last access to a slot of A was
followed by one to that slot of B. Slots are compared as expressions, so that this holds for
captures whose positions are not known at all.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from headway.analysis.reduce import Need
from headway.analysis.sites import Sites
from headway.analysis.steps import AnyStep, LoopStep, Step

MOST = 16
"""Waits of one body, for equal slots of one counter, with which one more is compared."""

Body = tuple[AnyStep, ...]


class _Accesses(NamedTuple):
    """The accesses of one key in textual order: their steps, and which slot of which body."""

    steps: list[int]
    slots: list[int]


_Wait = tuple[int, int]
"""A wait that stays: the number of its step, and of its key."""

_Before = defaultdict[int, list[_Wait]]
"""Waits of an engine in a body that stay, by counter and slot."""


class Order:
    """Compares captures of a prepared program."""

    def __init__(self, body: Body, sites: Sites) -> None:
        self._sites = sites
        self._bodies = tuple(_bodies(body))
        self._found = defaultdict[int, list[tuple[int, int]]](list)  # accesses by key
        self._accesses: dict[int, _Accesses] = {}
        self._closing: dict[int, Set[int]] = {}
        self._open: dict[tuple[int, int], _Ranges | None] = {}

    def without_implied(self, needs: Sequence[Sequence[Need]]) -> Sequence[Sequence[Need]]:
        """Return the waits of each step without those that others imply."""
        keys = self._sites.keys
        captured = {site for waits in needs for _, _, _, site in waits if site is not None}
        awaited = {keys[site] for site in captured}
        if len(awaited) > 1:
            self._find_closing(awaited)
        if not self._closing:
            return needs
        found = list(needs)
        for body in self._bodies:
            before = defaultdict[int, _Before](lambda: defaultdict(list))  # by engine
            for step in body:
                if isinstance(step, Step) and not step.is_load:  # a load may be done later
                    found[step.at] = self._kept(step.at, needs[step.at], before[step.engine])
        return found

    def _find_closing(self, awaited: Set[int]) -> None:
        """Find for keys the others with an access wherever they have one: to the same slot there.

        They are of one counter, and waited for; keys without such others are left out.
        """
        sharing = self._index(awaited)
        for key, accesses in self._found.items():
            closing = awaited
            for slot in {slot for _, slot in accesses}:
                closing = closing & sharing[slot]
                if len(closing) < 2:
                    break
            else:
                self._closing[key] = closing - {key}

    def _index(self, awaited: Set[int]) -> list[set[int]]:
        """Note the accesses of some keys; return those of a counter for each slot of a body."""
        keys, groups = self._sites.keys, self._sites.groups
        sharing: list[set[int]] = []
        for body in self._bodies:
            slots: dict[int, int] = {}
            for step in body:
                if not isinstance(step, Step):
                    continue
                for site in self._sites.of(step):
                    key = keys[site]
                    if key not in awaited:
                        continue
                    slot = slots.setdefault(groups[site], len(sharing))
                    if slot == len(sharing):
                        sharing.append(set())
                    sharing[slot].add(key)
                    self._found[key].append((step.at, slot))
        return sharing

    def _kept(self, at: int, needs: Sequence[Need], before: _Before) -> Sequence[Need]:
        """Return the waits of a step that none before, and no other of its own, implies."""
        keys, groups = self._sites.keys, self._sites.groups
        own: list[tuple[Need, list[_Wait], _Wait]] = []
        for need in needs:
            site = need[3]
            if site is not None:
                waits, wait = before[groups[site]], (at, keys[site])
                waits.append(wait)
                if keys[site] in self._closing:
                    own.append((need, waits, wait))
        implied: set[int] = set()  # by identity: a step may have equal waits, of which one stays
        for need, waits, wait in own:
            if self._is_implied(waits, wait):
                waits.remove(wait)
                implied.add(id(need))
        return [need for need in needs if id(need) not in implied] if implied else needs

    def _is_implied(self, waits: list[_Wait], wait: _Wait) -> bool:
        closing = self._closing[wait[1]]
        for other in waits[-MOST:]:
            if other[1] in closing and self._implies(other, wait):
                return True
        return False

    def _implies(self, one: _Wait, other: _Wait) -> bool:
        """Tell whether a wait of an engine says as much as another, that is not before it."""
        (at, key), (later_at, later_key) = one, other
        pair = later_key, key
        if pair not in self._open:
            self._open[pair] = self._ranges(*pair)
        ranges = self._open[pair]
        if ranges is None or ranges.has(at):
            return False
        steps = self._of(later_key).steps
        return at == later_at or bisect_left(steps, at) == bisect_left(steps, later_at)

    def _ranges(self, one: int, other: int) -> _Ranges | None:
        """Return where an access of `one` is later than `other`; None if that may be anywhere."""
        opening, closing = self._of(one), self._of(other)
        found: list[tuple[int, int]] = []
        for at, slot in zip(*opening, strict=True):
            first = bisect_left(closing.steps, at)
            near = closing.slots[first : first + MOST]
            if slot not in near:
                return None
            found.append((at, closing.steps[first + near.index(slot)]))
        return _Ranges(found)

    def _of(self, key: int) -> _Accesses:
        """Return the accesses of a key that is waited for."""
        found = self._accesses.get(key)
        if found is None:
            accesses = sorted(self._found[key])
            steps, slots = [at for at, _ in accesses], [slot for _, slot in accesses]
            found = self._accesses[key] = _Accesses(steps, slots)
        return found


class _Ranges:
    """Ranges of steps, in the order in which they begin: behind `first` up to `last`."""

    def __init__(self, ranges: Sequence[tuple[int, int]]) -> None:
        self._firsts = [first for first, _ in ranges]
        self._reach: list[int] = []  # how far those up to here reach
        for _, last in ranges:
            self._reach.append(max(last, self._reach[-1]) if self._reach else last)

    def has(self, at: int) -> bool:
        """Tell whether a step is in one of them."""
        count = bisect_left(self._firsts, at)
        return count > 0 and at <= self._reach[count - 1]


def _bodies(body: Body) -> Iterator[Body]:
    """Yield each straight sequence of steps: what stands in it is executed as often."""
    yield body
    for step in body:
        if isinstance(step, Step):
            continue
        yield step.loads  # those of a while once more than its body
        for inside in (step.body,) if isinstance(step, LoopStep) else (step.then, step.orelse):
            yield from _bodies(inside)
