"""Run a rolled trace again and compare it with the recorded one: the proof of re-rolling."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

from headway.errors import HeadwayError
from headway.frontends.nki.affine import Number, substituted
from headway.frontends.nki.layout import Layout
from headway.frontends.nki.literals import literal_at
from headway.frontends.nki.record import Kind, Op, TraceNode
from headway.frontends.nki.reroll import RolledNode, RolledOp
from headway.frontends.nki.tidy import operations

Places = tuple[tuple[int, tuple[int, ...], Layout], ...]
Step = tuple[Kind, Places, tuple[Number, ...], tuple[Any, ...]]


def proved(rolled: tuple[RolledNode, ...], recorded: list[TraceNode]) -> tuple[RolledNode, ...]:
    """Return `rolled`. Raise HeadwayError if it does not expand to exactly what was recorded."""
    for made, wanted in zip_longest(expanded(rolled, {}), map(_recorded, operations(recorded))):
        if made != wanted:
            place = f"{wanted[0].at}: " if wanted else ""
            raise HeadwayError(f"{place}internal error: a loop was rolled wrongly; report it")
    return rolled


def expanded(nodes: tuple[RolledNode, ...], turns: dict[int, int]) -> Iterator[Step]:
    """Yield each operation of each iteration; device loops are entered once, as when recorded."""
    for node in nodes:
        if isinstance(node, RolledOp):
            values = tuple([n if type(n) is int else substituted(n, turns) for n in node.numbers])
            literals = tuple([literal_at(literal, turns) for literal in node.literals])
            yield (node.kind, _places(node.origin), values, literals)
        elif node.device is not None:
            yield from expanded(node.body, turns)
        else:
            trip = substituted(0 if node.trip is None else node.trip, turns)
            for turn in range(int(trip)):
                yield from expanded(node.body, {**turns, node.level: turn})


def _recorded(op: Op) -> Step:
    return op.kind, _places(op), op.numbers, op.literals


def _places(op: Op) -> Places:
    return tuple([(o.storage.site, o.root, o.layout) for o in op.operands])
