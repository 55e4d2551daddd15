"""Write timelines as a trace for Perfetto or chrome://tracing.

Each timeline is a process, each engine and queue a track of its instances. If the run kept a log
(`simulate(..., detail=True)`), each engine has a second track with the steps of its sequencer, an
arrow leads from each completion to the instances that waited for it, and each counter or flag that
is waited for is a counter track.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import count, pairwise
from typing import Any

from headway.sim.log import Signal
from headway.sim.reason import Reason
from headway.sim.run import Run
from headway.sim.timeline import PS, Timed, Timeline, Track

Event = dict[str, Any]


def perfetto(*timelines: Timeline) -> str:
    """Return the trace of timelines, side by side."""
    arrows = count(1)
    events = [
        event
        for process, timeline in enumerate(timelines, 1)
        for event in _process(process, timeline, arrows)
    ]
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": events})


def _process(process: int, timeline: Timeline, arrows: Iterator[int]) -> Iterator[Event]:
    title = f"{timeline.program}, {timeline.strategy} on {timeline.target}"
    yield _named("process_name", process, 0, title)
    threads = _threads(timeline)
    for thread, name in enumerate(threads, 1):
        yield _named("thread_name", process, thread, name)
        yield {**_named("thread_sort_index", process, thread, ""), "args": {"sort_index": thread}}
    number = {name: thread for thread, name in enumerate(threads, 1)}
    for track in timeline.tracks:
        for event in _instances(track):
            yield event | {"pid": process, "tid": number[track.counter]}
    if timeline.log is not None:
        for event in _why(timeline, number, arrows):
            yield event | {"pid": process}


def _threads(timeline: Timeline) -> list[str]:
    """Return the names of all tracks: each engine with its sequencer, then its queues and loads."""
    names: list[str] = []
    for engine in timeline.engines:
        own = [track.counter for track in timeline.tracks if track.engine == engine.engine]
        first = [engine.engine] if engine.engine in own else []
        steps = [_sequencer_of(engine.engine)] if timeline.log else []
        names += [*first, *steps, *(counter for counter in own if counter != engine.engine)]
    return names


def _sequencer_of(engine: str) -> str:
    return f"{engine} sequencer"


def _instances(track: Track) -> Iterator[Event]:
    """Yield a slice for each instance; one that overlaps the next is drawn until that starts."""
    for instance, end in _drawn(track):
        yield {
            "ph": "X",
            "name": instance.name,
            "cat": "queue" if track.is_queue else "engine",
            "ts": _us(instance.start),
            "dur": _us(end - instance.start),
            "args": {
                "iteration": list(instance.iteration),
                "position": instance.position,
                "issue": instance.issue,
                "done": instance.done,
            },
        }


def _drawn(track: Track) -> Iterator[tuple[Timed, float]]:
    for instance, following in pairwise([*track, None]):
        if instance:
            end = instance.done if following is None else min(instance.done, following.start)
            yield instance, end


def _why(timeline: Timeline, number: Mapping[str, int], arrows: Iterator[int]) -> Iterator[Event]:
    run = Run(timeline)
    for engine, log in enumerate(run.log.engines):
        for event in _steps(run, engine):
            yield event | {"tid": number[_sequencer_of(log.engine)]}
    spans = {
        run.model.number[track.counter]: [(x.start, end) for x, end in _drawn(track)]
        for track in timeline.tracks
    }
    for track in timeline.tracks:
        yield from _arrows(run, run.model.number[track.counter], spans, number, arrows)
    yield from _semaphores(run)


def _steps(run: Run, engine: int) -> Iterator[Event]:
    """Yield a slice for each step of a sequencer."""
    steps, begin = run.engine(engine).steps, 0
    rows = zip(steps.ends, steps.reasons, steps.counters, steps.positions, steps.lines, strict=True)
    for end, why, counter, position, line in rows:
        reason = Reason(why)
        args: Event = {"line": line}
        if position:
            signal = Signal(counter, position)
            through = run.model.name(counter)
            args |= {"for": run.instruction(signal), "through": through, "position": position}
        yield {
            "ph": "X",
            "name": reason.label,
            "cat": "sequencer",
            "ts": _us(begin / PS),
            "dur": _us((end - begin) / PS),
            "args": args,
        }
        begin = end


def _arrows(
    run: Run,
    counter: int,
    spans: Mapping[int, list[tuple[float, float]]],
    number: Mapping[str, int],
    arrows: Iterator[int],
) -> Iterator[Event]:
    """Yield an arrow to each instance of a counter from each completion that it waited for."""
    waits = run.engine(run.owner(counter)).waits
    log = run.counter(counter)
    rows = zip(spans[counter], log.first_wait, log.end_wait, strict=True)
    for (start, _), first, end in rows:
        for wait in range(first, end):
            signal = Signal(waits.counters[wait], waits.positions[wait])
            source = run.instance(signal) if signal.position else None
            if source is None:
                continue
            begin, done = spans[source.counter][source.position - 1]
            arrow = {"name": "waits for", "cat": "dependence", "id": next(arrows)}
            # An arrow begins inside a slice, so a picosecond before the end of it.
            tail = {"ph": "s", "tid": number[run.model.counters[source.counter]]}
            yield arrow | tail | {"ts": _us(max(begin, done - 1 / PS))}
            head = {"ph": "f", "bp": "e", "tid": number[run.model.counters[counter]]}
            yield arrow | head | {"ts": _us(start)}


def _semaphores(run: Run) -> Iterator[Event]:
    """Yield the values of every counter and flag that is waited for."""
    logs = [log.waits for log in run.log.engines]
    for number in sorted({counter for waits in logs for counter in waits.counters}):
        name = f"{'flag' if run.is_flag(number) else 'semaphore'} {run.model.name(number)}"
        value = 0
        for time, change in run.changes(number):
            value = value + change if change else 0
            yield {"ph": "C", "name": name, "ts": _us(time / PS), "args": {"value": value}}


def _named(kind: str, process: int, thread: int, name: str) -> Event:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread, "args": {"name": name}}


def _us(ns: float) -> float:
    """Return microseconds, which the format counts in, to the picosecond."""
    return round(ns / 1000, 6)
