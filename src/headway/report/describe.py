"""Turn what was collected into what the page reads: a JSON object, and packed columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from headway.ir.walk import control_reads, instructions
from headway.passes.report import semaphores
from headway.report.collect import Collected, Requirements, Shown
from headway.report.pack import Pack
from headway.sim.attribution import explain
from headway.sim.log import EngineLog
from headway.sim.reason import Reason
from headway.sim.run import Run
from headway.sim.spans import Span
from headway.sim.timeline import Track

Json = dict[str, Any]


def describe(collected: Collected, pack: Pack) -> Json:
    """Return the object; its columns go into `pack`. Times are in ps."""
    return {
        "program": collected.program,
        "target": collected.target,
        "inputs": dict(collected.inputs),
        "ideal": round(collected.ideal * 1000),
        "reasons": [reason.label for reason in Reason],
        "unsupported": dict(collected.unsupported),
        "sources": {name: f"{at.file}:{at.line}" for name, at in collected.sources.items()},
        "required": _required(collected.requirements, pack),
        "runs": [_run(shown, pack) for shown in collected.runs],
    }


def _run(shown: Shown, pack: Pack) -> Json:
    timeline, explained = shown.timeline, explain(shown.timeline)
    run, path = explained.run, explained.path
    names = (*run.model.counters, *run.model.flags)
    return {
        "strategy": shown.strategy,
        "latency": run.latency,
        "waits": timeline.waits,
        "barriers": timeline.barriers,
        "dispatch": run.costs.dispatch,
        "text": shown.text,
        "counters": names,
        "sites": _sites(shown, run),
        "tracks": [_track(run, track, pack) for track in timeline.tracks],
        "engines": [
            _engine(run, number, spans, pack) for number, spans in enumerate(explained.engines)
        ],
        "queues": [
            _spans(spans, pack) | {"counter": number} for number, spans in explained.queues.items()
        ],
        "flags": [
            _flag(run, number, pack) for number in range(len(run.model.counters), len(names))
        ],
        "resets": pack.rising(run.log.resets),
        "path": {
            "end": pack.rising(span.end for span in path),
            "reason": pack.plain(span.reason for span in path),
            "place": pack.plain(run.model.number[span.place] for span in path),
            "counter": pack.plain(span.signal.counter for span in path),
            "position": pack.plain(span.signal.position for span in path),
        },
        "why": explained.attribution().to_json(),
        **_needs(shown),
    }


def _sites(shown: Shown, run: Run) -> list[Json]:
    """Return what is known of each place that instances were issued from."""
    program, places = shown.program, next((t.places for t in shown.timeline.tracks), ())
    nodes = chain(instructions(program.body), control_reads(program.body))
    lines = {node.name: node.at.line for node in nodes if node.at}
    return [
        {
            "name": place.name,
            "depth": place.depth,
            "line": lines.get(place.name, 0),
            "occupancy": run.occupancies[n],
        }
        for n, place in enumerate(places)
    ]


def _track(run: Run, track: Track, pack: Pack) -> Json:
    number = run.model.number[track.counter]
    log = run.counter(number)
    times = list(zip(track.issue, track.start, track.done, strict=True))
    return {
        "counter": number,
        "engine": run.owner(number),
        "start": pack.rising(track.start),
        "length": pack.plain(done - start for _, start, done in times),
        "lead": pack.plain(start - issue for issue, start, _ in times),
        "site": pack.plain(track.sites),
        "iterations": pack.plain(track.iterations),
        "line": pack.plain(log.lines),
        "firstWait": pack.rising(log.first_wait),
        "waits": pack.plain(b - a for a, b in zip(log.first_wait, log.end_wait, strict=True)),
    }


def _engine(run: Run, number: int, spans: list[Span], pack: Pack) -> Json:
    log = run.engine(number)
    return {
        "name": log.engine,
        **_spans(spans, pack),
        "waits": _waits(log, pack),
    }


def _spans(rows: list[Span], pack: Pack) -> Json:
    return {
        "end": pack.rising(row.end for row in rows),
        "reason": pack.plain(row.reason for row in rows),
        "counter": pack.plain(row.signal.counter for row in rows),
        "position": pack.plain(row.signal.position for row in rows),
        "line": pack.plain(row.line for row in rows),
    }


def _waits(log: EngineLog, pack: Pack) -> Json:
    waits = log.waits
    return {
        "counter": pack.plain(waits.counters),
        "threshold": pack.plain(waits.thresholds),
        "position": pack.plain(waits.positions),
        "passed": pack.rising(waits.passed),
        "stood": pack.plain(waits.stood),
        "line": pack.plain(waits.lines),
    }


def _flag(run: Run, number: int, pack: Pack) -> Json:
    changes = run.changes(number)
    return {
        "counter": number,
        "source": run.model.sources[number - len(run.model.counters)],
        "last": pack.rising(run.counter(number).last),
        "time": pack.rising(time for time, _ in changes),
        "change": pack.plain(change for _, change in changes),
    }


def _required(requirements: Requirements, pack: Pack) -> Json:
    """Return for each counter how many counters each instance requires, which, and how far."""
    names = list(requirements)
    numbers = {name: n for n, name in enumerate(names)}
    return {
        "counters": names,
        "of": {name: _rows(rows, numbers, pack) for name, rows in requirements.items()},
    }


def _rows(rows: Sequence[Mapping[str, int]], numbers: Mapping[str, int], pack: Pack) -> Json:
    return {
        "count": pack.plain(map(len, rows)),
        "counter": pack.plain(numbers[counter] for row in rows for counter in row),
        "position": pack.plain(position for row in rows for position in row.values()),
    }


def _needs(shown: Shown) -> Json:
    """Return the registers of each engine, and what each semaphore counts."""
    if shown.synced is None or shown.needs is None:
        return {"registers": {}, "semaphores": [], "concessions": []}
    numbers = {semaphore.counter: semaphore for semaphore in shown.synced.semaphores}
    return {
        "registers": {
            engine.engine: [{"name": r.name, "size": r.size} for r in engine.registers]
            for engine in shown.synced.engines
        },
        "semaphores": [
            {
                "counts": name,
                "number": numbers[name].number if name in numbers else None,
                "width": numbers[name].width if name in numbers else None,
            }
            for name in semaphores(shown.synced)
        ],
        "concessions": [str(concession) for concession in shown.needs.concessions],
    }
