"""All interleavings of a small program: every order of issues and completions that can happen.

In     a verified synchronized program with its inputs, or the machine that it is
Out    the instances that are issued early in some order, states where nobody can go on, and all
       states as seen from outside: what has been issued and what has completed

To find what is early or gets stuck, an issue that can happen need not be put off: it takes no
condition away, and the longer it is put off, the more has completed. So only completions branch.
A flag that holds some tokens only is the exception: there, to set early and to take late is what
loses a token. So is a semaphore that wraps: who looks late may find a small number again. There all
orders are tried.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from headway.check.machine import Machine, Step, ideal_machine, machine
from headway.check.narrow import seen_by_comparisons, wrapping
from headway.check.needs import reference
from headway.errors import Diagnostic, InvalidInput
from headway.ir.expr import Inputs
from headway.sync.expand import expand
from headway.sync.program import SyncProgram

MAX_STATES = 200_000
"""States after which a program is no small one."""
MAX_STEPS = 5_000
"""Instances, events and iterations of a program that is small."""

State = tuple[tuple[int, ...], tuple[int, ...]]
"""How many steps each engine has done, and how many instances of each counter have completed."""


class Early(NamedTuple):
    """An instance that some order issues before `position` of `counter` has completed."""

    instance: str
    counter: str
    position: int


class Exploration(NamedTuple):
    """What was found. `stuck` are engines that stand for ever in some order; `lost` are flags."""

    states: int
    transitions: int
    seconds: float
    early: frozenset[Early]
    stuck: frozenset[str]
    lost: frozenset[str]
    observed: frozenset[State]

    @property
    def verdict(self) -> str:
        """What `headway check` has to say: early, deadlock, or sound (it may be late)."""
        if self.early:
            return "early"
        return "deadlock" if self.stuck or self.lost else "sound"


class Comparison(NamedTuple):
    """The engine programs and the ideal machine, all orders of both."""

    given: Exploration
    ideal: Exploration

    @property
    def is_equal(self) -> bool:
        """Tell whether the same can have been issued and have completed at any moment."""
        return self.given.observed == self.ideal.observed


def explore(sync: SyncProgram, inputs: Inputs, limit: int = MAX_STATES) -> Exploration:
    """Go through all orders that matter for what is early or stuck.

    Raise InvalidInput if there are more than `limit` states, or if the program is not small or
    issues instances out of turn.
    """
    given = built(sync, inputs)
    is_monotone = not any(step.room or step.looks for row in given.steps for step in row)
    return _Search(given, limit, is_reduced=is_monotone).run()


def compare(sync: SyncProgram, inputs: Inputs, limit: int = MAX_STATES) -> Comparison:
    """Go through all orders of the engine programs, and of the ideal machine. Raise likewise."""
    given = built(sync, inputs)
    ideal = ideal_machine(given, sync.program.serial)
    first = _Search(given, limit, is_reduced=False).run()
    return Comparison(first, _Search(ideal, limit, is_reduced=False).run())


def built(sync: SyncProgram, inputs: Inputs) -> Machine:
    """Return the machine of a small program. Raise InvalidInput."""
    needs = reference(sync, inputs, MAX_STEPS)
    events = expand(sync, inputs, MAX_STEPS)
    seen = seen_by_comparisons(events, sync.semaphores)
    found = machine(sync, needs, seen, wrapping(sync, events))
    if found is None or sum(step.need is not None for x in found.steps for step in x) < len(needs):
        raise InvalidInput(
            Diagnostic(
                "the engine programs do not issue the instances of the program in its order",
                help="`headway check` tells which one",
            )
        )
    return found


class _Search:
    def __init__(self, given: Machine, limit: int, is_reduced: bool) -> None:
        self._machine = given
        self._limit = limit
        self._is_reduced = is_reduced
        self._transitions = 0
        self._early: set[Early] = set()
        self._stuck: set[str] = set()
        self._lost: set[str] = set()

    def run(self) -> Exploration:
        begin = time.perf_counter()
        given = self._machine
        start = ((0,) * len(given.engines), (0,) * len(given.counters))
        seen, todo = {start}, [start]
        while todo:
            for state in self._successors(todo.pop()):
                self._transitions += 1
                if state not in seen:
                    seen.add(state)
                    todo.append(state)
                    if len(seen) > self._limit:
                        raise self._too_many()
        return Exploration(
            len(seen),
            self._transitions,
            time.perf_counter() - begin,
            frozenset(self._early),
            frozenset(self._stuck),
            frozenset(self._lost),
            frozenset(map(self._observed, seen)),
        )

    def _too_many(self) -> InvalidInput:
        return InvalidInput(
            Diagnostic(
                f"more than {self._limit:,} states",
                rule="all orders of issues and completions are tried, so programs have to be small",
                help="choose smaller inputs, or allow more: --states",
            )
        )

    def _observed(self, state: State) -> State:
        """Return what has been issued and what has completed, counter by counter."""
        done, completed = state
        given = self._machine
        return tuple(given.issued[c][done[h]] for c, h in enumerate(given.hosts)), completed

    def _successors(self, state: State) -> Iterator[State]:
        done, completed = state
        given = self._machine
        ready = [e for e in range(len(done)) if self._can_go_on(e, done, completed)]
        for engine in ready:
            self._watch(engine, done, completed)
            yield (*done[:engine], done[engine] + 1, *done[engine + 1 :]), completed
            if self._is_reduced:
                return
        is_over = True
        for counter, host in enumerate(given.hosts):
            if completed[counter] < given.issued[counter][done[host]]:
                is_over = False
                more = completed[counter] + 1
                yield done, (*completed[:counter], more, *completed[counter + 1 :])
        if is_over and not ready:
            self._stuck |= {
                name for e, name in enumerate(given.engines) if done[e] < len(given.steps[e])
            }

    def _can_go_on(self, engine: int, done: tuple[int, ...], completed: tuple[int, ...]) -> bool:
        row = self._machine.steps[engine]
        if done[engine] == len(row):
            return False
        step = row[done[engine]]
        return (
            all(done[e] >= n for e, n in step.steps)
            and all(completed[c] >= n for c, n in step.completions)
            and all(look.holds(self._signalled(look.counter, completed)) for look in step.looks)
        )

    def _signalled(self, counter: int, completed: tuple[int, ...]) -> int:
        given = self._machine
        return given.signals.among(given.counters[counter], completed[counter])

    def _watch(self, engine: int, done: tuple[int, ...], completed: tuple[int, ...]) -> None:
        """Note what is early, or lost, when an engine does its next step."""
        given = self._machine
        step: Step = given.steps[engine][done[engine]]
        if any(done[e] < n for e, n in step.room):
            self._lost.add(step.event.name)
        for counter in given.is_early(engine, done[engine], completed):
            if step.need:
                name = given.counters[counter]
                required = step.need.required[name]
                self._early.add(Early(str(step.need.instance), name, required))
