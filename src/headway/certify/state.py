"""What holds at one point of a joint run of all engines, whatever the inputs were.

A *mark* stands for the position of the last write, or access, of one counter to one slot; 0 if
there was none. A set of marks is a whole number, bit by bit. A position *tells* a mark if whoever
has waited for it knows that mark to be complete. An age counts back from the count of a counter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from headway.certify.numbers import (
    OPERATIONS,
    Form,
    Number,
    any_of,
    constant,
    is_about,
    known,
    linear,
    names,
    operated,
    plus,
    substituted,
)
from headway.certify.statement import Refused, Wait
from headway.ir.expr import Expr

Limits = dict[int, int]
"""Age to marks, each mark at one age."""
Key = tuple[str, str, int, str]
"""A register (engine, name, place in its row) as a position of a counter; engine "": a number."""
EVER = 10**9
"""An age that no number of steps reaches: that of the beginning."""


def older(limits: Limits, age: int) -> int:
    """Return the marks whose age is at least `age`."""
    return sum(marks for a, marks in limits.items() if a >= age)


def younger(limits: Limits, age: int) -> int:
    """Return the marks whose age is at most `age`."""
    return sum(marks for a, marks in limits.items() if a <= age)


def put(limits: Limits, marks: int, age: int | None = None) -> Limits:
    """Return limits with marks at an age, or without them."""
    kept = {a: rest for a, m in limits.items() if (rest := m & ~marks)}
    if age is not None and marks:
        kept[age] = kept.get(age, 0) | marks
    return kept


class Value(NamedTuple):
    """A number as a position of a counter.

    `distance` is how far it is below the count, exactly, and `least` at least; None: not known.
    `told` are marks that the position tells, `after` marks that are at it or behind it.
    """

    distance: Form | None = None
    least: int | None = None
    told: int = 0
    after: int = 0


def largest(values: list[Value]) -> Value:
    """Return what is known of the largest of some values."""
    if len(values) == 1:
        return values[0]
    told, after = any_of(v.told for v in values), ~any_of(~v.after for v in values)
    least = [v.least for v in values if v.least is not None]
    all_past = len(least) == len(values) > 0
    return Value(None, min(least) if all_past else None, told, after if values else 0)


class Room(NamedTuple):
    """The marks of a flag that holds `size` tokens: its last take, the one before, and so on.

    `first` is the bit of the last take, and `taken` the value that counts takes.
    """

    taken: Key
    first: int
    size: int


@dataclass(slots=True)
class State:
    """What holds. `told` and `recent` give for each counter and mark an age, the largest whose
    position tells it, and the smallest whose position it has reached for sure.

    `numbers` are of forms without a constant, `known` are the marks that an engine knows to be
    complete, and `ENGINE asked` those of them that it has asked for itself.
    """

    numbers: dict[Form, Number]
    known: dict[str, int]
    told: dict[str, Limits]
    recent: dict[str, Limits]
    values: dict[Key, Value]

    def copy(self) -> State:
        """Return the same state."""
        told, recent = dict(self.told), dict(self.recent)
        return State(dict(self.numbers), dict(self.known), told, recent, dict(self.values))

    def learn(self, engine: str, marks: int, asked: int) -> None:
        """Let an engine know marks; those in `asked` it has asked for itself."""
        self.known[engine] |= marks
        self.known[f"{engine} asked"] |= marks & asked

    def take(self, room: Room) -> None:
        """Count a take: the last one is now the one before; only its engine knows of the new."""
        if not room.size:
            return
        row = ((1 << room.size) - 1) << room.first

        def moved(marks: int) -> int:
            return marks & ~row | (marks & row) << 1 & row

        self.known = {holder: moved(marks) for holder, marks in self.known.items()}
        self.told = {q: {a: moved(m) for a, m in told.items()} for q, told in self.told.items()}
        for key, value in self.values.items():
            self.values[key] = value._replace(told=moved(value.told))
        self.known[room.taken[0]] |= 1 << room.first

    def has_room(self, room: Room, known: int) -> bool:
        """Tell whether a token fits in if marks are known: that of `size` sets ago is taken."""
        if not room.size:
            return True
        distance = self.values[room.taken].distance
        full = None if distance is None else constant(self.form(distance))
        if full is None or not 0 <= full < room.size:
            return False
        return bool(known >> room.first + room.size - 1 - full & 1)

    def reason(
        self, engine: str, mark: int, before: dict[str, int], waits: list[tuple[Wait, Value]]
    ) -> tuple[str, str]:
        """Return why a mark is complete now, "" if it may not be, and the wait that tells it."""
        asked = f"{engine} asked"
        if before[asked] & mark:
            return "b-earlier-wait", ""
        if before[engine] & mark or not self.known[engine] & mark:
            return "c-transitive" if before[engine] & mark else "", ""
        by = next(wait.text for wait, value in waits if value.told & mark)
        return "b-wait" if self.known[asked] & mark else "c-transitive", by

    def place(self, expr: Expr, slots: int) -> int:
        """Return the value of an expression modulo `slots`."""
        number = self.number(linear(expr))
        if number.modulus % slots:
            raise Refused(f"{expr} modulo {slots} is not told apart here")
        return number.rest % slots

    def is_true(self, condition: Expr) -> bool | None:
        """Tell whether a condition holds, or None if that is open."""
        number = self.number(linear(condition))
        return bool(number.rest) if not number.modulus else True if number.least > 0 else None

    def is_below(self, a: Form, b: Form) -> bool:
        """Tell whether one number may be smaller than another."""
        gap = self.number(plus(a, b, -1))
        return gap.rest < 0 if not gap.modulus else gap.least < 0

    def number(self, f: Form) -> Number:
        """Return what is known of the value of a form."""
        offset = known(f[0][1] if f and not f[0][0] else 0)
        base = f[1:] if f and not f[0][0] else f
        if base in self.numbers:
            return self.numbers[base].plus(offset)
        for atoms, n in base:
            product = known(n)
            for atom in atoms:
                product = product.times(self._atom(atom))
            offset = offset.plus(product)
        return offset

    def _atom(self, atom: str) -> Number:
        found = self.numbers.get((((atom,), 1),))
        if found is None and atom in OPERATIONS:
            return operated(OPERATIONS[atom], self.number)
        return found or Number()

    def form(self, f: Form) -> Form:
        """Return a form with the values that are known."""
        return f if constant(f) is not None else substituted(f, self._value) or ()

    def _value(self, atom: str) -> Form:
        found = self.numbers.get((((atom,), 1),))
        return linear(found.rest) if found and not found.modulus else (((atom,), 1),)

    def note(self, f: Form, number: Number) -> bool:
        """Note what is known of a form. Return False if that cannot be."""
        offset = f[0][1] if f and not f[0][0] else 0
        base = f[1:] if offset else f
        both = number.plus(known(-offset)).both(self.number(base))
        if both and base:
            self.numbers[base] = both
        return both is not None

    def replace(self, name: str, value: Form | None) -> bool:
        """Put a form in place of a name; None: forget it. Return False if that cannot be."""

        def moved(atom: str) -> Form | None:
            if name not in names(atom):
                return (((atom,), 1),)
            return value if atom == name else None

        for key, v in self.values.items():
            if v.distance and is_about(v.distance, name):
                self.values[key] = v._replace(distance=substituted(v.distance, moved))
        about = [f for f in self.numbers if is_about(f, name)]
        numbers = [(substituted(f, moved), self.numbers.pop(f)) for f in about]
        return all([f is None or self.note(f, number) for f, number in numbers])

    def says(self, other: State) -> bool:
        """Tell whether all that another state says follows from this one."""
        return (
            all(self.number(f).says(number) for f, number in other.numbers.items())
            and not any(marks & ~self.known[e] for e, marks in other.known.items())
            and not any(
                marks & ~older(self.told[q], age)
                for q, limits in other.told.items()
                for age, marks in limits.items()
            )
            and not any(
                marks & ~younger(self.recent[q], age)
                for q, limits in other.recent.items()
                for age, marks in limits.items()
            )
            and all(self._is(key, value) for key, value in other.values.items())
        )

    def _is(self, key: Key, other: Value) -> bool:
        v = self.values[key]
        if other.distance is not None:
            if v.distance is None or self.form(plus(v.distance, other.distance, -1)):
                return False
        if other.least is not None and (v.least is None or v.least < other.least):
            return False
        return not other.told & ~v.told and not other.after & ~v.after
