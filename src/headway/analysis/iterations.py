"""What one instruction waits for in several iterations that share its code.

In     its waits in each iteration of a loop that was walked as often as it runs
Out    the waits that serve in all of them
Keeps  a threshold is the one that an iteration needs, or known to be reached there anyway
Cost   linear in the waits

    loop i 8 {                    # in iteration 0 nobody has read the slot: PE >= -1 holds at once
      Q ld writes(b[i % 2])       # 1 signal ago in every other one: PE >= count - 1 in all
      PE mm reads(b[i % 2])
    }
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from headway.analysis.levels import NEAR, NEVER, REACH, Levels
from headway.analysis.reduce import Candidate, Need


class _Static(NamedTuple):
    """How a threshold can be had without a capture; None if not in all iterations so far."""

    position: int | None
    gap: int | None


class Iterations:
    """The waits of an instruction in the iterations so far."""

    def __init__(self, levels: Levels) -> None:
        self._levels = levels
        self._found: dict[int, tuple[Candidate, _Static]] = {}  # by site
        self._known: list[list[int]] = []  # after the waits of each iteration
        self._counts: list[list[int]] = []

    def add(self, found: Sequence[Candidate], known: Sequence[int]) -> None:
        """Add the waits of the next iteration, and what the engine knows after them."""
        new: dict[int, tuple[Candidate, _Static]] = {}
        for candidate in found:
            q, _, kind, touch = candidate
            new[touch.site(q, kind)] = (candidate, self._static(candidate))
        for key in self._found.keys() - new.keys():
            candidate, static = self._found[key]
            self._found[key] = (
                candidate,
                self._reached(static, candidate[0], known, self._levels.count),
            )
        for key, (candidate, static) in new.items():
            if key in self._found:
                static = _common(self._found[key][1], static)
            else:
                for before, count in zip(self._known, self._counts, strict=True):
                    static = self._reached(static, candidate[0], before, count)
            self._found[key] = (candidate, static)
        self._known.append(list(known))
        self._counts.append(list(self._levels.count))

    def needs(self, is_static: bool) -> list[Need]:
        """Return the waits that serve in all iterations; without `is_static` by capture."""
        needs: list[Need] = []
        for site, ((q, _, _, _), (position, gap)) in self._found.items():
            if is_static and position is not None:
                needs.append((q, position, None, None))
            elif is_static and gap is not None:
                needs.append((q, None, gap, None))
            else:
                needs.append((q, None, None, site))
        return needs

    def _static(self, candidate: Candidate) -> _Static:
        q, (low, high, _, _, _), _, _ = candidate
        gap = self._levels.count[q] - low
        if low != high or gap >= NEAR:
            return _Static(low if low == high and low < REACH else None, None)
        return _Static(low if low < REACH else None, gap)

    def _reached(
        self, static: _Static, q: int, known: Sequence[int], count: Sequence[int]
    ) -> _Static:
        """Keep what is known to be reached in an iteration that does not need the wait."""
        position, gap = static
        if position is not None and not self._levels.covers(q, known[q], position):
            position = None
        slack = known[q] - count[q]
        if gap is not None and (slack if slack > -NEAR else NEVER) < -gap:
            gap = None
        return _Static(position, gap)


def _common(a: _Static, b: _Static) -> _Static:
    position = a.position if a.position == b.position else None
    return _Static(position, a.gap if a.gap == b.gap else None)
