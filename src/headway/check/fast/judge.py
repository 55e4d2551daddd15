"""Run the compiled judge: first as far as engines can go, then blindly to all ends."""

from __future__ import annotations

from collections.abc import Callable

from headway.check.fast import loops
from headway.check.fast import records as rec
from headway.check.fast.lower import Code, lower
from headway.check.fast.report import Stuck, report
from headway.check.fast.state import State, pruned, state, with_room
from headway.check.verdict import Verdict
from headway.code.rows import FAILED, TOO_LARGE, TOO_LONG, TooLarge
from headway.ir.expr import Inputs
from headway.spec import over_limit
from headway.sync import problems
from headway.sync.program import SyncProgram

Progress = Callable[[str], None]


def check(sync: SyncProgram, inputs: Inputs, limit: int, progress: Progress) -> Verdict:
    """Judge a verified program for given inputs.

    Raise InvalidInput if the inputs do not fit or a program is longer than `limit`, and TooLarge
    if something does not fit the compiled judge.
    """
    plan, code = lower(sync, inputs, limit)
    s = state(plan, code)
    while (reason := loops.run(*s[:6])) in (rec.FULL, rec.PAUSED):
        s = with_room(pruned(s))
        issued = int(s.counters[: s.m[rec.N_COUNTERS], rec.COUNT].sum())
        progress(f"{issued:,} instances judged")
    if reason == TOO_LARGE:
        raise TooLarge
    reached = s.counters[:, rec.COUNT].copy()
    stuck = [_stuck(s, code, number) for number in range(len(plan.engines))]
    _run_to_the_ends(s, code, limit)
    return report(plan, code, s, reached, stuck)


def _stuck(s: State, code: Code, number: int) -> Stuck:
    """Return where an engine stands; move it to the event that it stands in front of."""
    engine = s.engines[number]
    row = s.row(code, engine[rec.PC])
    loops.to_event(s.m, int(s.m[rec.ENGINES]) + number * rec.ENGINE_WIDTH)
    event = s.row(code, engine[rec.PC])
    iteration = tuple(int(s.m[place]) for place in code.scopes.get(event, {}).values())
    return Stuck(row, int(engine[rec.AWAITED]), event, iteration)


def _run_to_the_ends(s: State, code: Code, limit: int) -> None:
    """Run all programs to their ends, where they may fail: the sequential one first."""
    s.m[rec.BLIND] = 1
    s.counters[:, rec.STOP_AT] = 0
    _raise(loops.specify(*s[:3]), s, code, limit)
    for engine in range(int(s.m[rec.ENGINES]), int(s.m[rec.SPEC]), rec.ENGINE_WIDTH):
        _raise(loops.advance(s.m, *s[2:6], engine), s, code, limit)


def _raise(reason: int, s: State, code: Code, limit: int) -> None:
    """Raise what a program has stopped for, unless it has ended."""
    if reason == TOO_LARGE:
        raise TooLarge
    if reason not in (FAILED, TOO_LONG):
        return
    stopped = int(s.m[rec.STOPPED])
    row = s.row(code, s.m[stopped + rec.PC])
    if reason == TOO_LONG:
        at = code.events[row][1] if row in code.events else code.loops[row]
        problem = over_limit if stopped == s.m[rec.SPEC] else problems.over_limit
        raise problem(limit, at)
    value = int(s.m[rec.VALUE])
    if row in code.bad_slots:
        iterations = {name: int(s.m[place]) for name, place in code.scopes[row].items()}
        raise code.bad_slots[row](value, iterations)
    raise code.fails[row](value)
