"""Run a rolled trace again and compare it with the recorded one: the proof of re-rolling."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from headway.errors import HeadwayError, Location
from headway.frontends.nki.affine import Number, substituted
from headway.frontends.nki.layout import Layout
from headway.frontends.nki.literals import literal_at
from headway.frontends.nki.record import DeviceLoop, Kind, Op, Operand, TraceNode, numbers_of
from headway.frontends.nki.reroll import RolledNode, RolledOp

Places = tuple[tuple[int, tuple[int, ...], Layout], ...]
What = Kind | Number | None
"""What an operation is, or how often a device loop runs."""
Step = tuple[Location, What, Places, tuple[Number, ...], tuple[Any, ...]]


def proved(rolled: tuple[RolledNode, ...], recorded: list[TraceNode]) -> tuple[RolledNode, ...]:
    """Return `rolled`. Raise HeadwayError if it does not expand to exactly what was recorded."""
    for made, wanted in zip_longest(expanded(rolled, {}), _recorded(recorded)):
        if made != wanted:
            place = f"{wanted[0]}: " if wanted else ""
            raise HeadwayError(f"{place}internal error: a loop was rolled wrongly; report it")
    return rolled


def expanded(nodes: tuple[RolledNode, ...], turns: dict[int, int]) -> Iterator[Step]:
    """Yield each operation of each iteration; device loops are entered once, as when recorded."""
    for node in nodes:
        values = tuple([n if type(n) is int else substituted(n, turns) for n in node.numbers])
        if isinstance(node, RolledOp):
            literals = tuple([literal_at(literal, turns) for literal in node.literals])
            yield (node.kind.at, node.kind, _places(node.operands), values, literals)
            continue
        trip = None if node.trip is None else substituted(node.trip, turns)
        if node.device is not None:
            yield (node.at, trip, _places(node.operands), values, ())
            yield from expanded(node.body, turns)
            continue
        for turn in range(int(trip or 0)):
            yield from expanded(node.body, {**turns, node.level: turn})


def _recorded(body: list[TraceNode]) -> Iterator[Step]:
    for node in body:
        if isinstance(node, Op):
            yield (node.kind.at, node.kind, _places(node.operands), node.numbers, node.literals)
        elif isinstance(node, DeviceLoop):
            yield (node.at, node.trip, _places(node.reads), numbers_of(node.reads), ())
            yield from _recorded(node.body)
        else:
            for turn in node.iterations:
                yield from _recorded(turn)


def _places(operands: tuple[Operand, ...]) -> Places:
    return tuple([(o.storage.site, o.root, o.layout) for o in operands])
