"""Cases of a state: conditions that tell them apart, and states that follow from others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from headway.certify.state import State, States, number, plus
from headway.ir.expr import Binary, Expr


def alternatives(expr: Expr) -> Iterator[Expr]:
    """Yield what a maximum is taken of."""
    if isinstance(expr, Binary) and expr.operator == "max":
        yield from alternatives(expr.left)
        yield from alternatives(expr.right)
    else:
        yield expr


def any_of(sets: Iterable[int]) -> int:
    """Return what is in any of the sets of marks."""
    found = 0
    for marks in sets:
        found |= marks
    return found


def decided(state: State, condition: Expr) -> bool | None:
    """Tell whether a condition holds, or None if that is open."""
    if not isinstance(condition, Binary) or condition.operator not in DECIDES:
        n = number(state.form(condition))
        return None if n is None else bool(n)
    low: float = 0
    high: float = 0
    for atom, n in plus(state.form(condition.left), state.form(condition.right), -1):
        first, last = (1, 1) if not atom else state.bounds.get(atom, (-INFINITE, None))
        ends = n * first, n * (INFINITE if last is None else last)
        low, high = low + min(ends), high + max(ends)
    return DECIDES[condition.operator](low, high)


INFINITE = float("inf")
DECIDES: dict[str, Callable[[float, float], bool | None]] = {
    ">": lambda low, high: True if low > 0 else False if high <= 0 else None,
    ">=": lambda low, high: True if low >= 0 else False if high < 0 else None,
    "<": lambda low, high: True if high < 0 else False if low >= 0 else None,
    "<=": lambda low, high: True if high <= 0 else False if low > 0 else None,
    "==": lambda low, high: True if low == high == 0 else False if low > 0 or high < 0 else None,
    "!=": lambda low, high: False if low == high == 0 else True if low > 0 or high < 0 else None,
}


def merged(states: Iterable[State], name: str = "") -> States:
    """Return one state for each case: what holds in all of that case. Forget the bounds of a name.

    What holds only because a name has one value holds in another form where that is the same.
    """
    found: dict[object, State] = {}
    for state in states:
        case = state.case(name)
        found[case] = state.meet(found[case]) if case in found else state
    for state in found.values():
        state.bounds.pop(name, None)
    return list(found.values())


def follows(state: State, heads: States) -> bool:
    """Tell whether a state is one of those at a head, whatever it leaves open."""
    cases = [state]
    for base, slots in {(f, modulo) for head in heads for f, (modulo, _) in head.residues.items()}:
        cases = [case for s in cases for case, _ in s.slots(base, slots)]
    return all(any(_is_within(case, head) for head in heads) for case in cases)


def _is_within(state: State, head: State) -> bool:
    for name, (low, high) in head.bounds.items():
        first, last = state.bounds.get(name, (None, None))
        if first is None or first < low or (high is not None and (last is None or last > high)):
            return False
    for base, (slots, n) in head.residues.items():
        if [value for _, value in state.slots(base, slots)] != [n]:
            return False
    both = state.meet(head)  # in the forms of the head
    return (both.known, both.told, both.recent, both.values) == (
        head.known,
        head.told,
        head.recent,
        head.values,
    )


def may_turn(state: State, iteration: str, trip: Expr) -> bool:
    """Tell whether a loop may go on in a state at its head."""
    most = number(state.form(trip))
    return most is None or state.bounds[iteration][0] < most


def has_left(state: State, iteration: str, expr: Expr | None) -> bool:
    """Leave a loop: tell whether it may end in a state, and note how often it has run then."""
    low, high = state.bounds.pop(iteration)
    trip = None if expr is None else state.form(expr)
    if not state.replace(iteration, trip):
        return False
    if trip is None:
        return True
    if (n := number(trip)) is not None:
        return low <= n and (high is None or n <= high)
    terms = dict(trip)
    offset = terms.pop("", 0)
    if list(terms.values()) == [1]:
        (name,) = terms
        first, last = state.bounds.get(name, (low - offset, None))
        first = max(first, low - offset)
        ends = [end for end in (last, None if high is None else high - offset) if end is not None]
        state.bounds[name] = first, min(ends, default=None)
        return not ends or first <= min(ends)
    return True
