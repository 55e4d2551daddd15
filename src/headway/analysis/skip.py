"""Loops whose effect on captures can be written down without running them.

In     a loop with what an engine captures inside
Out    the captures of its last iterations, by iteration from the end
Exact  None is the answer for loops that have to be walked
Cost   linear in the body

    loop m { A p writes(c)  A z }      # captures p: if m > 0, count + 2 * (m - 1) + 1
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import gcd
from typing import NamedTuple

from headway.analysis.plan import Plan
from headway.analysis.sites import Sites
from headway.analysis.slots import form
from headway.analysis.steps import LoopStep, Step
from headway.analysis.tally import Tallies
from headway.ir.expr import Binary, Expr, Input, Iteration, leaves

MAX_CAPTURES = 8
"""More captures than this are not worth it: the loop is walked."""


class Last(NamedTuple):
    """A capture in a body: `position` signals of its counter since the start of the iteration.

    The last `period` iterations touch all the slots that it ever touches.
    """

    site: int
    position: int
    period: int


def last_captures(
    step: LoopStep,
    iteration: str,
    at: int,
    plan: Plan,
    sites: Sites,
    tallies: Tallies,
    slots: Sequence[int],
) -> list[Last] | None:
    """Return the captures of one iteration, or None if the loop has to be walked.

    `at` is the number of the first step of the body; `slots` are those of each place.
    """
    found: list[Last] = []
    signals: defaultdict[int, int] = defaultdict(int)
    for inner in step.body:
        if not isinstance(inner, Step):
            tally = tallies.of(inner)
            size = tally.size
            if not (isinstance(inner, LoopStep) and inner.is_while):
                size += len(inner.loads)
            if plan.has_sites(at, size):
                return None
            for load in inner.loads:
                signals[load.counter] += 1
            for q, count in tally.total.items():
                signals[q] += count or 0  # where it is None the count of q is not of interest
            at += size
            continue
        signals[inner.counter] += inner.signals
        for site in plan.sites.get(at, ()):
            spot = sites.spot(site)
            period = _period(spot.slot, iteration, slots[spot.place])
            if period is None:
                return None
            found.append(Last(site, signals[inner.counter], period))
        at += 1
    return found if sum(last.period for last in found) <= MAX_CAPTURES else None


def _period(slot: Expr, iteration: str, slots: int) -> int | None:
    """Return after how many iterations the slot repeats, or None if that is not known."""
    if Iteration(iteration) not in set(leaves(slot)):
        return 1
    found = form(slot)
    if not isinstance(found.terms, tuple) or found.modulus not in (0, slots):
        return None
    return slots // gcd(dict(found.terms).get(iteration, 0), slots)


def substituted(expr: Expr, iteration: str, value: Expr) -> Expr:
    """Return `expr` with a value in place of an iteration."""
    if isinstance(expr, Binary):
        left = substituted(expr.left, iteration, value)
        return Binary(expr.operator, left, substituted(expr.right, iteration, value))
    if isinstance(expr, Input) and expr.index is not None:
        return Input(expr.name, substituted(expr.index, iteration, value))
    return value if expr == Iteration(iteration) else expr
