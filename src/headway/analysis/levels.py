"""Positions of signals as plain integers that compare, although loops make them unknown.

In     a walk over a program that counts the signals of each counter
Out    levels: integers such that a larger one is a later signal, as far as that is known
Keeps  `covers` says yes only if it holds on every path; `meet` and `join` bound both arguments
Cost   a signal costs one addition, a loop costs nothing for what it does not touch

A level is `zone * SPAN + offset`: the position `P + offset`, where P is the count at the point
where the zone was opened: at the header of a loop, anew in every iteration, or behind an if whose
branches signal differently. Levels of one zone have a known distance. A level of an older zone is
older, by an unknown distance. So opening a zone is all that a loop does to what was recorded
before; only what its body touches is looked at.

    Q ld writes(w)       # level 1
    loop n {             # zone 5 opens at the count 1: `floor` of zone 5 is level 1
      Q ld writes(b)     # level 5 * SPAN + 1; behind the back edge 5 * SPAN + 0, one signal ago
    }
"""

from __future__ import annotations

import itertools

SPAN = 1 << 32
REACH = SPAN >> 2  # offsets lie in (-REACH, REACH)
NEAR = SPAN >> 1  # levels closer than this lie in one zone
NEVER = -(1 << 62)  # before every signal
FAR = 64  # zones that are gone through to find a bound of two levels; then none is known


def zone_of(level: int) -> int:
    """Return the number of the zone that a level lies in."""
    return (level + REACH) // SPAN


class Levels:
    """The current count of every counter, and where each zone was opened at the earliest."""

    def __init__(self, counters: int, has_groups: bool = True) -> None:
        self.count = [0] * counters
        self.nothing = (NEVER,) * counters
        self.has_groups = has_groups
        # A number for each access that is visited, if it may touch several atoms.
        self.groups = itertools.count() if has_groups else itertools.repeat(0)
        self._floors: list[dict[int, int]] = [{0: NEVER} for _ in range(counters)]

    def open(self, q: int, zone: int, floor: int) -> None:
        """Start a zone at a count that is at least `floor`, a level of an older zone."""
        self._floors[q][zone] = floor
        self.count[q] = zone * SPAN

    def down(self, q: int, level: int) -> int:
        """Return a lower bound of a level in an older zone."""
        zone = zone_of(level)
        # A positive offset is dropped: on another path the older zone may not have got so far.
        return self._floors[q][zone] + min(level - zone * SPAN, 0)

    def covers(self, q: int, known: int, level: int) -> bool:
        """Tell whether `known` is at least `level` on every path (yes is exact, no may be not)."""
        distance = known - level
        while distance >= NEAR:
            if known >= zone_of(known) * SPAN:
                return True  # everything of older zones comes before this one was opened
            known = self.down(q, known)
            distance = known - level
        return distance >= 0

    def meet(self, q: int, a: int, b: int) -> int:
        """Return a lower bound of both."""
        for _ in range(FAR):
            if a < b:
                a, b = b, a
            if a - b < NEAR:
                return b
            if b <= NEVER:
                break
            a = self.down(q, a)
        return NEVER

    def meets(self, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
        """Return the lower bounds of levels of every counter."""
        if a == b:
            return a
        nothing, meet = self.nothing, self.meet
        if a is nothing or b is nothing:
            return nothing
        return tuple(
            [x if x == y else meet(q, x, y) for q, (x, y) in enumerate(zip(a, b, strict=True))]
        )

    def is_static(self, q: int, low: int, high: int) -> bool:
        """Tell whether a level between the bounds has one known distance from the current count."""
        return low == high and self.count[q] - low < NEAR

    def join(self, a: int, b: int) -> int:
        """Return an upper bound of both."""
        if a < b:
            a, b = b, a
        return a if a - b < NEAR else max(a, zone_of(a) * SPAN)


class Shift:
    """How the levels of a path read behind the point where it meets another one.

    There the count of some counters starts a zone anew. A level in the zone of the path's own count
    keeps its distance to the count. Of others, those older than zone `older` keep their meaning
    through the meeting; what lies between has lost it, and only bounds remain.
    """

    __slots__ = ("_base", "_by", "_levels", "_limit", "_memory", "_older", "is_empty")

    def __init__(self, levels: Levels) -> None:
        counters = len(levels.count)
        self._levels = levels
        self._by = [0] * counters
        self._limit = [NEVER] * counters  # no counter moves until it is added
        self._older = [NEVER] * counters
        self._base = [0] * counters
        self._memory: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self.is_empty = True

    def add(self, q: int, count: int, base: int, older: int) -> None:
        """Let the count of the path be `base` from now on."""
        self.is_empty = False
        self._by[q] = count - base
        self._limit[q] = zone_of(count) * SPAN - REACH
        self._older[q] = older * SPAN - REACH
        self._base[q] = base

    def lower(self, q: int, level: int) -> int:
        """Return a lower bound of a level, in its new reading."""
        if level >= self._limit[q]:
            return level - self._by[q]
        older = self._older[q]
        while level >= older:
            level = self._levels.down(q, level)
        return level

    def upper(self, q: int, level: int) -> int:
        """Return an upper bound of a level, in its new reading."""
        if level >= self._limit[q]:
            return level - self._by[q]
        return level if level < self._older[q] else self._base[q]

    def lowers(self, known: tuple[int, ...]) -> tuple[int, ...]:
        """Return `lower` of a level of every counter. Records of one signal share the argument."""
        found = self._memory.get(id(known))
        if found is None:
            lower = self.lower
            levels = [
                v - by if v >= limit else v if v < older else lower(q, v)
                for q, (v, by, limit, older) in enumerate(
                    zip(known, self._by, self._limit, self._older, strict=True)
                )
            ]
            found = self._memory[id(known)] = (known, tuple(levels))  # keeps the argument alive
        return found[1]
