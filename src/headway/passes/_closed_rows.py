"""Rows of captures, computed from iterations where they are waited for.

    loop r 2 { loop i 8 { p  x[r * 8 + i] := s + 1  s := s + 1 } }
    loop i 8 { loop r 2 {                        loop i 8 { loop r 2 {
      wait A >= x[r * 8 + i]               ->      threshold.1 := 8 * r + i + 1
      q                                            wait A >= threshold.1
    } }                                            q } }

A nest of loops with numbers as trip counts that sets each register of a row once fills it with what
the iterations tell. In the loop around such a nest the row holds what it held before the loop in
the first iteration, and what the nest has left in the others. Exact: a row stays where it is waited
for and nothing is known, or where what is known is no sum of iterations there. All is tried out,
number by number, for a row is short.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import NamedTuple

from headway.ir.expr import Binary, Expr, Iteration, evaluate, leaves
from headway.passes._closed_forms import Form, NoFormError, Value, operations
from headway.passes._mentions import Mentions, reads
from headway.passes._polynomial import Polynomial
from headway.sync.iterations import last_iterations
from headway.sync.program import (
    Assign,
    EngineProgram,
    Exec,
    Register,
    RegisterRef,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncWhile,
    Threshold,
    Wait,
    Waits,
    sync_branches,
    walk_sync,
)
from headway.sync.rewrite import Body

MOST_OPERATIONS = 12
MOST_READS = 4096
"""How many combinations of iterations are tried for a wait."""

MOST_LOOKS = 64
"""How often what happens to a register of the row is looked at, on average."""

Scalars = Mapping[str, Value]
"""What the registers that are no rows hold."""

Trips = Mapping[str, int]
"""The trip counts of the loops around, where they are numbers."""


@dataclass(frozen=True, slots=True)
class Table:
    """A row that holds `base + offsets[slot]`."""

    base: Polynomial
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """A row that holds something in the first iteration of a loop and something else later."""

    loop: str
    first: Held
    later: Table


Held = Table | Turn | None
"""What a row holds; None = nothing is known."""


class _Set(NamedTuple):
    """A register of the row is set."""

    slot: Expr
    value: Polynomial


class _Read(NamedTuple):
    """A register of the row is waited for."""

    slot: Expr


class _Nest(NamedTuple):
    """A loop around what happens to the row."""

    loop: str
    trip: int
    inside: list[_Event]


_Event = _Set | _Read | _Nest


def candidates(engine: EngineProgram, mentions: Mentions) -> list[Register]:
    """Return the rows that may do without registers, the longest first.

    Those that are set or waited for under conditions cannot, nor those set from rows, nor those
    whose place depends on more than loops with numbers as trip counts.
    """
    rows = {register.name: register for register in engine.registers if register.size > 1}
    last = last_iterations(engine)

    def look(register: RegisterRef) -> None:
        if not all(isinstance(x, Iteration) and x.loop in last for x in leaves(register.index)):
            rows.pop(register.name, None)

    for node in walk_sync(engine.body):
        if not rows:
            break
        match node:
            case Assign() if node.register.name in rows:
                look(node.register)
                if not rows.keys().isdisjoint(reads(node.value)):
                    rows.pop(node.register.name, None)
            case Exec() | Waits():
                for wait in node.waits:
                    if wait.threshold.register and wait.threshold.register.name in rows:
                        look(wait.threshold.register)
            case SyncIf() | SyncWhile():
                for name in mentions.inside(node):
                    rows.pop(name, None)
            case _:
                pass
    return sorted(rows.values(), key=lambda row: -row.size)


def row_computed(
    engine: EngineProgram, row: Register, mentions: Mentions | None = None
) -> EngineProgram | None:
    """Return an engine program without that row; None if it cannot do without.

    `mentions` are those of other programs with the same parts.
    """
    closed = _Closed(engine, row, mentions or Mentions())
    try:
        body = closed.body(engine.body, closed.zero, Table(Polynomial.of(0), (0,) * row.size), {})
    except NoFormError:
        return None
    new = (Register(name) for name in closed.computed)
    kept = tuple(register for register in engine.registers if register != row)
    return replace(engine, body=body, registers=(*kept, *new))


class _Closed:
    """Follows what a row and the registers that it is set from hold, through an engine program."""

    def __init__(self, engine: EngineProgram, row: Register, mentions: Mentions) -> None:
        self.computed: dict[str, None] = {}
        self._row, self._size = row.name, row.size
        self._mentions = mentions
        self._looks = MOST_LOOKS * row.size
        setting = list(self._all_that_set(engine.body))
        self._setting = set(map(id, setting))
        single = {register.name for register in engine.registers if register.size == 1}
        values = [node.value for node in setting if isinstance(node, Assign)]
        names = sorted(reads(*values) & single)
        self._forms = {name: Form(name, self._mentions) for name in names}
        self.zero: Scalars = dict.fromkeys(names, Polynomial.of(0))

    # What the registers that are no rows hold

    def _behind(self, node: SyncNode, scalars: Scalars) -> Scalars:
        inside = self._mentions.inside(node)
        return {
            name: self._forms[name].after(node, value) if name in inside else value
            for name, value in scalars.items()
        }

    def _begun(self, loop: SyncLoop, scalars: Scalars) -> Scalars:
        """Return what they hold where an iteration begins."""
        turn = Polynomial.of(Iteration(loop.iteration))
        found: dict[str, Value] = {}
        for name, value in scalars.items():
            step = self._forms[name].step(loop)
            found[name] = value + step * turn if value and step else None
        return found

    # What is set

    def _is_named(self, node: SyncNode) -> bool:
        return self._row in self._mentions.inside(node)

    def _all_that_set(self, nodes: Iterable[SyncNode]) -> Iterator[SyncNode]:
        """Yield the assignments to the row, and what they stand in."""
        for node in nodes:
            if isinstance(node, Assign):
                if node.register.name == self._row:
                    yield node
            elif self._is_named(node):
                inside = [n for part in sync_branches(node) for n in self._all_that_set(part)]
                yield from inside
                if inside:
                    yield node

    def _sets(self, node: SyncNode) -> bool:
        return id(node) in self._setting

    def _events(self, node: SyncNode, scalars: Scalars) -> Iterator[_Event]:
        """Yield what a node does to the row."""
        self._looks -= 1
        if self._looks < 0:
            raise NoFormError
        match node:
            case Assign():
                if node.register.name != self._row or self._row in reads(node.value):
                    raise NoFormError
                yield _Set(node.register.index, self._value(node.value, scalars))
            case Exec() | Waits():
                for wait in node.waits:
                    register = wait.threshold.register
                    if register and register.name == self._row:
                        yield _Read(register.index)
            case SyncLoop(trip=int() as trip, load=None):
                inside: list[_Event] = []
                scalars = self._begun(node, scalars)
                for part in node.body:
                    if self._is_named(part):
                        inside += self._events(part, scalars)
                    scalars = self._behind(part, scalars)
                yield _Nest(node.iteration, trip, inside)
            case _:
                raise NoFormError

    def _value(self, expr: Expr, scalars: Scalars) -> Polynomial:
        value = Polynomial.of(expr)
        for name in reads(expr):
            known = scalars.get(name)
            found = known and value.substituted(RegisterRef(name), known)
            if found is None:
                raise NoFormError
            value = found
        return value

    def _filled(
        self, nodes: Sequence[SyncNode], begin: int, scalars: Scalars
    ) -> tuple[int, Scalars, Table] | None:
        """Return the end of the shortest piece of a body that sets each of the row once."""
        events: list[_Event] = []
        for end in range(begin, len(nodes)):
            node = nodes[end]
            if self._is_named(node):
                try:
                    events += self._events(node, scalars)
                except NoFormError:
                    return None
            scalars = self._behind(node, scalars)
            count = _count(events)
            if count >= self._size:
                table = _table(events, self._size) if count == self._size else None
                return (end + 1, scalars, table) if table else None
        return None

    # What it holds

    def _held(self, nodes: Sequence[SyncNode], scalars: Scalars) -> Table | None:
        """Return what the row holds behind a body that fills it."""
        held: Table | None = None
        number = 0
        while number < len(nodes):
            node = nodes[number]
            if self._sets(node):
                filled = self._filled(nodes, number, scalars)
                if filled:
                    number, scalars, held = filled
                    continue
                held = self._last(node, scalars) if isinstance(node, SyncLoop) else None
            scalars = self._behind(node, scalars)
            number += 1
        return held

    def _last(self, loop: SyncLoop, scalars: Scalars) -> Table | None:
        """Return what the row holds behind a loop that fills it in each iteration."""
        if not isinstance(loop.trip, int) or loop.trip < 1:
            return None
        held = self._held(loop.body, self._begun(loop, scalars))
        return held and _at(held, loop.iteration, Polynomial.of(loop.trip - 1))

    # Nodes without the row

    def body(self, nodes: Body, scalars: Scalars, held: Held, trips: Trips) -> Body:
        """Return nodes that do not use the row."""
        out: list[SyncNode] = []
        number = 0
        while number < len(nodes):
            node = nodes[number]
            if not self._is_named(node):
                out.append(node)
                scalars = self._behind(node, scalars)
                number += 1
                continue
            filled = self._filled(nodes, number, scalars)
            end, behind = number + 1, held
            if filled:
                end, _, behind = filled
            elif self._sets(node):
                behind = self._last(node, scalars) if isinstance(node, SyncLoop) else None
            for part in nodes[number:end]:
                out += self._without(part, scalars, held, trips, bool(filled))
                scalars = self._behind(part, scalars)
            number, held = end, behind
        return tuple(out)

    def _without(
        self, node: SyncNode, scalars: Scalars, held: Held, trips: Trips, is_filling: bool
    ) -> Iterator[SyncNode]:
        """Yield what takes the place of a node; what is filled holds what it held, where read."""
        match node:
            case Assign() if node.register.name == self._row and is_filling:
                pass
            case Exec() | Waits():
                before, waits = self._settled(node.waits, scalars, held, trips)
                yield from before
                yield replace(node, waits=waits)
            case SyncLoop(load=None):
                yield self._loop(node, scalars, held, trips, is_filling)
            case _ if self._is_named(node):
                raise NoFormError
            case _:
                yield node

    def _loop(
        self, node: SyncLoop, scalars: Scalars, held: Held, trips: Trips, is_filling: bool
    ) -> SyncLoop:
        name = node.iteration
        inside = {**trips, name: node.trip} if isinstance(node.trip, int) else trips
        begun = self._begun(node, scalars)
        if is_filling:
            out: list[SyncNode] = []
            for part in node.body:
                out += self._without(part, begun, held, inside, True)
                begun = self._behind(part, begun)
            return replace(node, body=tuple(out))
        if self._sets(node):
            left = self._held(node.body, begun)
            later = left and _at(left, name, Polynomial.of(Iteration(name)) - Polynomial.of(1))
            held = Turn(name, held, later) if later else None
        return replace(node, body=self.body(node.body, begun, held, inside))

    def _settled(
        self, waits: tuple[Wait, ...], scalars: Scalars, held: Held, trips: Trips
    ) -> tuple[list[Assign], tuple[Wait, ...]]:
        """Return waits that do not use the row, and what computes their thresholds."""
        before: list[Assign] = []
        kept: list[Wait] = []
        for wait in waits:
            register = wait.threshold.register
            if register is None or register.name != self._row:
                kept.append(wait)
                continue
            expr = _expression(held, register.index, trips, wait.threshold.offset, scalars)
            if isinstance(expr, int):
                kept.append(replace(wait, threshold=Threshold(None, expr)))
                continue
            name = f"threshold.{self._row}.{len(before) + 1}"
            self.computed[name] = None
            before.append(Assign(RegisterRef(name), expr, wait.at))
            kept.append(replace(wait, threshold=Threshold(RegisterRef(name))))
        return before, tuple(kept)


def _count(events: Iterable[_Event]) -> int:
    """Return how often something of the row is set."""
    return sum(
        event.trip * _count(event.inside) if isinstance(event, _Nest) else isinstance(event, _Set)
        for event in events
    )


def _table(events: Sequence[_Event], size: int) -> Table | None:
    """Return what the row holds behind that; None if something is set twice, or set, then read."""
    found: dict[int, int] = {}
    bases: set[Polynomial] = set()

    def happen(events: Iterable[_Event], turns: dict[str, int]) -> None:
        for event in events:
            if isinstance(event, _Nest):
                for turn in range(event.trip):
                    happen(event.inside, {**turns, event.loop: turn})
                continue
            slot = _slot(event.slot, turns)
            if slot in found:
                raise NoFormError
            if isinstance(event, _Set):
                base = event.value
                for loop, turn in turns.items():
                    base = base and base.substituted(Iteration(loop), Polynomial.of(turn))
                if base is None:
                    raise NoFormError
                number = sum(factor for part, factor in base.terms if not part)
                found[slot] = number
                bases.add(base - Polynomial.of(number))

    try:
        happen(events, {})
    except NoFormError:
        return None
    is_full = found.keys() == set(range(size)) and len(bases) == 1
    return Table(bases.pop(), tuple(found[slot] for slot in range(size))) if is_full else None


def _slot(index: Expr, turns: Mapping[str, int]) -> int:
    if any(not isinstance(leaf, Iteration) or leaf.loop not in turns for leaf in leaves(index)):
        raise NoFormError
    return evaluate(index, turns, {})


def _at(table: Table, loop: str, turn: Polynomial) -> Table | None:
    """Return a table with another number for an iteration."""
    base = table.base.substituted(Iteration(loop), turn)
    return Table(base, table.offsets) if base is not None else None


def _expression(held: Held, index: Expr, trips: Trips, offset: int, scalars: Scalars) -> Expr:
    """Return what a row holds there, and `offset` more. Raise NoFormError if that is unknown."""
    match held:
        case Table():
            found = _shortest(_sum(held, index, trips) + Polynomial.of(offset), scalars)
        case Turn(loop, Table() as first, later):
            turn = Iteration(loop)
            sum_ = _sum(later, index, trips)
            more = (_sum(first, index, trips) - sum_).substituted(turn, Polynomial.of(0))
            if more is None:
                raise NoFormError
            found = _shortest(sum_ + Polynomial.of(offset), scalars)
            if more.terms:
                is_first = Binary("-", 1, Binary("min", turn, 1))
                found = Binary("+", found, Binary("*", is_first, more.expression()))
        case _:
            raise NoFormError
    if operations(found) > MOST_OPERATIONS:
        raise NoFormError
    return found


def _sum(table: Table, index: Expr, trips: Trips) -> Polynomial:
    """Return what a table holds at an index, as a sum of iterations."""
    loops = sorted({leaf.loop for leaf in leaves(index) if isinstance(leaf, Iteration)})
    counts = [trips.get(loop, MOST_READS + 1) for loop in loops]
    if prod(counts) > MOST_READS or 0 in counts:
        raise NoFormError

    def at(*turns: int) -> int:
        return table.offsets[_slot(index, dict(zip(loops, turns, strict=True)))]

    origin = at(*(0 for _ in loops))
    steps = [
        at(*(int(other == loop) for other in loops)) - origin if count > 1 else 0
        for loop, count in zip(loops, counts, strict=True)
    ]
    for turns in product(*map(range, counts)):
        if at(*turns) != origin + sum(a * b for a, b in zip(steps, turns, strict=True)):
            raise NoFormError
    found = table.base + Polynomial.of(origin)
    for loop, step in zip(loops, steps, strict=True):
        found += Polynomial.of(Iteration(loop)) * Polynomial.of(step)
    return found


def _shortest(value: Polynomial, scalars: Scalars) -> Expr:
    """Return the value, from a register that counts if that takes fewer operations."""
    ways = [value.expression()]
    for name, known in scalars.items():
        if known:
            register = Polynomial.of(RegisterRef(name))
            ways.append((value - known + register).expression())
    return min(ways, key=operations)
