"""Turn the iterations that Python ran back into loops.

In     the recorded trace: operations, Python loops with one body per iteration, device loops
Out    the same with `Rolled` loops, whose numbers are affine functions of the iterations
Exact  two iterations become one body only if they are equal but for numbers, and these grow by the
       same amount from each iteration to the next; `expand.proved` compares the result with the
       trace, number by number. The numbers that operations compute with may change in any way:
       they order nothing, and where they change the body has one for each iteration
Cost   linear in the trace, times `LONGEST_PERIOD` for loops that do not roll at once

A loop may begin or end with up to `MOST_PEELED` iterations of another form, and its body may span
up to `LONGEST_PERIOD` iterations (hand-written double buffering); what is left over at the end of
the last period is peeled too. A loop whose body depends on a condition on its index becomes several
loops, which meet where the condition changes. What does not fit stays unrolled; a loop of one
iteration is no loop.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from headway.errors import Location
from headway.frontends.nki.affine import Number, Terms, const_of, number, terms_of
from headway.frontends.nki.layout import Layout
from headway.frontends.nki.literals import per_turn
from headway.frontends.nki.record import (
    DeviceLoop,
    Kind,
    Op,
    Operand,
    PythonLoop,
    TraceNode,
    numbers_of,
)

MOST_PEELED = 2
LONGEST_PERIOD = 8


@dataclass(frozen=True, slots=True)
class RolledOp:
    """An operation; `numbers` and `literals` replace, in order, those of `origin`."""

    origin: Op
    numbers: tuple[Number, ...]
    literals: tuple[Any, ...] = ()

    @property
    def kind(self) -> Kind:
        """What does not change."""
        return self.origin.kind

    @property
    def operands(self) -> tuple[Operand, ...]:
        """What is read and written."""
        return self.origin.operands


@dataclass(frozen=True, slots=True)
class Rolled:
    """A loop: what Python ran, found again, or a loop of the device.

    `trip` is None when it is known only at run time. `is_whole` tells that the loop is all of the
    kernel's loop: nothing was peeled and an iteration is an iteration. `numbers` replace those of
    the memory that the bound or condition of a device loop was loaded from.
    """

    name: str
    site: int
    level: int
    trip: Number | None
    body: tuple[RolledNode, ...]
    at: Location
    is_whole: bool
    device: DeviceLoop | None = None
    numbers: tuple[Number, ...] = ()

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The memory that the bound or condition was loaded from."""
        return self.device.reads if self.device else ()


RolledNode = RolledOp | Rolled


@dataclass(slots=True)
class _Form:
    """A body with its shape, numbered so that equal shapes have equal numbers, and its numbers."""

    nodes: tuple[RolledNode, ...]
    shape: int
    consts: list[int]
    literals: list[Any]


class Reroller:
    """Rolls one trace, or only numbers it if the loops that Python ran are to stay unrolled."""

    def __init__(self, is_rolling: bool = True) -> None:
        self._is_rolling = is_rolling
        self._shapes: dict[Hashable, int] = {}
        self._known: dict[int, tuple[int, object]] = {}  # by identity, and kept alive

    def roll(self, body: list[TraceNode]) -> tuple[RolledNode, ...]:
        """Return the body with its loops rolled."""
        return self._body(body).nodes

    # ---- forms

    def _body(self, body: list[TraceNode]) -> _Form:
        nodes: list[RolledNode] = []
        for node in body:
            if isinstance(node, Op):
                nodes.append(RolledOp(node, node.numbers, node.literals))
            elif isinstance(node, DeviceLoop):
                nodes.append(_device(node, self.roll(node.body)))
            else:
                nodes += self._loop(node)
        return self._form(tuple(nodes))

    def _form(self, nodes: tuple[RolledNode, ...]) -> _Form:
        consts: list[int] = []
        shapes = tuple(self._shape(node, consts) for node in nodes)
        return _Form(nodes, self._number(shapes), consts, list(_literals(nodes)))

    def _shape(self, node: RolledNode, consts: list[int]) -> int:
        """Number the shape of a node; append its numbers to `consts`."""
        consts += [n if type(n) is int else const_of(n) for n in node.numbers]
        terms = tuple(
            [(at, terms_of(n)) for at, n in enumerate(node.numbers) if type(n) is not int]
        )
        operands = tuple([self._operand(operand) for operand in node.operands])
        if isinstance(node, RolledOp):
            return self._number((self._same(node.kind), operands, terms))
        inner = tuple(self._shape(child, consts) for child in node.body)
        head = (node.site, node.level, node.device is None, operands, terms)
        if node.trip is None:
            return self._number((head, inner))
        consts.append(const_of(node.trip))
        return self._number((head, terms_of(node.trip), inner))

    def _operand(self, operand: Operand) -> tuple[int, tuple[int, ...], int]:
        return operand.storage.site, operand.root, self._same(operand.layout)

    def _same(self, value: Kind | Layout) -> int:
        """Return a number that is the same for equal values; most equal ones are one object."""
        found = self._known.get(id(value))
        if found is None:
            found = self._known[id(value)] = (self._number(value), value)
        return found[0]

    def _number(self, key: Hashable) -> int:
        return self._shapes.setdefault(key, len(self._shapes))

    # ---- loops

    def _loop(self, loop: PythonLoop) -> list[RolledNode]:
        turns = [form for turn in loop.iterations if (form := self._body(turn)).nodes]
        out: list[RolledNode] = []
        at = 0
        for first, last, period in _runs(turns) if self._is_rolling else ():
            out += [node for turn in turns[at:first] for node in turn.nodes]
            out.append(self._rolled(loop, turns, first, last, period))
            at = last
        return out + [node for turn in turns[at:] for node in turn.nodes]

    def _rolled(
        self, loop: PythonLoop, turns: list[_Form], first: int, last: int, period: int
    ) -> Rolled:
        """Return the turns [first, last), which repeat with that period, as one loop."""
        steps = _steps(turns, first, period)
        merged: list[RolledNode] = []
        for r in range(period):
            rows = zip(*(turn.literals for turn in turns[first + r : last : period]), strict=True)
            literals = iter([per_turn(loop.level, row) for row in rows])
            body = turns[first + r].nodes
            merged += _affine(body, iter(steps[r]), literals, loop.level)
        trip = (last - first) // period
        is_whole = trip == len(loop.iterations)
        return Rolled(loop.name, loop.site, loop.level, trip, tuple(merged), loop.at, is_whole)


def _device(loop: DeviceLoop, body: tuple[RolledNode, ...]) -> Rolled:
    at, numbers = loop.at, numbers_of(loop.reads)
    return Rolled(loop.name, loop.site, loop.level, loop.trip, body, at, True, loop, numbers)


def _literals(nodes: tuple[RolledNode, ...]) -> Iterator[Any]:
    for node in nodes:
        yield from node.literals if isinstance(node, RolledOp) else _literals(node.body)


# ---- finding the pattern


def _runs(turns: list[_Form]) -> Iterator[tuple[int, int, int]]:
    """Yield (first, last, period) of each row of turns that repeats.

    One row for the whole loop, but for a few turns at its ends, is what most loops are. Else the
    body depends on a condition: each row ends where the condition changes.
    """
    found = _plan(turns)
    if found is not None:
        yield found
        return
    at = 0
    while at < len(turns):
        run = _run(turns, at)
        if run is not None:
            yield (at, *run)
        at = run[0] if run is not None else at + 1


def _run(turns: list[_Form], first: int) -> tuple[int, int] | None:
    """Return (last, period) of the row of whole periods that begins at a turn."""
    for period in range(1, LONGEST_PERIOD + 1):
        last = _reach(turns, first, period)
        trip = (last - first) // period
        is_apart = period == 1 and _is_apart(turns, first, last)
        if trip >= (2 if is_apart else 3):
            return first + trip * period, period
    return None


def _reach(turns: list[_Form], first: int, period: int) -> int:
    """Return the end of the row of turns that grow evenly from one period to the next."""
    last = first
    steps: list[list[int]] = []
    while last + period < len(turns):
        step = _step(turns[last], turns[last + period])
        known = steps[(last - first) % period] if last - first >= period else step
        if step is None or step != known:
            break
        if last - first < period:
            steps.append(step)
        last += 1
    return last + period if last > first else first


def _is_apart(turns: list[_Form], first: int, last: int) -> bool:
    """Whether the turns before and after a row do something else."""
    shape = turns[first].shape
    before, after = turns[first - 1 : first], turns[last : last + 1]
    return all(turn.shape != shape for turn in (*before, *after))


def _plan(turns: list[_Form]) -> tuple[int, int, int] | None:
    """Return (first, last, period): the turns [first, last) repeat with that period."""
    for period in range(1, min(LONGEST_PERIOD, len(turns) // 2) + 1):
        breaks = _breaks(turns, period)
        for peeled in range(2 * MOST_PEELED + 1):
            for first in range(min(peeled, MOST_PEELED) + 1):
                if peeled - first > MOST_PEELED:
                    continue
                last = _last(len(turns), first, peeled - first, period)
                if last and not any(first <= b < last - 2 * period for b in breaks):
                    if _is_alike(turns, first, last, period):
                        return first, last, period
    return None


def _last(count: int, first: int, after: int, period: int) -> int | None:
    """Return the end of whole periods, or None if there are too few of them to be a pattern."""
    trip = (count - after - first) // period
    least = 2 if trip == count else 3
    return first + trip * period if trip >= least else None


def _breaks(turns: list[_Form], period: int) -> list[int]:
    """Return every i at which turns i, i + period and i + 2 * period are in no affine row."""
    steps = [_step(turns[i], turns[i + period]) for i in range(len(turns) - period)]
    return [
        i for i in range(len(steps) - period) if steps[i] is None or steps[i] != steps[i + period]
    ]


def _is_alike(turns: list[_Form], first: int, last: int, period: int) -> bool:
    """Check the first step of each residue; `_breaks` has compared it with the later ones."""
    return all(turns[i].shape == turns[i + period].shape for i in range(first, last - period))


def _step(left: _Form, right: _Form) -> list[int] | None:
    """Return how the numbers change from one turn to the next, None if the shape changes."""
    if left.shape != right.shape:
        return None
    return [b - a for a, b in zip(left.consts, right.consts, strict=True)]


def _steps(turns: list[_Form], first: int, period: int) -> list[list[int]]:
    found = [_step(turns[first + r], turns[first + r + period]) for r in range(period)]
    return [step for step in found if step is not None]


# ---- building the body


def _affine(
    nodes: tuple[RolledNode, ...], steps: Iterator[int], literals: Iterator[Any], level: int
) -> Iterator[RolledNode]:
    """Yield the nodes of the first turn with numbers that grow by `steps`, and these literals."""
    for node in nodes:
        numbers = tuple(_growing(n, next(steps), level) for n in node.numbers)
        if isinstance(node, RolledOp):
            yield RolledOp(node.origin, numbers, tuple(next(literals) for _ in node.literals))
        else:
            body = tuple(_affine(node.body, steps, literals, level))
            trip = node.trip
            grown = None if trip is None else _growing(trip, next(steps), level)
            yield replace(node, trip=grown, body=body, numbers=numbers)


def _growing(value: Number, step: int, level: int) -> Number:
    if not step:
        return value
    terms: Terms = tuple(sorted((*terms_of(value), (level, step))))
    return number(const_of(value), terms)
