"""States at the head of a loop, sorted into cases: what a turn does not keep is dropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import gcd, lcm
from typing import Any

from headway.certify.state import Form, Key, State, States, form, number, plus

WIDEN_AFTER = 3

Residue = tuple[Form, int]
Pool = dict[object, State]


class Head:
    """Sorts states at the head of a loop into cases: turns from `most` on are one case."""

    def __init__(self, name: str, most: int, wanted: list[Residue], around: set[str]) -> None:
        self.name, self.most, self.wanted, self.around = name, most, wanted, around

    def add_all(
        self, pool: Pool, states: Iterable[State], updates: Mapping[object, int] = {}
    ) -> dict[object, None]:
        """Add states to those of their cases: what holds in all remains. Return what changed."""
        changed: dict[object, None] = {}
        for state in states:
            for case in self._cases(state.copy()):
                bounds = self._general(case)
                key = bounds, frozenset(case.residues.items())
                old = pool.get(key)
                if old is None:
                    case.bounds = dict(bounds)
                    pool[key] = case
                    changed[key] = None
                    continue
                new = case.meet(old)
                new.bounds = dict(old.bounds)
                if updates.get(key, 0) > WIDEN_AFTER:
                    _widen(new, old)
                if new != old:
                    pool[key] = new
                    changed[key] = None
        return changed

    def _general(self, state: State) -> tuple[tuple[str, tuple[int, int | None]], ...]:
        """Return the bounds of the case that a state belongs to."""
        bounds = {name: ends for name, ends in state.bounds.items() if name in self.around}
        if bounds[self.name][0] >= self.most:
            bounds[self.name] = self.most, None
        return tuple(sorted(bounds.items()))

    def _cases(self, state: State) -> States:
        """Tell apart what the slots of the loop are."""
        cases = [state]
        for base, slots in self.wanted:
            found: States = []
            for case in cases:
                for each, value in case.slots(base, slots):
                    each.residues[base] = slots, value
                    found.append(each)
            cases = found
        for case in cases:
            case.residues = {base: case.residues[base] for base, _ in self.wanted}
        return cases


def together(wanted: Iterable[Residue]) -> list[Residue]:
    """Return few residues that all those follow from: of single names, where one stands alone."""
    singles: dict[str, int] = {}
    rest = list(dict.fromkeys(wanted))
    while True:
        left: list[Residue] = []
        for f, slots in rest:
            others: dict[str, int] = {}
            for name, n in f:
                old, new = singles.get(name, 0), slots // gcd(n, slots)
                if len(f) == 1 or (old and old % new == 0):
                    singles[name] = lcm(old or 1, new)
                else:
                    others[name] = n
            if others:
                left.append((form(others), slots))
        if left == rest:
            return [*((form({a: 1}), n) for a, n in singles.items()), *dict.fromkeys(left)]
        rest = left


def slopes_of(start: State, ends: States) -> dict[Key, int]:
    """Return by how much distances grow in the first turn."""
    found: dict[Key, int] = {}
    for key, value in start.values.items():
        grown = {
            None
            if end.values[key].distance is None or value.distance is None
            else number(plus(end.values[key].distance or (), value.distance, -1))
            for end in ends
        }
        if len(grown) == 1 and (slope := grown.pop()):
            found[key] = slope
    return found


def grown(state: State, slopes: dict[Key, int], iteration: str) -> State:
    state = state.copy()
    for key, slope in slopes.items():
        value = state.values[key]
        if value.distance is not None:
            growth = form({iteration: slope})
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


def written(state: State) -> dict[str, Any]:
    """Return a state as plain data."""

    def limits(table: dict[str, dict[int, int]]) -> dict[str, Any]:
        return {q: {str(a): f"{m:x}" for a, m in sorted(t.items())} for q, t in table.items()}

    return {
        "bounds": {name: list(ends) for name, ends in state.bounds.items()},
        "residues": [[dict(f), slots, n] for f, (slots, n) in state.residues.items()],
        "known": {holder: f"{marks:x}" for holder, marks in state.known.items()},
        "told": limits(state.told),
        "recent": limits(state.recent),
        "values": [
            [
                *key,
                v.distance if v.distance is None else dict(v.distance),
                v.least,
                f"{v.told:x}",
                f"{v.after:x}",
            ]
            for key, v in state.values.items()
        ],
    }
