"""How often each counter is signalled inside a loop or an if, where that is the same every time.

In     a prepared program
Out    for each loop and if: signals in all, signals of one iteration, size, and who works inside
Exact  None means that the number depends on the run
Cost   linear in the steps, times the depth of the nest
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from headway.analysis.steps import AnyStep, IfStep, LoopStep, Step

Signals = dict[int, int | None]


@dataclass(frozen=True, slots=True)
class Tally:
    """What happens inside a loop or if; loads before it, as opposed to those of a while, do not.

    `turn` are the signals of one iteration, or of the branches if they agree; `total` those of one
    execution. `engines` issue something inside. `size` is the number of steps.
    """

    turn: Signals
    total: Signals
    engines: frozenset[int]
    size: int


class Tallies:
    """The tallies of all loops and ifs, by their zone."""

    def __init__(self, body: tuple[AnyStep, ...]) -> None:
        self._tallies: dict[int, Tally] = {}
        self._sequence(body)

    def of(self, step: LoopStep | IfStep) -> Tally:
        """Return the tally of a loop or if."""
        return self._tallies[step.zone]

    def _sequence(self, steps: Iterable[AnyStep]) -> Tally:
        signals: Signals = {}
        engines: set[int] = set()
        size = 0
        for step in steps:
            if isinstance(step, Step):
                _add(signals, step.counter, step.signals)
                engines.add(step.engine)
                size += 1
                continue
            outside = () if isinstance(step, LoopStep) and step.is_while else step.loads
            for load in outside:
                _add(signals, load.counter, 1)
                engines.add(load.engine)
            inner = self._loop(step) if isinstance(step, LoopStep) else self._if(step)
            self._tallies[step.zone] = inner
            for q, count in inner.total.items():
                _add(signals, q, count)
            engines |= inner.engines
            size += len(outside) + inner.size
        return Tally(signals, signals, frozenset(engines), size)

    def _loop(self, step: LoopStep) -> Tally:
        body = self._sequence((*step.loads, *step.body) if step.is_while else step.body)
        trip = step.trip
        total: Signals = {
            q: 0 if count == 0 else None if count is None or trip is None else count * trip
            for q, count in body.turn.items()
        }
        return Tally(body.turn, total, body.engines, body.size)

    def _if(self, step: IfStep) -> Tally:
        then, orelse = self._sequence(step.then), self._sequence(step.orelse)
        total: Signals = {}
        for q in {**then.turn, **orelse.turn}:
            count = then.turn.get(q, 0)
            total[q] = count if count == orelse.turn.get(q, 0) else None
        return Tally(total, total, then.engines | orelse.engines, then.size + orelse.size)


def _add(signals: Signals, q: int, count: int | None) -> None:
    before = signals.get(q, 0)
    signals[q] = None if before is None or count is None else before + count


def flat(steps: Iterable[AnyStep]) -> list[Step]:
    """Return all instructions and loads in textual order."""
    found: list[Step] = []
    for step in steps:
        if isinstance(step, Step):
            found.append(step)
            continue
        found += step.loads
        if isinstance(step, LoopStep):
            found += flat(step.body)
        else:
            found += flat(step.then)
            found += flat(step.orelse)
    return found
