"""What an engine's registers and waits mean as facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from headway.errors import Location
from headway.ir.expr import Binary, Expr, Iteration
from headway.prove.cells import Marks
from headway.prove.facts import ZERO_ROW, Facts, Register
from headway.prove.follow import Undecided
from headway.prove.forms import ZERO, Form, span
from headway.sync.program import Assign, RegisterRef, Wait


class Value(NamedTuple):
    """A number as a position of a counter: what it tells, and how far it is below the count.

    `distance` is exact and `least` a lower bound, where they are known.
    """

    told: Marks = 0
    distance: Form | None = None
    least: int | None = None

    @property
    def is_past(self) -> bool:
        """Whether the signal of that position comes before this point for sure."""
        if self.least is not None and self.least >= 0:
            return True
        return (
            self.distance is not None
            and self.distance.number >= 0
            and all(n > 0 and isinstance(a, Iteration) for a, n in self.distance.terms)
        )


def alternatives(value: Expr) -> Iterator[Expr]:
    """Yield what a maximum is taken of."""
    if isinstance(value, Binary) and value.operator == "max":
        yield from alternatives(value.left)
        yield from alternatives(value.right)
    else:
        yield value


def assign(facts: Facts, engine: str, node: Assign) -> None:
    """Set a register, for every counter that it may be compared with."""
    for q in facts.cells.counters.get((engine, node.register.name), ()):
        target = _register(facts, engine, node.register, q, node.at)
        found = [computed(facts, engine, value, q) for value in alternatives(node.value)]
        facts.told[target] = 0
        facts.below.pop(target, None)
        facts.equal.pop(target, None)
        for value in found:
            facts.told[target] |= value.told
        bounds = [value.least for value in found if value.least is not None]
        if len(bounds) == len(found):
            facts.below[target] = min(bounds)
        equal = found[0].distance if len(found) == 1 else None
        if equal is not None and (equal == ZERO or not facts.cells.is_row(*target[:2])):
            facts.equal[target] = equal


def computed(facts: Facts, engine: str, expr: Expr, q: str) -> Value:
    """Return what is known of the value of an expression that reads at most one register."""
    f = facts.form(expr)
    source = Register(*ZERO_ROW, 0, q)
    for atom, factor in f.terms:
        if isinstance(atom, RegisterRef):
            if source[:2] != ZERO_ROW or factor != 1 or facts.cells.is_row(engine, atom.name):
                return Value()
            source = Register(engine, atom.name, 0, q)
            f = f.plus(Form(((atom, 1),)), -1)
    return _below(facts, source, f)


def threshold(facts: Facts, engine: str, wait: Wait) -> Value:
    """Return what is known of what a wait compares with. It may move a frame."""
    ref, q = wait.threshold.register, wait.counter
    offset = Form((), wait.threshold.offset)
    if ref is None:
        return _below(facts, Register(*ZERO_ROW, 0, q), offset)
    return _below(facts, _register(facts, engine, ref, q, wait.at), offset)


def _below(facts: Facts, source: Register, added: Form) -> Value:
    """Return what is known of a register, or of 0, with something added."""
    q = source.counter
    equal = facts.equal.get(source)
    distance = None if equal is None else equal.plus(added, -1)
    told, least = 0, None
    if distance is not None and not distance.terms:
        told, least = facts.at_age(q, distance.number), distance.number
    if not added.terms:
        if source[:2] == ZERO_ROW:
            told |= facts.at_number(q, added.number)
        elif added.number >= 0:
            told |= facts.told.get(source, 0)
        if source in facts.below:
            bound = facts.below[source] - added.number
            least = bound if least is None else max(least, bound)
    return Value(told, distance, least)


def _register(facts: Facts, engine: str, ref: RegisterRef, q: str, at: Location | None) -> Register:
    cells = facts.cells
    if not cells.is_row(engine, ref.name):
        return Register(engine, ref.name, 0, q)
    bounds = span(ref.index)
    if bounds is None or bounds[0] < 0 or bounds[1] >= cells.sizes[engine, ref.name]:
        raise Undecided(f"{ref} may be outside its row", at)
    buffer = cells.rows.get((engine, ref.name))
    if buffer is not None:
        return Register(engine, ref.name, facts.place(buffer, ref.index), q)
    if not isinstance(ref.index, int):
        raise Undecided(f"the slots of row {ref.name} follow no buffer", at)
    return Register(engine, ref.name, ref.index, q)
