"""What an engine can know at a point: for each counter, completions that lie before it for sure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Vector = tuple[int, ...]


class Knowledge:
    """Vector counters: of every signal, what was complete for sure when it happened."""

    def __init__(self, counters: Sequence[str]) -> None:
        self.index = {counter: i for i, counter in enumerate(counters)}
        self.nothing: Vector = (0,) * len(counters)
        self.signals: dict[str, list[Vector]] = {counter: [] for counter in counters}

    def signal(self, counter: str, known: Vector) -> Vector:
        """Add a signal of an instance that was issued knowing `known`; return what it tells."""
        past, at = self.signals[counter], self.index[counter]
        if known[at] < len(past):  # completions of one counter come in order
            known = join(known, past[-1])
        past.append((*known[:at], len(past) + 1, *known[at + 1 :]))
        return past[-1]

    def after(self, known: Vector, waits: Iterable[tuple[str, int]]) -> Vector:
        """Return what is known once every counter has reached its position.

        Who knows a signal knows what it tells, so a position that is known tells nothing.
        """
        for counter, position in waits:
            if position > known[self.index[counter]]:
                known = join(known, self.signals[counter][position - 1])
        return known

    def everything(self) -> Vector:
        """Return what is known when all issued instructions have completed."""
        return tuple(len(self.signals[counter]) for counter in self.index)


def join(a: Vector, b: Vector) -> Vector:
    """Return the pointwise maximum."""
    return tuple(map(max, a, b))
