"""The timed machine, in plain Python. The rules are those of docs/timing.md, in the same order.

A sequencer runs until it has to wait for a signal that nobody has given yet. That is right in any
order, because a signal's time does not depend on who looks at it. Only the shared DMA bandwidth
depends on who comes first, and what a semaphore reads that may have wrapped: a sequencer stops in
front of a trigger or of such a wait, and the earliest one goes on when nobody else can.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from headway.errors import Location
from headway.sim import problems
from headway.sim.actions import Action, Await, Give, Issue, Meet, Read, Spend
from headway.sim.log import NO_SIGNAL, EngineLog, Log, Signal
from headway.sim.model import Model, Timing
from headway.sim.reason import Reason
from headway.sim.timeline import PS, EngineTime, Site, Track


def _column(code: Literal["i", "q"]) -> array[int]:
    return field(default_factory=lambda: array(code))


@dataclass(slots=True)
class _Counter:
    """`base` signals and `drained` instances lie before the last barrier.

    `free` is when the next one may start. `signals` are the numbers of the instances that are not
    silent; None if none is.
    """

    signals: array[int] | None = None
    base: int = 0
    drained: int = 0
    free: int = 0
    sites: array[int] = _column("i")
    iterations: array[int] = _column("i")
    issue: array[int] = _column("q")
    start: array[int] = _column("q")
    done: array[int] = _column("q")

    @property
    def last(self) -> int:
        return self.done[-1] if self.done else 0

    @property
    def count(self) -> int:
        """How many signals there are."""
        return len(self.done if self.signals is None else self.signals)

    def instance(self, number: int) -> int:
        """Return the number of the instance that gives a signal, 0 for none."""
        return number if self.signals is None or not number else self.signals[number - 1]

    def seen(self, time: int) -> int:
        """Return how many signals there are at a time."""
        instances = bisect_right(self.done, time, lo=self.drained)
        return instances if self.signals is None else bisect_right(self.signals, instances)


@dataclass(slots=True)
class _Sequencer:
    name: str
    actions: Iterator[Action]
    own: tuple[int, ...]  # the counters that it drains at a barrier
    log: EngineLog | None = None
    pending: Action | None = None
    time: int = 0
    waiting: int = 0
    synchronization: int = 0
    waits: int = 0
    barriers: int = 0

    def spend(self, time: int, reason: Reason, at: Location | None) -> None:
        """Spend time on synchronization."""
        if time:
            self.synchronization += time
            self.go_on(self.time + time, reason, at)

    def stand(self, until: int, reason: Reason, at: Location | None, signal: Signal) -> None:
        """Stand still until a signal is seen, if it is not yet."""
        if until > self.time:
            self.waiting += until - self.time
            self.go_on(until, reason, at, signal)

    def go_on(
        self, time: int, reason: Reason, at: Location | None, signal: Signal = NO_SIGNAL
    ) -> None:
        """Set the time, and say why. Nothing else does, so that the log has no gaps."""
        self.time = time
        if self.log is not None:
            self.log.steps.add(time, reason, at, signal)


class Machine:
    """One run of engines, each given by its actions."""

    def __init__(
        self, model: Model, programs: Sequence[tuple[str, Iterator[Action]]], detail: bool
    ) -> None:
        self.log = Log.of(model, [name for name, _ in programs]) if detail else None
        self._model = model
        self._costs = model.costs
        self._narrow = model.narrow
        self._counters = [
            _Counter(array("i") if number in model.silent else None)
            for number in range(len(model.counters) + len(model.flags))
        ]
        self._sequencers = [
            _Sequencer(name, steps, _drained(model, name), self.log and self.log.engines[number])
            for number, (name, steps) in enumerate(programs)
        ]
        self._places: dict[Site, int] = {}
        self._busy = [0] * len(model.counters)
        self._dma_free = 0

    def run(self) -> None:
        """Run until all engines have ended. Raise InvalidProgram on a deadlock."""
        for sequencer in self._sequencers:
            sequencer.pending = next(sequencer.actions, None)
        while self._advance_all() or self._earliest() or self._meet():
            pass
        if any(sequencer.pending for sequencer in self._sequencers):
            raise problems.deadlock(
                [self._stuck(s, s.pending) for s in self._sequencers if s.pending],
                [s.name for s in self._sequencers if s.pending is None],
            )

    def _advance_all(self) -> bool:
        moved = [self._advance(sequencer) for sequencer in self._sequencers]
        return any(moved)

    def _advance(self, sequencer: _Sequencer) -> bool:
        """Let a sequencer run as far as it can."""
        moved = False
        while sequencer.pending and self._step(sequencer, sequencer.pending):
            sequencer.pending = next(sequencer.actions, None)
            moved = True
        return moved

    def _step(self, sequencer: _Sequencer, action: Action) -> bool:
        """Do one action, or return False if it has to wait for others."""
        match action:
            case Spend():
                sequencer.spend(*action)
            case Await():
                return action.counter not in self._narrow and self._await(sequencer, action)
            case Give():
                self._give(sequencer, action)
            case Read():
                self._read(sequencer, action)
            case Issue():
                if action.timing.trigger is None:
                    self._compute(sequencer, action)
                elif self._costs.is_shared:
                    return False
                else:
                    self._transfer(sequencer, action, action.timing.trigger)
            case Meet():
                return False
        return True

    def _give(self, sequencer: _Sequencer, action: Give) -> None:
        sequencer.spend(action.cost, Reason.FLAG, action.at)
        source = self._counters[action.counter]
        self._counters[action.flag].done.append(max(sequencer.time, source.last))
        if self.log is not None:
            self.log.counters[action.flag].set_at.append(sequencer.time)
            self.log.counters[action.flag].last.append(len(source.done))

    def _await(self, sequencer: _Sequencer, wait: Await) -> bool:
        counter = self._counters[wait.counter]
        number = counter.base + wait.threshold if wait.threshold > 0 else 0
        if number > counter.count:
            return False
        self._pass(sequencer, wait, counter.instance(number))
        return True

    def _pass(self, sequencer: _Sequencer, wait: Await, position: int) -> None:
        """Pass a wait when the instance `position` is seen complete; with 0 it holds already."""
        begin = sequencer.time
        if position:
            until = self._counters[wait.counter].done[position - 1] + self._costs.hop
            if until > begin:
                signal = Signal(wait.counter, position)
                sequencer.stand(until, Reason.WAITING, wait.at, signal)
        if sequencer.log is not None:
            sequencer.log.waits.add(wait, position, begin, sequencer.time)
        sequencer.spend(wait.cost, wait.reason, wait.at)
        sequencer.waits += 1

    def _compute(self, sequencer: _Sequencer, action: Issue) -> None:
        timing = action.timing
        counter = self._counters[timing.counter]
        start = max(sequencer.time, counter.free)
        counter.free = start + timing.occupancy
        if self.log is not None:
            self._note(sequencer, timing.counter, action.at)
        if start > sequencer.time:
            before = Signal(timing.counter, len(counter.done))
            sequencer.go_on(start, Reason.WORKING, action.at, before)
        if self._costs.overlaps:
            sequencer.go_on(start + self._costs.issue, Reason.ISSUE, action.at)
        else:
            here = Signal(timing.counter, len(counter.done) + 1)
            sequencer.go_on(counter.free, Reason.WORKING, action.at, here)
        self._busy[timing.counter] += timing.occupancy
        self._record(timing, action.iteration, start, start)

    def _transfer(self, sequencer: _Sequencer, action: Issue, trigger: int) -> None:
        timing, issue = action.timing, sequencer.time
        counter = self._counters[timing.counter]
        ready = issue + self._costs.dispatch
        if self._costs.is_shared:
            ready = max(ready, self._dma_free)
            self._dma_free = ready + timing.payload
        start = max(ready, counter.free)
        counter.free = start + timing.occupancy
        if self.log is not None:
            self._note(sequencer, timing.counter, action.at)
            self.log.transfer(timing.counter, ready)
        sequencer.go_on(sequencer.time + trigger, Reason.TRIGGER, action.at)
        self._busy[timing.counter] += timing.payload
        self._record(timing, action.iteration, issue, start)

    def _read(self, sequencer: _Sequencer, action: Read) -> None:
        counter = self._counters[action.counter]
        issue = sequencer.time
        if self.log is not None:
            self._note(sequencer, action.counter, action.at)
        sequencer.go_on(issue + self._costs.load, Reason.LOAD, action.at)
        self._append(counter, Site(action.name, len(action.iteration)), action.iteration)
        counter.issue.append(issue)
        counter.start.append(issue)
        counter.done.append(sequencer.time)

    def _record(self, timing: Timing, iteration: tuple[int, ...], issue: int, start: int) -> None:
        counter = self._counters[timing.counter]
        self._append(counter, Site(timing.name, len(iteration)), iteration)
        counter.issue.append(issue)
        counter.start.append(start)
        counter.done.append(max(counter.last, start + timing.latency))
        if counter.signals is not None and not timing.silent:
            counter.signals.append(len(counter.done))

    def _note(self, sequencer: _Sequencer, counter: int, at: Location | None) -> None:
        if self.log and sequencer.log:
            self.log.instance(sequencer.log, counter, at)

    def _append(self, counter: _Counter, site: Site, iteration: tuple[int, ...]) -> None:
        counter.sites.append(self._places.setdefault(site, len(self._places)))
        counter.iterations.extend(iteration)

    def _earliest(self) -> bool:
        """Let the earliest trigger or narrow wait go on; of equals, triggers first, then by engine.

        Whoever else stands can give no signal before that time.
        """
        parked = [(*when, s) for s in self._sequencers if (when := self._when(s))]
        if not parked:
            return False
        _, is_wait, position, sequencer = min(parked, key=lambda row: row[:2])
        action = sequencer.pending
        if isinstance(action, Await) and is_wait:
            self._pass(sequencer, action, position)
        elif isinstance(action, Issue) and action.timing.trigger is not None:
            self._transfer(sequencer, action, action.timing.trigger)
        sequencer.pending = next(sequencer.actions, None)
        return True

    def _when(self, sequencer: _Sequencer) -> tuple[int, bool, int] | None:
        """Return when a parked sequencer can go on, whether it waits, and for which signal."""
        match sequencer.pending:
            case Issue():
                return sequencer.time, False, 0
            case Await() as wait if wait.counter in self._narrow:
                return self._when_it_holds(sequencer, wait)
            case _:
                return None

    def _when_it_holds(self, sequencer: _Sequencer, wait: Await) -> tuple[int, bool, int] | None:
        """Return when a narrow wait holds by the signals there are; None if by none of them."""
        counter, semaphore = self._counters[wait.counter], self._narrow[wait.counter]
        seen = counter.seen(sequencer.time - self._costs.hop)
        wanted = semaphore.value(wait.threshold)
        if semaphore.value(seen - counter.base) >= wanted:
            return sequencer.time, True, 0
        for number in range(seen + 1, counter.count + 1):
            if semaphore.value(number - counter.base) >= wanted:
                position = counter.instance(number)
                return counter.done[position - 1] + self._costs.hop, True, position
        return None

    def _meet(self) -> bool:
        """Let all engines go through a barrier, if all have come to one."""
        sequencers = self._sequencers
        if not sequencers or not all(isinstance(s.pending, Meet) for s in sequencers):
            return False
        drained = [self._drain(sequencer) for sequencer in sequencers]
        last = max(range(len(sequencers)), key=lambda number: sequencers[number].time)
        met = sequencers[last].time
        for sequencer in sequencers:
            at = sequencer.pending.at if isinstance(sequencer.pending, Meet) else None
            sequencer.stand(met, Reason.BARRIER, at, drained[last])
            sequencer.spend(2 * self._costs.rendezvous + self._costs.reset, Reason.BARRIER, at)
            sequencer.barriers += 1
            sequencer.pending = next(sequencer.actions, None)
        if self.log is not None:
            self.log.meet(met, last)
        for counter in self._counters[: len(self._model.counters)]:  # flags keep their tokens
            counter.base, counter.drained = counter.count, len(counter.done)
        return True

    def _drain(self, sequencer: _Sequencer) -> Signal:
        """Wait until everything has completed that was issued since the last barrier.

        Return the signal that it stood for last.
        """
        at = sequencer.pending.at if isinstance(sequencer.pending, Meet) else None
        last = NO_SIGNAL
        for number in sequencer.own:
            counter = self._counters[number]
            if len(counter.done) > counter.drained:
                until = counter.last + self._costs.hop
                signal = Signal(number, len(counter.done))
                last = signal if until > sequencer.time else last
                sequencer.stand(until, Reason.BARRIER, at, signal)
                sequencer.spend(self._costs.wait, Reason.BARRIER, at)
        return last

    def _stuck(self, sequencer: _Sequencer, action: Action | None) -> problems.Stuck:
        if not isinstance(action, Await):
            at = action.at if isinstance(action, Meet) else None
            return problems.Stuck(sequencer.name, "", 0, 0, at)
        counter = self._counters[action.counter]
        reached = counter.count - counter.base
        name = self._model.name(action.counter)
        return problems.Stuck(sequencer.name, name, action.threshold, reached, action.at)

    @property
    def latency(self) -> float:
        """When everything has completed, in ns."""
        ends = [s.time for s in self._sequencers] + [c.last for c in self._counters]
        return max(ends, default=0) / PS

    @property
    def waits(self) -> int:
        """How many waits were executed."""
        return sum(sequencer.waits for sequencer in self._sequencers)

    @property
    def barriers(self) -> int:
        """How many barriers were executed, by all engines together."""
        return max((sequencer.barriers for sequencer in self._sequencers), default=0)

    def tracks(self) -> tuple[Track, ...]:
        """Return the instances of every counter that has any."""
        model, places = self._model, tuple(self._places)
        silent = frozenset(t.name for t in model.timings.values() if t.silent)
        rows = zip(model.counters, model.owners, self._counters, strict=False)
        return tuple(
            Track(name, owner, places, c.sites, c.iterations, c.issue, c.start, c.done, silent)
            for name, owner, c in rows
            if c.done
        )

    def engine_times(self) -> tuple[EngineTime, ...]:
        """Return how each engine spent its time."""
        return tuple(
            EngineTime(
                s.name,
                self._busy[self._model.number[s.name]] / PS,
                s.waiting / PS,
                s.synchronization / PS,
            )
            for s in self._sequencers
        )


def _drained(model: Model, engine: str) -> tuple[int, ...]:
    """Return the counters of an engine and its queues."""
    owned = range(len(model.counters) - len(model.engines))
    return tuple(n for n in owned if model.owners[n] == engine)
