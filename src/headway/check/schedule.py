"""Schedules that show what is early: an order of issues and completions that can happen.

In     a verdict, and the program that it is about
Out    the same verdict; its first early findings tell the events that have to come before, in some
       order that the engine programs allow, up to the issue of the instance that is early
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headway.check.machine import Condition, Machine, Step, machine
from headway.check.verdict import Finding, Verdict
from headway.ir.expr import Inputs
from headway.ir.walk import instructions
from headway.sync.expand import expand_beginning
from headway.sync.program import SyncProgram

MOST = 3
"""How many findings are shown by a schedule."""

MAX_EVENTS = 50_000
"""Events of each engine in which findings are looked for: what is early is mostly so soon."""


def with_schedules(verdict: Verdict, sync: SyncProgram, inputs: Inputs) -> Verdict:
    """Add schedules to the first early findings."""
    shown = [n for n, finding in enumerate(verdict.findings) if finding.kind == "early"][:MOST]
    if not shown or sync.semaphores or any(i.silent for i in instructions(sync.program.body)):
        return verdict
    given = machine(sync, None, expand_beginning(sync, inputs, MAX_EVENTS))
    assert given is not None, "without needs nothing is out of turn"
    findings = list(verdict.findings)
    for number in shown:
        findings[number] = replace(findings[number], schedule=_schedule(given, findings[number]))
    return replace(verdict, findings=tuple(findings))


def _schedule(given: Machine, finding: Finding) -> tuple[str, ...]:
    """Return the schedule of a finding; nothing if it lies too far from the beginning."""
    for engine, row in enumerate(given.steps):
        for number, step in enumerate(row):
            if step.issues >= 0 and str(step.event) == finding.instance:
                past = _Past(given)
                counter = given.counters.index(finding.counter)
                if past.needs(engine, number) and past.completed[counter] < finding.required:
                    return (*past.events(), f"issue {finding.instance}")
    return ()


class _Past:
    """What has to come before: so many steps of each engine, so many completions."""

    def __init__(self, given: Machine) -> None:
        self.steps = [0] * len(given.engines)
        self.completed = [0] * len(given.counters)
        self._given = given

    def needs(self, engine: int, number: int) -> bool:
        """Add what comes before a step; tell whether all of it is there."""
        todo: list[tuple[int, int]] = [(engine, number)]
        conditions: list[tuple[tuple[Condition, ...], tuple[Condition, ...]]] = []
        step = self._given.steps[engine][number]
        conditions.append((step.steps, step.completions))
        while todo or conditions:
            if conditions:
                steps, completions = conditions.pop()
                todo += steps
                todo += [self._issue(*condition) for condition in completions]
                continue
            other, count = todo.pop()
            if count > len(self._given.steps[other]):
                return False
            for before in self._given.steps[other][self.steps[other] : count]:
                conditions.append((before.steps, before.completions))
            self.steps[other] = max(self.steps[other], count)
        return True

    def _issue(self, counter: int, position: int) -> Condition:
        """Add a completion; return the steps after which its instance has been issued."""
        self.completed[counter] = max(self.completed[counter], position)
        counts, host = self._given.issued[counter], self._given.hosts[counter]
        if position > counts[-1]:
            return host, len(counts)
        low, high = 0, len(counts) - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if counts[middle] >= position else (middle + 1, high)
        return host, low

    def events(self) -> Iterator[str]:
        """Yield the events of the past in an order that can happen."""
        done, over = [0] * len(self.steps), [0] * len(self.completed)
        while True:
            engine = next((e for e in range(len(done)) if self._can_go_on(e, done, over)), None)
            if engine is not None:
                step = self._given.steps[engine][done[engine]]
                done[engine] += 1
                yield f"issue {step.event}" if step.issues >= 0 else str(step.event)
                continue
            counter = next((c for c in range(len(over)) if self._can_complete(c, done, over)), None)
            if counter is None:
                return
            over[counter] += 1
            yield f"complete {self._instance(counter, over[counter])}"

    def _can_go_on(self, engine: int, done: list[int], over: list[int]) -> bool:
        if done[engine] == self.steps[engine]:
            return False
        step: Step = self._given.steps[engine][done[engine]]
        is_far = all(done[e] >= n for e, n in step.steps)
        return is_far and all(over[c] >= n for c, n in step.completions)

    def _can_complete(self, counter: int, done: list[int], over: list[int]) -> bool:
        issued = self._given.issued[counter][done[self._given.hosts[counter]]]
        return over[counter] < min(issued, self.completed[counter])

    def _instance(self, counter: int, position: int) -> str:
        _, after = self._issue(counter, position)
        return str(self._given.steps[self._given.hosts[counter]][after - 1].event)
