"""What holds at one point of a joint run of all engines, whatever the inputs were.

A *mark* `(kind, counter, buffer, atom, slot)` stands for the position of the last write (kind
`write`), or access (`access`), of that counter to that slot; 0 if there was none. A set of marks is
a whole number, bit by bit. A position *tells* a mark if whoever has waited for it knows that mark
to be complete. A form is a sum of integers times names, the name "" being 1.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import gcd, lcm
from typing import NamedTuple

from headway.ir.expr import Expr, Leaf
from headway.ir.names import NAME

Form = tuple[tuple[str, int], ...]
Limits = dict[int, int]
"""Age to marks, each mark at one age. An age counts back from the count of a counter."""
Key = tuple[str, str, int, str]
"""A register (engine, name, place in its row) as a position of a counter; engine "": a number."""
FOR_EVER = 10**9


def form(terms: Mapping[str, int]) -> Form:
    """Return a form in its one shape: sorted, and no factor is 0."""
    return tuple(sorted((name, n) for name, n in terms.items() if n))


def plus(a: Form, b: Form, factor: int = 1) -> Form:
    """Return `a + factor * b`."""
    if not b:
        return a
    terms = defaultdict(int, a)
    for name, n in b:
        terms[name] += factor * n
    return form(terms)


def number(f: Form | None) -> int | None:
    """Return the value of a form if it is the same in every run."""
    if f is None or len(f) > 1 or (f and f[0][0]):
        return None
    return f[0][1] if f else 0


@cache
def linear(expr: Expr, slots: int = 0) -> Form:
    """Return an expression as a form; with `slots`, what it is modulo `slots`."""
    terms: defaultdict[str, int] = defaultdict(int)
    for name, n in _scaled(expr, 1, slots):
        terms[name] = (terms[name] + n) % slots if slots else terms[name] + n
    return form(terms)


def _scaled(expr: Expr, factor: int, slots: int) -> Iterator[tuple[str, int]]:
    if isinstance(expr, int):
        yield "", factor * expr
    elif isinstance(expr, Leaf):
        yield str(expr), factor
    elif expr.operator in ("+", "-"):
        yield from _scaled(expr.left, factor, slots)
        yield from _scaled(expr.right, factor if expr.operator == "+" else -factor, slots)
    elif expr.operator == "*" and (n := number(linear(expr.left))) is not None:
        yield from _scaled(expr.right, factor * n, slots)
    elif expr.operator == "*" and (n := number(linear(expr.right))) is not None:
        yield from _scaled(expr.left, factor * n, slots)
    elif (
        expr.operator == "%"
        and slots
        and isinstance(r := expr.right, int)
        and r > 0
        and (factor * r % slots == 0)
    ):  # (x % 2) * 4 is 4 * x modulo 8
        yield from _scaled(expr.left, factor, slots)
    else:
        if expr.operator == "%" and isinstance(expr.right, int) and expr.right > 0:
            REMAINDERS[str(expr)] = linear(expr.left, expr.right), expr.right
        yield str(expr), factor


REMAINDERS: dict[str, tuple[Form, int]] = {}
"""What atoms of the form `x % 4` are: a form and the number that it is taken modulo of."""


@cache
def names(atom: str) -> frozenset[str]:
    """Return what is named in an atom of a form."""
    return frozenset(re.findall(NAME, atom, re.ASCII))


def substituted(f: Form, values: Mapping[str, Form]) -> Form:
    """Return a form with forms in place of names; what is named inside an atom stays."""
    result = f
    for atom, n in f:
        if atom in values:
            result = plus(plus(result, ((atom, n),), -1), values[atom], n)
    return result


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


@dataclass(slots=True)
class State:
    """What holds. `told` and `recent` give for each counter and mark an age, the largest whose
    position tells it, and the smallest whose position it has reached for sure.

    `bounds` are of names (from, to; None: no end), `residues` of forms (modulo, value),
    `known` are the marks that an engine knows to be complete; `ENGINE asked` has asked for them.
    """

    bounds: dict[str, tuple[int, int | None]]
    residues: dict[Form, tuple[int, int]]
    known: dict[str, int]
    told: dict[str, Limits]
    recent: dict[str, Limits]
    values: dict[Key, Value]

    def copy(self) -> State:
        """Return the same state."""
        return State(
            dict(self.bounds),
            dict(self.residues),
            dict(self.known),
            dict(self.told),
            dict(self.recent),
            dict(self.values),
        )

    def case(self, name: str = "") -> object:
        """Return what tells states at one point apart, but for the bounds of a name."""
        bounds = frozenset(item for item in self.bounds.items() if item[0] != name)
        return bounds, frozenset(self.residues.items())

    def exact(self) -> dict[str, Form]:
        """Return the names whose value is known."""
        return {a: form({"": low}) for a, (low, high) in self.bounds.items() if low == high}

    def form(self, expr: Expr | Form, slots: int = 0) -> Form:
        """Return what an expression is, with the values that are known."""
        f = expr if isinstance(expr, tuple) else linear(expr, slots)
        return f if number(f) is not None else substituted(f, self.exact())

    def slots(self, expr: Expr | Form, slots: int) -> Iterator[tuple[State, int]]:
        """Yield this state for each value that an expression may have modulo `slots`."""
        offset, rest, f = 0, dict[str, int](), self.form(expr, slots)
        for name, n in f:
            if name in REMAINDERS:
                for case, value in self.slots(*REMAINDERS[name]):
                    yield from case.slots(substituted(f, {name: form({"": value})}), slots)
                return
            modulo, value = self.residues.get(((name, 1),), (0, 0)) if name else (slots, 1)
            if modulo and n * modulo % slots == 0:
                offset += n * value
            else:
                rest[name] = n % slots
        factor = next(iter(rest.values())) if len(rest) == 1 else 1
        base = form(rest) if factor == 1 else tuple((name, 1) for name in rest)
        wanted = slots // gcd(factor, slots)
        modulo, value = self.residues.get(base, (1, 0))
        if not base or modulo % wanted == 0:
            yield self, (factor * value + offset) % slots
        else:
            step, there = self._known_part(base, wanted)
            for i in range(lcm(modulo, wanted) // modulo):
                if (value + i * modulo - there) % step:
                    continue
                case = self.copy()
                case.residues[base] = lcm(modulo, wanted), value + i * modulo
                yield case, (factor * (value + i * modulo) + offset) % slots

    def _known_part(self, base: Form, slots: int) -> tuple[int, int]:
        """Return modulo what number a form is known, and its value there."""
        total = 0
        for name, n in base:
            modulo, value = self.residues.get(((name, 1),), (1, 0))
            slots, total = gcd(slots, n * modulo), total + n * value
        return slots, total

    def slot(self, expr: Expr, slots: int) -> int:
        """Return the value of an expression modulo `slots` where it is known."""
        ((_, value),) = self.slots(expr, slots)
        return value

    def replace(self, name: str, value: Form | None) -> bool:
        """Put a form in place of a name; None: forget it. Return False if that cannot be."""

        def moved(f: Form) -> Form | None:
            if any(name in names(a) and (value is None or a != name) for a, _ in f):
                return None
            return f if value is None else substituted(f, {name: value})

        for key, v in self.values.items():
            if v.distance:
                self.values[key] = v._replace(distance=moved(v.distance))
        for other in [a for a in self.bounds if a != name and name in names(a)]:
            del self.bounds[other]
        kept = [(moved(f), modulo, n) for f, (modulo, n) in self.residues.items()]
        self.residues, is_possible = {}, True
        for moved_form, modulo, n in kept:
            terms = dict(moved_form or (("", n),))
            rest = n - terms.pop("", 0)
            base = form({a: factor % modulo for a, factor in terms.items()})
            old, there = self.residues.get(base, (1, 0)) if base else (modulo, 0)
            is_possible &= (rest - there) % gcd(old, modulo) == 0
            if base and modulo >= old:
                self.residues[base] = modulo, rest % modulo
        return is_possible

    def meet(self, other: State) -> State:
        """Return what holds in both, apart from what tells them apart."""
        a, b = self, other
        return State(
            {n: _hull(ends, b.bounds[n]) for n, ends in a.bounds.items() if n in b.bounds},
            {key: n for key, n in a.residues.items() if b.residues.get(key) == n},
            {e: marks & b.known[e] for e, marks in a.known.items()},
            {q: _joined(t, b.told[q], True) for q, t in a.told.items()},
            {q: _joined(t, b.recent[q], False) for q, t in a.recent.items()},
            {k: v if v == (w := b.values[k]) else _common(a, b, v, w) for k, v in a.values.items()},
        )


States = list[State]


def _joined(a: Limits, b: Limits, oldest_first: bool) -> Limits:
    """Return for each mark the younger of its ages, or with `oldest_first` false the older one."""
    if a == b:
        return dict(a)
    found: Limits = {}
    first = second = done = 0
    for age in sorted({*a, *b}, reverse=oldest_first):
        first |= a.get(age, 0)
        second |= b.get(age, 0)
        if new := first & second & ~done:
            found[age] = new
            done |= new
    return found


def _hull(a: tuple[int, int | None], b: tuple[int, int | None]) -> tuple[int, int | None]:
    last = None if a[1] is None or b[1] is None else max(a[1], b[1])
    return min(a[0], b[0]), last


def _common(a: State, b: State, v: Value, w: Value) -> Value:
    distance = None
    if v.distance is not None and w.distance is not None:
        if _same(v.distance, w.distance, a):
            distance = w.distance
        elif _same(v.distance, w.distance, b):
            distance = v.distance
    least = None if v.least is None or w.least is None else min(v.least, w.least)
    return Value(distance, least, v.told & w.told, v.after & w.after)


def _same(v: Form, w: Form, state: State) -> bool:
    """Tell whether forms are the same in a state; then the other one holds in it too."""
    return v == w or plus(substituted(v, state.exact()), substituted(w, state.exact()), -1) == ()
