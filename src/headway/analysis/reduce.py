"""Which of several waits of one instruction remain.

In     the last accesses that an instruction has to wait for, and its engine does not know of
Out    those that no other of them implies
Keeps  what is left out is implied, on every path, by a wait that remains
Cost   quadratic in the waits of one instruction
"""

from __future__ import annotations

from headway.analysis.levels import NEAR, REACH, Levels
from headway.analysis.records import LONE, Record
from headway.analysis.steps import Steps
from headway.analysis.touches import Touch

Candidate = tuple[int, Record, int, Touch]
"""A wait that may be needed: its counter, the last access, of which kind, and what touches it."""


Need = tuple[int, int | None, int | None, int | None]
"""`(counter, position, gap, site)` of a wait that remains.

It is for a fixed position, for `gap` signals ago, or for what was captured at a site: one of the
three is not None.
"""


def without_copies(found: list[Candidate], steps: Steps) -> list[Candidate]:
    """Keep one of the waits for atoms that were always touched together: one group."""
    kept: dict[tuple[int, str, int], Candidate] = {}
    for number, candidate in enumerate(found):
        _, (_, _, _, _, group), _, touch = candidate
        if touch.cell < 0 or group == LONE:
            kept[-1 - number, "", 0] = candidate
        else:
            place = steps.places[touch.place]
            slot = touch.cell - place.cells[0]
            kept.setdefault((group, place.buffer, slot), candidate)
    return list(kept.values())


def undominated(found: list[Candidate], levels: Levels) -> list[Candidate]:
    """Drop waits for signals before another one on their counter, on all paths (C5)."""
    latest: dict[int, Candidate] = {}
    for candidate in found:
        q = candidate[0]
        if q not in latest or candidate[1][0] > latest[q][1][0]:
            latest[q] = candidate
    if len(latest) == len(found):
        return found
    covers = levels.covers
    return [
        candidate
        for candidate in found
        for last in [latest[candidate[0]]]
        if candidate is last or not covers(candidate[0], last[1][0], candidate[1][1])
    ]


def not_implied(found: list[Candidate], levels: Levels) -> list[Candidate]:
    """Drop waits for what another signal had to see. Instances form no cycle: all at once."""
    covers = levels.covers
    nothing = levels.nothing
    sources = [(p, r[2]) for p, r, _, _ in found if r[2] is not nothing]
    if not sources:
        return found
    kept: list[Candidate] = []
    for candidate in found:
        q, (_, high, _, _, _), _, _ = candidate
        for p, known in sources:
            if known[q] >= high and p != q and covers(q, known[q], high):
                break
        else:
            kept.append(candidate)
    return kept


def need(candidate: Candidate, levels: Levels, is_static: bool) -> Need:
    """Return how the wait finds its threshold; without `is_static` by capture."""
    q, (low, high, _, _, _), kind, touch = candidate
    if is_static and low == high:
        if -REACH <= low < REACH:  # in zone 0: counted from the start of the program
            return q, low, None, None
        if levels.count[q] - low < NEAR:
            return q, None, levels.count[q] - low, None
    return q, None, None, touch.site(q, kind)
