"""A run with its log, by number: what the times of each instance were, and why."""

from __future__ import annotations

from array import array
from typing import NamedTuple

from headway.sim.log import CounterLog, EngineLog, Log, Signal
from headway.sim.model import Costs, Model
from headway.sim.timeline import PS, Timeline, Track


class Moments(NamedTuple):
    """The times of a transfer or of another instance, in ps: `ready` is that of its dispatch."""

    issue: int
    ready: int
    start: int
    done: int


class Run:
    """Looks up what a log and the tracks say together. `latency` is in ps."""

    def __init__(self, timeline: Timeline) -> None:
        """Raise ValueError if the run kept no log."""
        if timeline.log is None:
            raise ValueError("simulate with detail=True, so that the run keeps a log")
        self.log: Log = timeline.log
        self.model: Model = self.log.model
        self.costs: Costs = self.model.costs
        self.latency = round(timeline.latency * PS)
        self._tracks = {self.model.number[track.counter]: track for track in timeline.tracks}
        places = next((track.places for track in timeline.tracks), ())
        self._names = [site.name for site in places]
        timings = [self.model.timings.get(name) for name in self._names]
        load = self.costs.load
        self.latencies = [timing.latency if timing else load for timing in timings]
        self.occupancies = [timing.occupancy if timing else load for timing in timings]

    def track(self, counter: int) -> Track | None:
        """Return the instances of a counter, None if it has none."""
        return self._tracks.get(counter)

    def engine(self, number: int) -> EngineLog:
        """Return the log of an engine."""
        return self.log.engines[number]

    def counter(self, number: int) -> CounterLog:
        """Return the log of a counter or flag."""
        return self.log.counters[number]

    def owner(self, counter: int) -> int:
        """Return the number of the engine program that issues on a counter."""
        owner = self.model.owners[counter]
        return next(n for n, log in enumerate(self.log.engines) if log.engine == owner)

    def is_flag(self, number: int) -> bool:
        """Tell whether a number is that of a flag."""
        return number >= len(self.model.counters)

    def is_queue(self, number: int) -> bool:
        """Tell whether a number is that of a queue."""
        engines = len(self.model.engines)
        return engines <= number < len(self.model.counters) - engines

    def done(self, signal: Signal) -> int:
        """Return when a signal came."""
        if self.is_flag(signal.counter):
            source = self.instance(signal)
            set_at = self.counter(signal.counter).set_at[signal.position - 1]
            return max(set_at, self.done(source) if source else 0)
        return self._tracks[signal.counter].done[signal.position - 1]

    def instance(self, signal: Signal) -> Signal | None:
        """Return the instance behind a signal: of a token, the last one before it, if any."""
        if not self.is_flag(signal.counter):
            return signal if signal.position else None
        source = self.model.sources[signal.counter - len(self.model.counters)]
        last = self.counter(signal.counter).last[signal.position - 1]
        return Signal(source, last) if last else None

    def moments(self, instance: Signal) -> Moments:
        """Return the times of an instance."""
        track, n = self._tracks[instance.counter], instance.position - 1
        issue = track.issue[n]
        ready = issue + self.costs.dispatch if self.is_queue(instance.counter) else issue
        return Moments(issue, ready, track.start[n], track.done[n])

    def site(self, instance: Signal) -> int:
        """Return the number of the place that an instance was issued from."""
        return self._tracks[instance.counter].sites[instance.position - 1]

    def instruction(self, signal: Signal) -> str:
        """Return the name of the instruction behind a signal, "" if there is none."""
        instance = self.instance(signal) if signal.position else None
        return self._names[self.site(instance)] if instance else ""

    def work(self, counter: int) -> tuple[array[int], list[int]]:
        """Return when the instances of an engine start, and how long each occupies it."""
        track = self.track(counter)
        if track is None:
            return array("q"), []
        return track.start, [self.occupancies[site] for site in track.sites]

    def changes(self, number: int) -> list[tuple[int, int]]:
        """Return when a counter goes up by 1, or to 0 at a barrier (change 0); a flag: both ways.

        A token that comes adds 1 to its flag, one that is taken -1.
        """
        if not self.is_flag(number):
            track = self.track(number)
            rows = zip(track.sites, track.done, strict=True) if track else ()
            ups = [(t, 1) for site, t in rows if not (track and track.is_silent(site))]
            return sorted([*ups, *((time, 0) for time in self.log.resets)], key=_time)
        tokens = len(self.counter(number).set_at)
        changes = [(self.done(Signal(number, k)), 1) for k in range(1, tokens + 1)]
        for log in self.log.engines:
            rows = zip(log.waits.counters, log.waits.passed, strict=True)
            changes += [(passed, -1) for counter, passed in rows if counter == number]
        return sorted(changes, key=_time)


def _time(change: tuple[int, int]) -> int:
    return change[0]
