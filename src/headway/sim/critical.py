"""The critical path of a run: what the end waited for, and so on back to the beginning.

In     a run with its log
Out    spans without gaps from 0 to the latency, each of the engine or queue that held all others up
Cost   a logarithmic search for each span

An instance completes because it has started; it starts when its sequencer issues it, or when the
instance before has left its datapath, its queue or the shared bandwidth; a sequencer gets to a time
by a step, and a step that waits ends by a signal. Where two causes come at the same time, one of
them is taken.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from headway.sim.log import NO_SIGNAL, Signal
from headway.sim.reason import Reason
from headway.sim.run import Run

_REASONS = tuple(Reason)


class PathSpan(NamedTuple):
    """From `begin` to `end` in ps, on an engine or queue; `signal` is what ran or was awaited."""

    begin: int
    end: int
    reason: Reason
    place: str
    signal: Signal


def critical_path(run: Run) -> list[PathSpan]:
    """Return the critical path, from the beginning to the end."""
    return _Walk(run).path()


class _Walk:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._time = run.latency
        self._found: list[PathSpan] = []

    def path(self) -> list[PathSpan]:
        engine = self._from_end()
        while self._time:
            engine = self._step(engine)
        self._found.reverse()
        return self._found

    def _span(self, begin: int, reason: Reason, place: str, signal: Signal) -> None:
        if begin < self._time:
            self._found.append(PathSpan(begin, self._time, reason, place, signal))
            self._time = begin

    def _from_end(self) -> int:
        """Return an engine to go on with: one that ended last, or that issued what ended last."""
        for counter in range(len(self._run.model.counters)):
            track = self._run.track(counter)
            if track and track.done[-1] == self._time:
                return self._completed(Signal(counter, len(track)))
        for number, log in enumerate(self._run.log.engines):
            if len(log.steps) and log.steps.ends[-1] == self._time:
                return number
        return 0

    def _completed(self, instance: Signal) -> int:
        """Go from the completion of an instance to when it was issued; return by which engine."""
        run, (counter, position) = self._run, instance
        while run.moments(instance).start + run.latencies[run.site(instance)] < self._time:
            position -= 1  # completions come in order: it completed with the one before
            instance = Signal(counter, position)
        reason = Reason.LOAD if self._is_control(counter) else Reason.WORKING
        start = run.moments(instance).start
        self._span(start, reason, run.model.counters[counter], instance)
        return self._started(instance) if run.is_queue(counter) else run.owner(counter)

    def _is_control(self, counter: int) -> bool:
        return counter >= len(self._run.model.counters) - len(self._run.model.engines)

    def _started(self, transfer: Signal) -> int:
        """Go from the start of a transfer to its trigger, past those that it stood behind."""
        run, (counter, position) = self._run, transfer
        while self._time > run.counter(counter).ready[position - 1]:
            position -= 1
            before = Signal(counter, position)
            start = run.moments(before).start
            self._span(start, Reason.QUEUE_BUSY, run.model.counters[counter], before)
        while self._time > run.moments(Signal(counter, position)).ready:
            log = run.counter(counter)
            n = position - 1
            counter, position = log.before_counter[n], log.before_position[n]
            ready = run.counter(counter).ready[position - 1]
            before = Signal(counter, position)
            self._span(ready, Reason.QUEUE_BUSY, run.model.counters[counter], before)
        transfer = Signal(counter, position)
        issue = run.moments(transfer).issue
        self._span(issue, Reason.TRIGGER, run.model.counters[counter], transfer)
        return run.owner(counter)

    def _step(self, engine: int) -> int:
        """Go back by one step of an engine; return the engine to go on with."""
        run, log = self._run, self._run.engine(engine)
        steps, name = log.steps, log.engine
        n = bisect_left(steps.ends, self._time)
        reason = _REASONS[steps.reasons[n]]
        signal = Signal(steps.counters[n], steps.positions[n])
        begin = steps.ends[n - 1] if n else 0
        last = run.log.meetings.get(self._time, engine)
        if reason is Reason.BARRIER and last != engine:
            return last
        if signal == NO_SIGNAL or not signal.position:
            self._span(begin, reason, name, signal)
            return engine
        if reason is Reason.WORKING:
            self._span(run.moments(signal).start, reason, name, signal)
            return engine
        self._span(run.done(signal), Reason.HOP, name, signal)
        return self._signalled(signal)

    def _signalled(self, signal: Signal) -> int:
        """Go from a signal to what gave it: an instance, or the engine that set a flag."""
        instance = self._run.instance(signal)
        if instance is None or self._run.done(instance) < self._time:
            source = self._run.model.sources[signal.counter - len(self._run.model.counters)]
            return self._run.owner(source)
        return self._completed(instance)
