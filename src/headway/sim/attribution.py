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


def attribute(timeline: Timeline) -> Attribution:
    """Return where the time of a run goes. Raise ValueError if it kept no log."""
    run = Run(timeline)
    counters = range(len(run.model.counters))
    return Attribution(
        run.latency,
        {
            log.engine: _totals(run, engine_spans(run, number))
            for number, log in enumerate(run.log.engines)
        },
        {
            run.model.counters[n]: _totals(run, queue_spans(run, n))
            for n in counters
            if run.is_queue(n)
        },
        _totals(run, critical_path(run)),
    )


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
    for span in spans:
        found[_cause(run, span.reason, span.signal)] += span.end - span.begin
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
