"""Dependences one by one. `required` is their summary; this list is for people and for tests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from headway.spec.instances import Cell, Instance

Kind = Literal["RAW", "WAR", "WAW"]


class Dependence(NamedTuple):
    """`after` has to see the completion of `before`, because both touch `cell`."""

    before: Instance
    after: Instance
    kind: Kind
    cell: Cell


def dependences(instances: Iterable[Instance]) -> Iterator[Dependence]:
    """Yield every dependence of instances given in sequential order. Quadratic, by definition."""
    readers: defaultdict[Cell, list[Instance]] = defaultdict(list)
    writers: defaultdict[Cell, list[Instance]] = defaultdict(list)
    for after in instances:
        for cell in after.reads:
            yield from (Dependence(before, after, "RAW", cell) for before in writers[cell])
        for cell in after.writes:
            yield from (Dependence(before, after, "WAR", cell) for before in readers[cell])
            yield from (Dependence(before, after, "WAW", cell) for before in writers[cell])
        for cell in after.reads:
            readers[cell].append(after)
        for cell in after.writes:
            writers[cell].append(after)
