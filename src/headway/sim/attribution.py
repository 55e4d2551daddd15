"""Where the time of a run goes: for each engine, each queue and the critical path, by reason.

All times are integer picoseconds, and the reasons of a place sum to the latency exactly.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from headway.sim.critical import PathSpan, critical_path
from headway.sim.log import Signal
from headway.sim.reason import Reason
from headway.sim.run import Run
from headway.sim.spans import Span, engine_spans, queue_spans
from headway.sim.timeline import Timeline


class Cause(NamedTuple):
    """A reason; where something was waited for, its instruction and the counter or flag."""

    reason: Reason
    instruction: str = ""
    through: str = ""

    def __str__(self) -> str:
        text = self.reason.label
        if self.instruction:
            text += f": {self.instruction}"
        return f"{text} ({self.through})" if self.through else text


Totals = Mapping[Cause, int]


@dataclass(frozen=True, slots=True)
class Attribution:
    """How many ps of the latency each cause takes, per engine, per queue, on the critical path."""

    latency: int
    engines: Mapping[str, Totals]
    queues: Mapping[str, Totals]
    path: Totals

    def to_json(self) -> dict[str, object]:
        """Return the documented JSON form."""
        return {
            "latency_ps": self.latency,
            "engines": {name: _rows(totals) for name, totals in self.engines.items()},
            "queues": {name: _rows(totals) for name, totals in self.queues.items()},
            "critical_path": _rows(self.path),
        }


@dataclass(frozen=True, slots=True)
class Explained:
    """The time of a run in spans: of engines by number, of queues by counter, critical path."""

    run: Run
    engines: tuple[list[Span], ...]
    queues: Mapping[int, list[Span]]
    path: list[PathSpan]

    def attribution(self) -> Attribution:
        """Return the sums."""
        run = self.run
        names = [log.engine for log in run.log.engines]
        engines = zip(names, self.engines, strict=True)
        queues = self.queues.items()
        return Attribution(
            run.latency,
            {name: _totals(run, spans) for name, spans in engines},
            {run.model.counters[queue]: _totals(run, spans) for queue, spans in queues},
            _totals(run, self.path),
        )


def explain(timeline: Timeline) -> Explained:
    """Return the spans of a run. Raise ValueError if it kept no log."""
    run = Run(timeline)
    queues = [number for number in range(len(run.model.counters)) if run.is_queue(number)]
    return Explained(
        run,
        tuple(list(engine_spans(run, number)) for number in range(len(run.log.engines))),
        {number: list(queue_spans(run, number)) for number in queues},
        critical_path(run),
    )


def attribute(timeline: Timeline) -> Attribution:
    """Return where the time of a run goes. Raise ValueError if it kept no log."""
    return explain(timeline).attribution()


def by_reason(totals: Totals) -> dict[Reason, int]:
    """Return the sum of each reason, whatever was waited for."""
    found: defaultdict[Reason, int] = defaultdict(int)
    for cause, time in totals.items():
        found[cause.reason] += time
    return dict(found)


NAMES_WHAT = {Reason.WAITING, Reason.QUEUE_BUSY, Reason.BARRIER}
"""Reasons that say what was waited for."""


def _totals(run: Run, spans: Iterable[Span | PathSpan]) -> Totals:
    found: defaultdict[Cause, int] = defaultdict(int)
    known: dict[tuple[Reason, int, int], Cause] = {}  # by reason, counter and site
    for span in spans:
        counter, position = span.signal
        site = -1
        if position and span.reason in NAMES_WHAT:
            instance = run.instance(span.signal)
            site = run.site(instance) if instance else -1
        key = (span.reason, counter, site) if position else (span.reason, -1, -1)
        cause = known.get(key)
        if cause is None:
            cause = known[key] = _cause(run, span.reason, span.signal)
        found[cause] += span.end - span.begin
    return dict(sorted(found.items(), key=lambda item: (item[0].reason, -item[1])))


def _cause(run: Run, reason: Reason, signal: Signal) -> Cause:
    if reason not in NAMES_WHAT or not signal.position:
        return Cause(reason)
    return Cause(reason, run.instruction(signal), run.model.name(signal.counter))


def _rows(totals: Totals) -> list[dict[str, object]]:
    return [
        {
            "reason": cause.reason.label,
            **({"for": cause.instruction} if cause.instruction else {}),
            **({"through": cause.through} if cause.through else {}),
            "ps": time,
        }
        for cause, time in totals.items()
    ]
