"""Say what the compiled judge has found, in the words of `headway.check.findings`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from headway.check import findings
from headway.check.fast import loops
from headway.check.fast import records as rec
from headway.check.fast.lower import Code
from headway.check.fast.records import Plan
from headway.check.fast.state import State, listed, state
from headway.check.verdict import Finding, Verdict, verdict
from headway.code.arrays import Longs
from headway.ir.program import Instr, control_counter
from headway.ir.walk import control_reads, instructions
from headway.spec import Instance
from headway.sync.expand import ConcreteWait, Event
from headway.sync.program import Threshold, Wait

Place = tuple[int, int]
"""An instance: the number of its counter, and its position."""

Told = tuple[int, int, Finding]
"""A finding with the number of its instance in sequential order, and that of its engine."""


class Stuck(NamedTuple):
    """Where an engine stands: row, signal awaited; the row and iteration of the event it is at."""

    row: int
    awaited: int
    event: int
    iteration: tuple[int, ...]


def report(plan: Plan, code: Code, s: State, reached: Longs, stuck: Sequence[Stuck]) -> Verdict:
    """Return the verdict. `reached` are the signals that were given when all engines stood still,
    before they were run blindly to their ends."""
    chosen, more = listed(s)
    told = _Report(plan, code, s, reached, stuck, list(chosen))
    found = [finding for _, _, finding in sorted(told.findings(), key=lambda found: found[:2])]
    instances = int(s.counters[: len(plan.counters), rec.NEED_COUNT].sum())
    result = verdict(found, instances, int(s.m[rec.WAITED]))
    return replace(result, more=result.more + more)


class _Report:
    def __init__(
        self,
        plan: Plan,
        code: Code,
        s: State,
        reached: Longs,
        stuck: Sequence[Stuck],
        chosen: Sequence[Longs],
    ) -> None:
        self._plan = plan
        self._code = code
        self._s = s
        self._reached = [int(x) for x in reached]
        self._total = [int(x) for x in s.counters[:, rec.NEED_COUNT]]
        self._base = [int(x) for x in s.counters[:, rec.BASE]]
        self._stuck = stuck
        self._chosen = chosen
        program = plan.sync.program
        nodes = (*instructions(program.body), *control_reads(program.body))
        self._nodes = {plan.names[node.name]: node for node in nodes}
        self._instances = self._named(self._places())

    def findings(self) -> Iterator[Told]:
        """Yield all findings; those of an engine in the order of its events."""
        for record in self._chosen:
            engine = (int(record[rec.F_ENGINE]) - int(self._s.m[rec.ENGINES])) // rec.ENGINE_WIDTH
            yield int(record[rec.F_NUMBER]), engine, self._finding(record, engine)
        if not self._s.m[rec.DISORDER]:
            deadlocks = list(self._deadlocks())
            yield from deadlocks
            if not deadlocks:
                yield from ((0, 0, finding) for finding in self._remains())

    def _counter(self, address: int) -> int:
        return (address - rec.HEADER) // rec.COUNTER_WIDTH

    def _places(self) -> Iterator[Place]:
        """Yield the instances that findings name."""
        for record in self._chosen:
            kind = record[rec.KIND]
            about = self._counter(int(record[rec.ABOUT]))
            if kind == rec.OUT_OF_ORDER:
                yield about, int(record[rec.GOT])
            elif kind != rec.OVERFULL:
                yield self._counter(int(record[rec.F_COUNTER])), int(record[rec.F_POSITION])
            if kind == rec.EARLY:
                yield about, int(record[rec.WANTED])
        for counter in range(len(self._plan.counters)):
            yield counter, self._reached[counter] + 1

    def _named(self, places: Iterable[Place]) -> dict[Place, Instance]:
        """Run the sequential program once more, and stop at these instances."""
        wanted: defaultdict[int, set[int]] = defaultdict(set)
        for counter, position in places:
            if position <= self._total[counter]:
                wanted[counter].add(position)
        todo = {counter: sorted(positions) for counter, positions in wanted.items()}
        s, found = state(self._plan, self._code), dict[Place, Instance]()
        s.m[rec.BLIND] = 1
        for counter, positions in todo.items():
            s.counters[counter, rec.STOP_AT] = positions[0]
        while any(todo.values()) and loops.specify(*s[:3]) == rec.WATCHED:
            row = s.row(self._code, s.engines[-1, rec.PC]) - 1
            counter = self._counter(int(s.m[s.address(self._code, row) + 1]))
            position = todo[counter].pop(0)
            s.counters[counter, rec.STOP_AT] = todo[counter][0] if todo[counter] else 0
            found[counter, position] = self._instance(s, row, counter, position)
        return found

    def _instance(self, s: State, row: int, counter: int, position: int) -> Instance:
        node = self._nodes[int(s.m[s.address(self._code, row) + 2]) // 2]
        name = self._plan.counters[counter]
        hosts = {control_counter(host): host for host in self._plan.counters}
        engine = node.engine if isinstance(node, Instr) else hosts[name]
        iteration = tuple(int(s.m[place]) for place in self._code.scopes[row].values())
        return Instance(node, engine, name, position, iteration, (), ())

    def _set_in(self, engine: int, flag: int, token: int) -> tuple[int, ...]:
        """Run an engine once more to where it sets a token; return the iteration."""
        s = state(self._plan, self._code)
        s.m[rec.BLIND] = 1
        s.counters[flag, rec.STOP_AT] = token
        loops.advance(s.m, *s[2:6], self._plan.engine_at(engine))
        row = s.row(self._code, s.engines[engine, rec.PC])
        return tuple(int(s.m[place]) for place in self._code.scopes[row].values())

    def _event(self, row: int, iteration: tuple[int, ...] = ()) -> Event:
        name, at = self._code.events[row]
        operation = self._operation(row)
        kind = "set" if operation == rec.SET else "exec"
        if not name:
            kind = "barrier" if operation == rec.MEET else "end"
        return Event(kind, name, iteration, (), at)

    def _wait(self, row: int, threshold: int = 0) -> ConcreteWait:
        wait = self._code.waits[row]
        return ConcreteWait(wait.counter, threshold, wait)

    def _finding(self, record: Longs, engine: int) -> Finding:
        kind, got, wanted = (int(record[k]) for k in (rec.KIND, rec.GOT, rec.WANTED))
        name, about = self._plan.engines[engine], self._counter(int(record[rec.ABOUT]))
        by = int(record[rec.BY])
        row = self._s.row(self._code, int(record[rec.F_ROW]))
        if kind == rec.OUT_OF_ORDER:
            event = self._event(row, self._stuck[engine].iteration)
            return findings.out_of_order(name, event, self._instances.get((about, got)))
        if kind == rec.OVERFULL:
            flag = self._plan.sync.flags[about - len(self._plan.counters)]
            event = self._event(row, self._set_in(engine, about, wanted))
            return findings.overfull(name, event, flag, wanted, got)
        place = self._counter(int(record[rec.F_COUNTER])), int(record[rec.F_POSITION])
        instance, counter = self._instances[place], self._plan.counters[about]
        if kind == rec.LATE_BARRIER:
            return findings.late_barrier(self._event(row), instance, counter, got, wanted)
        by_row = self._s.row(self._code, by) if by else -1
        if kind == rec.LATE:
            return findings.late(instance, self._wait(by_row), got, {counter: wanted})
        if kind == rec.LATE_TAKE:
            take = self._wait(by_row, int(record[rec.F_ROW]))
            return findings.late_take(instance, take, counter, got, {counter: wanted})
        before = self._instances[about, wanted]
        return findings.early(self._event(row), instance, before, got, self._source(by_row))

    def _source(self, row: int) -> str:
        """Return a wait as it is written; "" for none."""
        if row < 0:
            return ""
        wait = self._code.waits[row]
        is_take = any(wait.counter == flag.name for flag in self._plan.sync.flags)
        return f"take {wait.counter}" if is_take else str(wait)

    def _deadlocks(self) -> Iterator[Told]:
        engines = list(zip(self._plan.engines, self._stuck, strict=True))
        absent = [e for e, stuck in engines if self._operation(stuck.row) != rec.MEET]
        ended = [e for e, stuck in engines if self._operation(stuck.row) == rec.END]
        for number, stuck in enumerate(self._stuck):
            engine = self._plan.engines[number]
            operation = self._operation(stuck.row)
            if operation == rec.MEET:
                event = self._event(stuck.row)
                told = findings.lonely_barrier(engine, event, absent, ended)
                yield int(absent != ended), number, told
            elif operation == rec.AWAIT:
                is_cycle, told = self._deadlock(engine, stuck)
                yield int(is_cycle), number, told

    def _operation(self, row: int) -> int:
        return int(self._s.m[self._s.address(self._code, row)])

    def _deadlock(self, engine: str, stuck: Stuck) -> tuple[bool, Finding]:
        """Return a finding, and whether the signal would come if the others went on."""
        wait, event = self._code.waits[stuck.row], self._event(stuck.event, stuck.iteration)
        counter = self._counter(int(self._s.m[self._s.address(self._code, stuck.row) + 1]))
        base, reached = self._base[counter], self._reached[counter]
        if counter < len(self._plan.counters):
            awaited = ConcreteWait(wait.counter, stuck.awaited - base, wait)
            total = reached if self._has_ended(counter) else self._total[counter]
            count, most = reached - base, total - base
            told = findings.deadlock(engine, event, awaited, count, most, self._waits_for())
            return stuck.awaited <= total, told
        token = Wait(wait.counter, Threshold(None, stuck.awaited), wait.at)
        awaited = ConcreteWait(wait.counter, stuck.awaited, token)
        total = int(self._s.counters[counter, rec.COUNT])
        told = findings.no_token(engine, event, awaited, reached, total, self._waits_for())
        return stuck.awaited <= total, told

    def _waits_for(self) -> dict[str, str]:
        """Return who waits for whom."""
        found: dict[str, str] = {}
        for engine, stuck in zip(self._plan.engines, self._stuck, strict=True):
            if self._operation(stuck.row) == rec.AWAIT:
                counter = self._s.m[self._s.address(self._code, stuck.row) + 1]
                host = int(self._s.m[int(counter) + rec.HOST])
                number = (host - int(self._s.m[rec.ENGINES])) // rec.ENGINE_WIDTH
                found[engine] = self._plan.engines[number] if host >= 0 else ""
        return found

    def _has_ended(self, counter: int) -> bool:
        """Tell whether the engine that issues on a counter has nothing more to issue."""
        host = int(self._s.counters[counter, rec.HOST]) - int(self._s.m[rec.ENGINES])
        is_run = 0 <= host // rec.ENGINE_WIDTH < len(self._stuck)
        return is_run and self._operation(self._stuck[host // rec.ENGINE_WIDTH].event) == rec.END

    def _remains(self) -> Iterator[Finding]:
        """Yield what was never issued, and tokens that are left."""
        for counter in range(len(self._plan.counters)):
            if self._reached[counter] < self._total[counter]:
                yield findings.never_issued(self._instances[counter, self._reached[counter] + 1])
        for number, flag in enumerate(self._plan.sync.flags):
            place = self._code.taken.get(flag.name)
            taken = int(self._s.m[place]) if place else 0
            left = self._reached[len(self._plan.counters) + number] - taken
            if left:
                yield findings.leftover(flag, left)
