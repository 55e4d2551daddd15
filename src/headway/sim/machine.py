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

from headway.sim import problems
from headway.sim.actions import Action, Await, Give, Issue, Meet, Read, Spend
from headway.sim.model import Model, Timing
from headway.sim.timeline import PS, EngineTime, Meeting, Site, Stall, Track


def _column(code: Literal["i", "q"]) -> array[int]:
    return field(default_factory=lambda: array(code))


@dataclass(slots=True)
class _Counter:
    """`base` signals lie before the last barrier; `free` is when the next one may start."""

    base: int = 0
    free: int = 0
    sites: array[int] = _column("i")
    iterations: array[int] = _column("i")
    issue: array[int] = _column("q")
    start: array[int] = _column("q")
    done: array[int] = _column("q")

    @property
    def last(self) -> int:
        return self.done[-1] if self.done else 0


@dataclass(slots=True)
class _Sequencer:
    name: str
    actions: Iterator[Action]
    own: tuple[int, ...]  # the counters that it drains at a barrier
    pending: Action | None = None
    time: int = 0
    waiting: int = 0
    synchronization: int = 0
    waits: int = 0
    barriers: int = 0


class Machine:
    """One run of engines, each given by its actions."""

    def __init__(
        self, model: Model, programs: Sequence[tuple[str, Iterator[Action]]], detail: bool
    ) -> None:
        self.stalls: list[Stall] = []
        self.meetings: list[Meeting] = []
        self._model = model
        self._costs = model.costs
        self._narrow = model.narrow
        self._detail = detail
        self._counters = [_Counter() for _ in (*model.counters, *model.flags)]
        self._sequencers = [
            _Sequencer(name, steps, _drained(model, name)) for name, steps in programs
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
                sequencer.time += action.time
                sequencer.synchronization += action.time
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
        sequencer.time += action.cost
        sequencer.synchronization += action.cost
        last = self._counters[action.counter].last
        self._counters[action.flag].done.append(max(sequencer.time, last))

    def _await(self, sequencer: _Sequencer, wait: Await) -> bool:
        counter = self._counters[wait.counter]
        position = counter.base + wait.threshold
        if wait.threshold > 0:
            if position > len(counter.done):
                return False
            self._stand(sequencer, counter.done[position - 1] + self._costs.hop, wait, position)
        self._pass(sequencer, wait)
        return True

    def _pass(self, sequencer: _Sequencer, wait: Await) -> None:
        sequencer.time += wait.cost
        sequencer.synchronization += wait.cost
        sequencer.waits += 1

    def _stand(self, sequencer: _Sequencer, until: int, wait: Await, position: int) -> None:
        if until <= sequencer.time:
            return
        if self._detail:
            name = self._model.name(wait.counter)
            begin, end = sequencer.time / PS, until / PS
            self.stalls.append(Stall(sequencer.name, name, position, begin, end))
        sequencer.waiting += until - sequencer.time
        sequencer.time = until

    def _compute(self, sequencer: _Sequencer, action: Issue) -> None:
        timing = action.timing
        counter = self._counters[timing.counter]
        start = max(sequencer.time, counter.free)
        counter.free = start + timing.occupancy
        sequencer.time = start + self._costs.issue if self._costs.overlaps else counter.free
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
        sequencer.time += trigger
        self._busy[timing.counter] += timing.payload
        self._record(timing, action.iteration, issue, start)

    def _read(self, sequencer: _Sequencer, action: Read) -> None:
        counter = self._counters[action.counter]
        issue = sequencer.time
        sequencer.time += self._costs.load
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
            done = self._counters[action.counter].done
            if position:
                self._stand(sequencer, done[position - 1] + self._costs.hop, action, position)
            self._pass(sequencer, action)
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
        counter, cell = self._counters[wait.counter], self._narrow[wait.counter]
        seen = bisect_right(counter.done, sequencer.time - self._costs.hop, lo=counter.base)
        wanted = cell.value(wait.threshold)
        if cell.value(seen - counter.base) >= wanted:
            return sequencer.time, True, 0
        for position in range(seen + 1, len(counter.done) + 1):
            if cell.value(position - counter.base) >= wanted:
                return counter.done[position - 1] + self._costs.hop, True, position
        return None

    def _meet(self) -> bool:
        """Let all engines go through a barrier, if all have come to one."""
        sequencers = self._sequencers
        if not sequencers or not all(isinstance(s.pending, Meet) for s in sequencers):
            return False
        begins = [sequencer.time for sequencer in sequencers]
        for sequencer in sequencers:
            self._drain(sequencer)
        met = max(sequencer.time for sequencer in sequencers)
        spent = 2 * self._costs.rendezvous + self._costs.reset
        for sequencer, begin in zip(sequencers, begins, strict=True):
            sequencer.waiting += met - sequencer.time
            sequencer.synchronization += spent
            sequencer.time = met + spent
            sequencer.barriers += 1
            if self._detail:
                end = sequencer.time / PS
                self.meetings.append(Meeting(sequencer.name, sequencer.barriers, begin / PS, end))
            sequencer.pending = next(sequencer.actions, None)
        for counter in self._counters[: len(self._model.counters)]:  # flags keep their tokens
            counter.base = len(counter.done)
        return True

    def _drain(self, sequencer: _Sequencer) -> None:
        """Wait until everything has completed that was issued since the last barrier."""
        for number in sequencer.own:
            counter = self._counters[number]
            if len(counter.done) > counter.base:
                until = counter.last + self._costs.hop
                sequencer.waiting += max(0, until - sequencer.time)
                sequencer.time = max(sequencer.time, until) + self._costs.wait
                sequencer.synchronization += self._costs.wait

    def _stuck(self, sequencer: _Sequencer, action: Action | None) -> problems.Stuck:
        if not isinstance(action, Await):
            at = action.at if isinstance(action, Meet) else None
            return problems.Stuck(sequencer.name, "", 0, 0, at)
        counter = self._counters[action.counter]
        reached = len(counter.done) - counter.base
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
        rows = zip(model.counters, model.owners, self._counters, strict=False)
        return tuple(
            Track(name, owner, places, c.sites, c.iterations, c.issue, c.start, c.done)
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
