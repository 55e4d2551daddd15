"""Straight-line stretches of a body: what they hold for each engine, and where they signal.

In     the nodes of a body with their steps
Out    runs of instructions, and the loops and ifs between them
Keeps  `signals` of a counter grow, so that the signals before an instruction are found by bisection
Cost   linear in the body, once for all engines
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import groupby
from typing import NamedTuple

from headway.analysis.steps import AnyStep, Step
from headway.ir.program import Node

Item = tuple[Step, Node, int]
"""An instruction, and the signals of its counter in the run up to it."""


class Run(NamedTuple):
    """Instructions in a row, with numbers from `first` on.

    `own` are those of each engine; `signals` are the numbers of those on each counter.
    """

    items: list[Item]
    first: int
    own: dict[int, list[Item]]
    signals: dict[int, list[int]]

    def before(self, at: int, counter: int) -> int:
        """Return how often a counter is signalled in front of an instruction."""
        return bisect_left(self.signals.get(counter, ()), at)


Part = Run | tuple[Node, AnyStep]


class Runs:
    """The parts of each body, found when they are first needed."""

    def __init__(self) -> None:
        self._known: dict[int, list[Part]] = {}

    def of(self, nodes: tuple[Node, ...], steps: tuple[AnyStep, ...]) -> list[Part]:
        """Return the parts of a body. Steps live as long as their program is synchronized."""
        found = self._known.get(id(steps))
        if found is None:
            found = self._known[id(steps)] = list(_parts(nodes, steps))
        return found


def _parts(nodes: tuple[Node, ...], steps: tuple[AnyStep, ...]) -> list[Part]:
    parts: list[Part] = []
    start = 0
    for is_straight, group in groupby(steps, lambda step: type(step) is Step):
        some = list(group)
        inside = nodes[start : start + len(some)]
        start += len(some)
        if is_straight:
            parts.append(_run(inside, [step for step in some if isinstance(step, Step)]))
        else:
            parts += zip(inside, some, strict=True)
    return parts


def _run(nodes: tuple[Node, ...], steps: list[Step]) -> Run:
    items: list[Item] = []
    own: dict[int, list[Item]] = {}
    signals: dict[int, list[int]] = {}
    for node, step in zip(nodes, steps, strict=True):
        signalled = signals.setdefault(step.counter, [])
        if step.signals:
            signalled.append(step.at)
        item = step, node, len(signalled)
        items.append(item)
        own.setdefault(step.engine, []).append(item)
    return Run(items, steps[0].at, own, signals)
