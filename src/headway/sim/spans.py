"""Cut the time of an engine or queue into spans that have one reason each.

In     a run with its log
Out    spans without gaps from 0 to the latency, so that their lengths sum to it exactly
Cost   linear

Where the datapath works, that is the reason; else it is what the sequencer does. A wait is cut into
waiting, queue busy (the transfer was dispatched and stood behind others) and the hop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from headway.sim.log import NO_SIGNAL, Signal
from headway.sim.reason import Reason
from headway.sim.run import Run


class Span(NamedTuple):
    """From `begin` to `end` in ps; `signal` is what was waited for, `line` where, 0 if unknown."""

    begin: int
    end: int
    reason: Reason
    signal: Signal = NO_SIGNAL
    line: int = 0


Piece = tuple[int, Reason]  # until when, and why
_REASONS = tuple(Reason)


def engine_spans(run: Run, number: int) -> Iterator[Span]:
    """Yield the spans of an engine: the one whose program comes `number`-th."""
    starts, lengths = run.work(run.model.number[run.engine(number).engine])
    work = zip(starts, lengths, strict=True)
    none = (run.latency, 0)
    begin, length = next(work, none)
    end = begin + length
    for span in _sequencer(run, number):
        at, until, reason, signal, line = span
        while at < until:
            while end <= at and begin < run.latency:
                begin, length = next(work, none)
                end = begin + length
            if at < begin:
                to = min(begin, until)
                yield Span(at, to, reason, signal, line)
            else:
                to = min(end, until) if end > at else until
                yield Span(at, to, Reason.WORKING, NO_SIGNAL, line)
            at = to


def _sequencer(run: Run, number: int) -> Iterator[Span]:
    """Yield what a sequencer does, to the latency."""
    steps, at = run.engine(number).steps, 0
    rows = zip(steps.ends, steps.reasons, steps.counters, steps.positions, steps.lines, strict=True)
    for end, why, counter, position, line in rows:
        reason, signal = _REASONS[why], Signal(counter, position)
        if reason is not Reason.WAITING:
            yield Span(at, end, reason, signal, line)
            at = end
            continue
        for until, cause in _wait(run, signal, end):
            if until > at:
                yield Span(at, until, cause, signal, line)
                at = until
    if at < run.latency:
        yield Span(at, run.latency, Reason.IDLE)


def _wait(run: Run, signal: Signal, end: int) -> tuple[Piece, ...]:
    """Return the pieces of a wait for a signal, the last of which is the hop."""
    done = min(run.done(signal), end)
    instance = run.instance(signal)
    hop = (done, Reason.WAITING), (end, Reason.HOP)
    if instance is None or not run.is_queue(instance.counter):
        return hop
    moments = run.moments(instance)
    behind = min(moments.ready, done), min(moments.start, done)
    return (behind[0], Reason.WAITING), (behind[1], Reason.QUEUE_BUSY), *hop


def queue_spans(run: Run, counter: int) -> Iterator[Span]:
    """Yield the spans of a queue: a transfer works from its start to its completion."""
    track, at = run.track(counter), 0
    for position in range(1, len(track or ()) + 1):
        instance = Signal(counter, position)
        moments = run.moments(instance)
        for until, reason in (
            (moments.issue, Reason.IDLE),
            (moments.ready, Reason.TRIGGER),
            (moments.start, Reason.QUEUE_BUSY),
            (moments.done, Reason.WORKING),
        ):
            if until > at:
                yield Span(at, until, reason, instance)
                at = until
    if at < run.latency:
        yield Span(at, run.latency, Reason.IDLE)
