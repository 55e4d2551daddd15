"""Which completions are signals.

A silent instance completes without a signal. Completions of one counter come in order, so that the
first signal behind it shows it too. Where nothing is silent, completion n is signal n.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable

from headway.ir.program import Instr
from headway.spec.instances import Instance


def is_silent(instance: Instance) -> bool:
    """Tell whether the completion of an instance is no signal."""
    return isinstance(instance.node, Instr) and instance.node.silent


class Signals:
    """Numbers of completions and of signals, from 1, of the counters of one run."""

    def __init__(self, completions: Iterable[tuple[str, bool]]) -> None:
        """Take the completions: the counter of each, in its order, and whether it is silent."""
        found: defaultdict[str, list[bool]] = defaultdict(list)
        for counter, silent in completions:
            found[counter].append(silent)
        rows = {q: row for q, row in found.items() if any(row)}
        self._totals = {q: len(row) for q, row in rows.items()}
        self._positions = {
            q: [n for n, silent in enumerate(row, 1) if not silent] for q, row in rows.items()
        }

    @classmethod
    def of(cls, instances: Iterable[Instance]) -> Signals:
        """Return the signals of a run."""
        return cls((instance.counter, is_silent(instance)) for instance in instances)

    def position(self, counter: str, number: int) -> int:
        """Return which completion a signal is; one that never comes is behind all completions."""
        positions = self._positions.get(counter)
        if positions is None or number < 1:
            return number
        if number > len(positions):
            return self._totals[counter] + number - len(positions)
        return positions[number - 1]

    def number(self, counter: str, position: int) -> int:
        """Return the number of the signal that shows a completion, 0 for none."""
        positions = self._positions.get(counter)
        if positions is None or position < 1:
            return position
        return bisect_left(positions, position) + 1

    def cover(self, counter: str, position: int) -> int:
        """Return which completion is the signal that shows a completion."""
        if counter not in self._positions:
            return position
        return self.position(counter, self.number(counter, position))

    def among(self, counter: str, position: int) -> int:
        """Return how many of the first `position` completions are signals."""
        positions = self._positions.get(counter)
        return position if positions is None else bisect_right(positions, position)
