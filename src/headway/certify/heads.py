"""States that hold in several cases, and states at the head of a loop: what a turn keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf

from headway.certify.numbers import Form, Number, is_about, known, linear, plus, times
from headway.certify.state import Key, Limits, State, Value
from headway.ir.expr import Iteration

WIDEN_AFTER = 3
"""Changes of one case at a loop head, after which what still changes there is given up."""

States = list[State]
Pool = dict[object, State]


def case_of(state: State) -> object:
    """Return what tells states at one point apart."""
    return frozenset(state.numbers.items())


def meet(a: State, b: State) -> State:
    """Return what holds in both; numbers are those of the second where the first agrees."""
    return State(
        {f: n for f, n in b.numbers.items() if a.number(f).says(n)},
        {holder: marks & b.known[holder] for holder, marks in a.known.items()},
        {q: _joined(limits, b.told[q], True) for q, limits in a.told.items()},
        {q: _joined(limits, b.recent[q], False) for q, limits in a.recent.items()},
        {k: v if v == (w := b.values[k]) else _common(a, b, v, w) for k, v in a.values.items()},
    )


def merged(states: Iterable[State], forgotten: str = "") -> States:
    """Return one state for each case, what holds in all of it; nothing is said of one name.

    What holds only because a name has one value holds in another form where that is the same.
    """
    found: dict[object, State] = {}
    for state in states:
        kept = {
            f: n for f, n in state.numbers.items() if not (forgotten and is_about(f, forgotten))
        }
        case = frozenset(kept.items())
        if case in found:
            found[case] = _with(meet(state, found[case]), found[case].numbers)
        else:
            found[case] = state
    for state in found.values():
        state.numbers = {
            f: n for f, n in state.numbers.items() if not (forgotten and is_about(f, forgotten))
        }
    return list(found.values())


def _with(state: State, numbers: Mapping[Form, Number]) -> State:
    state.numbers = dict(numbers)
    return state


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


def _common(a: State, b: State, v: Value, w: Value) -> Value:
    distance = None
    if v.distance is not None and w.distance is not None:
        gap = plus(v.distance, w.distance, -1)
        distance = w.distance if not a.form(gap) else v.distance if not b.form(gap) else None
    least = None if v.least is None or w.least is None else min(v.least, w.least)
    return Value(distance, least, v.told & w.told, v.after & w.after)


class Head:
    """Sorts states at the head of a loop into cases: turns from `most` on are one case.

    `wanted` are numbers that are told apart, and modulo what; of `kept` ones, whether they are 0.
    """

    def __init__(
        self,
        name: str,
        most: int,
        wanted: Mapping[Form, int],
        around: list[str],
        kept: Iterable[Form] = (),
    ) -> None:
        self.kept = tuple(kept)
        self.turn, self.most, self.wanted = linear(Iteration(name)), most, wanted
        self.around = [linear(Iteration(each)) for each in around]

    def add_all(
        self, pool: Pool, states: Iterable[State], updates: Mapping[object, int] = {}
    ) -> dict[object, None]:
        """Add states to those of their cases: what holds in all remains. Return what changed."""
        changed: dict[object, None] = {}
        for state in states:
            numbers = self._general(state)
            key = frozenset(numbers.items())
            old = pool.get(key)
            new = _with(state.copy() if old is None else meet(state, old), numbers)
            if old is not None and updates.get(key, 0) > WIDEN_AFTER:
                _widen(new, old)
            if new != old:
                pool[key] = new
                changed[key] = None
        return changed

    def _general(self, state: State) -> dict[Form, Number]:
        """Return the numbers of the case that a state belongs to."""
        found: dict[Form, Number] = {}
        for f in dict.fromkeys([*self.around, *self.wanted]):
            number = state.number(f)
            modulus = self.wanted.get(f, 1)
            if f == self.turn and number.least >= self.most:
                number = known(number.rest, modulus, self.most)
            elif f not in self.around or number.modulus:
                number = known(number.rest, modulus, number.least if f in self.around else -inf)
            found[f] = number
        for f in self.kept:
            number = state.number(f)
            if number.least >= 1:
                found[f] = known(0, 1, 1)
            elif number == known(0):
                found[f] = number
        return found


def slopes_of(start: State, ends: States) -> dict[Key, Form]:
    """Return by how much distances grow in the first turn."""
    found: dict[Key, Form] = {}
    for key, value in start.values.items():
        grown = {
            None
            if (distance := end.values[key].distance) is None or value.distance is None
            else plus(distance, value.distance, -1)
            for end in ends
        }
        if len(grown) == 1 and (slope := grown.pop()):
            found[key] = slope
    return found


def grown(state: State, slopes: Mapping[Key, Form], iteration: str) -> State:
    """Return a state with distances that grow with an iteration, which is 0 in it."""
    state = state.copy()
    for key, slope in slopes.items():
        value = state.values[key]
        if value.distance is not None:
            growth = times(slope, linear(Iteration(iteration)))
            state.values[key] = value._replace(distance=plus(value.distance, growth))
    return state


def _widen(new: State, old: State) -> None:
    """Drop what has changed and may change for ever."""
    for table, before in ((new.told, old.told), (new.recent, old.recent)):
        for q, limits in table.items():
            table[q] = {
                a: m & before[q].get(a, 0) for a, m in limits.items() if m & before[q].get(a, 0)
            }
    for key, value in new.values.items():
        if value.least != old.values[key].least:
            new.values[key] = value._replace(least=None)
