"""Write timelines as a trace for Perfetto or chrome://tracing.

Each timeline is a process, each counter a track of its instances. If stalls and meetings were
recorded (`simulate(..., detail=True)`), each engine has a second track with its waits and barriers,
and an arrow leads from the completion that released a wait to its end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import count, pairwise
from typing import Any

from headway.sim.timeline import Timed, Timeline, Track

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
    for event in _waits(timeline, number, arrows):
        yield event | {"pid": process}


def _threads(timeline: Timeline) -> list[str]:
    """Return the names of all tracks: each engine with its waits, then its queues and loads."""
    names: list[str] = []
    for engine in timeline.engines:
        own = [track.counter for track in timeline.tracks if track.engine == engine.engine]
        first = [engine.engine] if engine.engine in own else []
        waits = [_waits_of(engine.engine)] if timeline.stalls or timeline.meetings else []
        names += [*first, *waits, *(counter for counter in own if counter != engine.engine)]
    return names


def _waits_of(engine: str) -> str:
    return f"{engine} waits"


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


def _waits(timeline: Timeline, number: Mapping[str, int], arrows: Iterator[int]) -> Iterator[Event]:
    ends = {track.counter: [end for _, end in _drawn(track)] for track in timeline.tracks}
    for stall in timeline.stalls:
        thread = number[_waits_of(stall.engine)]
        if stall.counter not in number:  # a flag: its tokens are on no track
            name = f"take {stall.counter}"
            yield _slice(thread, name, "wait", stall.begin, stall.end)
            continue
        name = f"wait {stall.counter} >= {stall.position}"
        yield _slice(thread, name, "wait", stall.begin, stall.end)
        arrow = {"name": "releases", "cat": "wait", "id": next(arrows)}
        end = ends[stall.counter][stall.position - 1]
        # An arrow begins inside a slice, so a picosecond before the end of it.
        begin = {"ph": "s", "tid": number[stall.counter], "ts": _us(end - 0.001)}
        yield arrow | begin
        yield arrow | {"ph": "f", "bp": "e", "tid": thread, "ts": _us(stall.end)}
    for meeting in timeline.meetings:
        thread = number[_waits_of(meeting.engine)]
        name = f"barrier {meeting.number}"
        yield _slice(thread, name, "barrier", meeting.begin, meeting.end)


def _slice(thread: int, name: str, category: str, begin: float, end: float) -> Event:
    span = {"ts": _us(begin), "dur": _us(end - begin)}
    return {"ph": "X", "name": name, "cat": category, "tid": thread, **span}


def _named(kind: str, process: int, thread: int, name: str) -> Event:
    return {"ph": "M", "name": kind, "pid": process, "tid": thread, "args": {"name": name}}


def _us(ns: float) -> float:
    """Return microseconds, which the format counts in, to the picosecond."""
    return round(ns / 1000, 6)
