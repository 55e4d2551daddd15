"""Rows of captures, computed from iterations where they are waited for.

    loop r 2 { loop i 8 { p  x[r * 8 + i] := s + 1  s := s + 1 } }
    loop i 8 { loop r 2 {                        loop i 8 { loop r 2 {
      wait A >= x[r * 8 + i]               ->      threshold.1 := 8 * r + i + 1
      q                                            wait A >= threshold.1
    } }                                            q } }

A nest of loops with numbers as trip counts that sets each register of a row once fills it with what
the iterations tell. In the loop around such a nest the row holds what it held before the loop in
the first iteration, and what the nest has left in the others. Exact: a row stays where it is waited
for and nothing is known, or where what is known is no sum of iterations there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from headway.ir.expr import Expr, Iteration, leaves
from headway.passes._closed_forms import Form, NoFormError, Value
from headway.passes._mentions import Mentions, reads
from headway.passes._polynomial import Polynomial
from headway.passes._row_values import (
    Event,
    Held,
    Nest,
    Reading,
    Scalars,
    Setting,
    Table,
    Trips,
    Turn,
    at_turn,
    set_count,
    table_of,
    value_at,
)
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

MOST_LOOKS = 64
"""How often what happens to a register of the row is looked at, on average."""


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

    def _events(self, node: SyncNode, scalars: Scalars) -> Iterator[Event]:
        """Yield what a node does to the row."""
        self._looks -= 1
        if self._looks < 0:
            raise NoFormError
        match node:
            case Assign():
                if node.register.name != self._row or self._row in reads(node.value):
                    raise NoFormError
                yield Setting(node.register.index, self._value(node.value, scalars))
            case Exec() | Waits():
                for wait in node.waits:
                    register = wait.threshold.register
                    if register and register.name == self._row:
                        yield Reading(register.index)
            case SyncLoop(trip=int() as trip, load=None):
                inside: list[Event] = []
                scalars = self._begun(node, scalars)
                for part in node.body:
                    if self._is_named(part):
                        inside += self._events(part, scalars)
                    scalars = self._behind(part, scalars)
                yield Nest(node.iteration, trip, inside)
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
        events: list[Event] = []
        count = 0
        for end in range(begin, len(nodes)):
            node = nodes[end]
            if self._is_named(node):
                try:
                    found = list(self._events(node, scalars))
                except NoFormError:
                    return None
                events += found
                count += set_count(found)
            scalars = self._behind(node, scalars)
            if count >= self._size:
                table = table_of(events, self._size) if count == self._size else None
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
        return held and at_turn(held, loop.iteration, Polynomial.of(loop.trip - 1))

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
            later = left and at_turn(left, name, Polynomial.of(Iteration(name)) - Polynomial.of(1))
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
            expr = value_at(held, register.index, trips, wait.threshold.offset, scalars)
            if isinstance(expr, int):
                kept.append(replace(wait, threshold=Threshold(None, expr)))
                continue
            name = f"threshold.{self._row}.{len(before) + 1}"
            self.computed[name] = None
            before.append(Assign(RegisterRef(name), expr, wait.at))
            kept.append(replace(wait, threshold=Threshold(RegisterRef(name))))
        return before, tuple(kept)
