"""Semaphores that wrap: what a wait compares, and whether it can look too late.

A semaphore of `width` bits holds the count of its counter since the last barrier modulo 2**width.
A wait compares that many bits of its threshold: a threshold that does not fit asks for less, or for
a number below 0. And once the counter has gone past the largest number that fits, a wait that has
not looked yet may find a small one. That cannot happen if the signal that wraps is given after the
instance that waits has completed, for sure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from headway.check.knowledge import Knowledge
from headway.ir.program import Program, control_counter
from headway.ir.walk import instructions
from headway.spec import Signals
from headway.sync.expand import MAX_EVENTS, ConcreteWait, Event
from headway.sync.program import Semaphore, SyncProgram

Events = dict[str, list[Event]]


def seen_by_comparisons(events: Events, semaphores: Iterable[Semaphore]) -> Events:
    """Return the events with thresholds cut to the bits of their semaphores."""
    by_counter = {semaphore.counter: semaphore for semaphore in semaphores}
    if not by_counter:
        return events

    def cut(wait: ConcreteWait) -> ConcreteWait:
        semaphore = by_counter.get(wait.counter)
        return wait._replace(threshold=semaphore.value(wait.threshold)) if semaphore else wait

    return {
        engine: [event._replace(waits=tuple(map(cut, event.waits))) for event in run]
        for engine, run in events.items()
    }


def signalling(program: Program) -> dict[str, str]:
    """Return the counters of the instructions that signal, by name."""
    return {i.name: i.counter for i in instructions(program.body) if not i.silent}


def signalled(engine: str, event: Event, counters: Mapping[str, str]) -> str:
    """Return the counter that an event of an engine signals, "" for none."""
    if event.kind == "load":
        return control_counter(engine)
    return counters.get(event.name, "") if event.kind == "exec" else ""


def wrapping(sync: SyncProgram, events: Events) -> dict[str, Semaphore]:
    """Return the semaphores that some count between two barriers does not fit into."""
    if not sync.semaphores:
        return {}
    counters = signalling(sync.program)
    most = Counter[str]()
    for engine, run in events.items():
        counts = Counter[str]()
        for event in run:
            if event.kind == "barrier":
                most |= counts
                counts.clear()
            elif counter := signalled(engine, event, counters):
                counts[counter] += 1
        most |= counts
    return {
        semaphore.counter: semaphore
        for semaphore in sync.semaphores
        if most[semaphore.counter] > semaphore.most
    }


class Looked(NamedTuple):
    """A wait that has held, in front of the instance `position` of `counter` (0 = of none)."""

    engine: str
    event: Event
    wait: ConcreteWait
    counter: str
    position: int


class Watch:
    """Notes the waits since the last barrier, and finds those that a wrap may have overtaken."""

    def __init__(self, semaphores: Iterable[Semaphore], hosts: Mapping[str, str]) -> None:
        self._semaphores = {s.counter: s for s in semaphores if s.most < MAX_EVENTS}
        self._hosts = hosts
        self._looked: dict[str, list[Looked]] = {counter: [] for counter in self._semaphores}

    def note(self, looked: Looked, count: int) -> None:
        """Note a wait that held when its counter had given `count` signals since the barrier."""
        semaphore = self._semaphores.get(looked.wait.counter)
        if semaphore is None or looked.wait.threshold <= 0:
            return
        if self._hosts[semaphore.counter] == looked.engine and count <= semaphore.most:
            return  # the engine itself issues what wraps, later
        self._looked[semaphore.counter].append(looked)

    def overtaken(
        self, knowledge: Knowledge, base: Mapping[str, int], signals: Signals
    ) -> Iterator[tuple[Looked, Semaphore]]:
        """Yield the waits that may look too late, one for each counter, and forget all."""
        for counter, semaphore in self._semaphores.items():
            wraps = signals.position(
                counter, signals.among(counter, base[counter]) + semaphore.most + 1
            )
            past, looked = knowledge.signals[counter], self._looked[counter]
            if wraps <= len(past):
                told = past[wraps - 1]
                late = (x for x in looked if not self._is_before(x, told, knowledge))
                yield from ((x, semaphore) for x in [next(late, None)] if x)
            looked.clear()

    def _is_before(self, looked: Looked, told: tuple[int, ...], knowledge: Knowledge) -> bool:
        return bool(looked.position) and told[knowledge.index[looked.counter]] >= looked.position
