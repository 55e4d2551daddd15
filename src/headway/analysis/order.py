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
from collections.abc import Iterator, Sequence

from headway.analysis.reduce import Need
from headway.analysis.sites import Sites
from headway.analysis.steps import AnyStep, LoopStep, Step

MOST = 16
"""Waits of one body, for equal slots of one counter, with which one more is compared."""

Body = tuple[AnyStep, ...]


class _Accesses:
    """The accesses of one key in textual order: their steps, and their bodies with their slots."""

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.keys: list[tuple[int, int]] = []


_Wait = tuple[int, int]
"""A wait that stays: the number of its step, and of its key."""

_Before = defaultdict[tuple[int, int, int], list[_Wait]]
"""Waits of a body that stay, by engine, counter and slot; equal slots are one object."""


class Order:
    """Compares captures of a prepared program."""

    def __init__(self, body: Body, sites: Sites) -> None:
        self._sites = sites
        self._bodies = tuple(_bodies(body))
        self._accesses = defaultdict[int, _Accesses](_Accesses)  # by the number of a key
        self._sharing = defaultdict[tuple[int, int], set[int]](set)  # keys, by body and slot
        self._closing: dict[int, set[int]] = {}
        self._open: dict[tuple[int, int], _Ranges | None] = {}

    def without_implied(self, needs: Sequence[Sequence[Need]]) -> Sequence[Sequence[Need]]:
        """Return the waits of each step without those that others imply."""
        found = list(needs)
        for body in self._bodies:
            before: _Before = defaultdict(list)
            for step in body:
                if not isinstance(step, Step) or step.is_load:
                    continue  # a load may be done later
                if any(map(_is_capture, needs[step.at])):
                    found[step.at] = self._kept(step, needs[step.at], before)
        return found

    def _kept(self, step: Step, needs: Sequence[Need], before: _Before) -> list[Need]:
        """Return the waits of a step that none before, and no other of its own, implies."""
        keys, spot = self._sites.keys, self._sites.spot
        own: list[tuple[list[_Wait], _Wait] | None] = []
        for need in needs:
            q, _, _, site = need
            if _is_capture(need):
                waits, wait = before[step.engine, q, id(spot(site).slot)], (step.at, keys[site])
                waits.append(wait)
                own.append((waits, wait))
            else:
                own.append(None)
        kept: list[Need] = []
        for need, capture in zip(needs, own, strict=True):
            if capture and self._is_implied(*capture):
                waits, wait = capture
                waits.remove(wait)
            else:
                kept.append(need)
        return kept

    def _is_implied(self, waits: list[_Wait], wait: _Wait) -> bool:
        if len(waits) < 2:
            return False
        closing = self._closing_keys(wait[1])
        if not closing:
            return False
        near = waits[-MOST:]
        return any(self._implies(other, wait) for other in near if other[1] in closing)

    def _closing_keys(self, key: int) -> set[int]:
        """Return the other keys with an access wherever this one has: to the same slot there."""
        found = self._closing.get(key)
        if found is None:
            accesses = self._index()[key]
            sharing = (self._sharing[place] - {key} for place in set(accesses.keys))
            found = next(sharing, set[int]())
            for others in sharing:
                if not found:
                    break
                found = found & others
            self._closing[key] = found
        return found

    def _implies(self, one: _Wait, other: _Wait) -> bool:
        """Tell whether a wait of an engine says as much as another, that is not before it."""
        (at, key), (later_at, later_key) = one, other
        pair = later_key, key
        if pair not in self._open:
            self._open[pair] = self._ranges(*pair)
        ranges = self._open[pair]
        if ranges is None or ranges.has(at):
            return False
        steps = self._index()[later_key].steps
        return at == later_at or bisect_left(steps, at) == bisect_left(steps, later_at)

    def _ranges(self, one: int, other: int) -> _Ranges | None:
        """Return where an access of `one` is later than `other`; None if that may be anywhere."""
        accesses = self._index()
        closing = accesses[other]
        found: list[tuple[int, int]] = []
        for at, key in zip(accesses[one].steps, accesses[one].keys, strict=True):
            first = bisect_left(closing.steps, at)
            near = closing.keys[first : first + MOST]
            if key not in near:
                return None
            found.append((at, closing.steps[first + near.index(key)]))
        return _Ranges(found)

    def _index(self) -> defaultdict[int, _Accesses]:
        """Note all accesses when they are first asked for."""
        if not self._accesses:
            found = [
                (step.at, self._sites.keys[site], (number, id(self._sites.spot(site).slot)))
                for number, body in enumerate(self._bodies)
                for step in body
                if isinstance(step, Step)
                for site in self._sites.of(step)
            ]
            for at, number, key in sorted(found):
                self._accesses[number].steps.append(at)
                self._accesses[number].keys.append(key)
                self._sharing[key].add(number)
        return self._accesses


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


def _is_capture(need: Need) -> bool:
    _, position, gap, _ = need
    return position is None and gap is None


def _bodies(body: Body) -> Iterator[Body]:
    """Yield each straight sequence of steps: what stands in it is executed as often."""
    yield body
    for step in body:
        if isinstance(step, Step):
            continue
        yield step.loads  # those of a while once more than its body
        for inside in (step.body,) if isinstance(step, LoopStep) else (step.then, step.orelse):
            yield from _bodies(inside)
