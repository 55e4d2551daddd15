"""What a simulation found: when every instance was issued, started and completed.

Columns hold integer picoseconds; everything else is in ns.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from headway.errors import counted

if TYPE_CHECKING:
    from headway.sim.log import Log

PS = 1000
"""Picoseconds in a nanosecond."""


class Site(NamedTuple):
    """An instruction or control read at one place of an engine program, `depth` loops deep."""

    name: str
    depth: int


class Timed(NamedTuple):
    """An instance with its times in ns."""

    name: str
    iteration: tuple[int, ...]
    counter: str
    position: int
    issue: float
    start: float
    done: float

    def __str__(self) -> str:
        return f"{self.name}[{','.join(map(str, self.iteration))}]"


@dataclass(frozen=True, slots=True)
class Track:
    """The instances of one counter, in order: their columns, each with one entry per instance.

    `sites` holds places in `places`; `iterations` the iteration numbers, `depth` for each instance.
    Instructions in `silent` give no signal when they complete.
    """

    counter: str
    engine: str
    places: tuple[Site, ...]
    sites: array[int]
    iterations: array[int]
    issue: array[int]
    start: array[int]
    done: array[int]
    silent: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self.done)

    def is_silent(self, site: int) -> bool:
        """Tell whether instances of a place give no signal."""
        return self.places[site].name in self.silent

    @property
    def is_control(self) -> bool:
        """Tell whether these are control reads."""
        return self.counter.endswith(".control")

    @property
    def is_queue(self) -> bool:
        """Tell whether these are transfers."""
        return self.counter != self.engine and not self.is_control

    def __iter__(self) -> Iterator[Timed]:
        low = 0
        rows = zip(self.sites, self.issue, self.start, self.done, strict=True)
        for position, (site, issue, start, done) in enumerate(rows, 1):
            name, depth = self.places[site]
            iteration = tuple(self.iterations[low : low + depth])
            low += depth
            yield Timed(name, iteration, self.counter, position, issue / PS, start / PS, done / PS)


@dataclass(frozen=True, slots=True)
class EngineTime:
    """How an engine spent its time, in ns.

    `busy`: its datapath worked. `waiting`: its sequencer stood at a wait or a barrier.
    `synchronization`: it executed register operations, wait instructions, loop control, barriers.
    The sequencer may run under the datapath, so that these do not add up to the latency.
    """

    engine: str
    busy: float
    waiting: float
    synchronization: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """One simulated run. `latency` is the time in ns at which everything has completed.

    `waits` and `barriers` are those executed, by all engines and by each engine. `log` is kept on
    demand; see `headway.sim.attribution` for what it tells.
    """

    program: str
    strategy: str
    target: str
    latency: float
    tracks: tuple[Track, ...]
    engines: tuple[EngineTime, ...]
    waits: int
    barriers: int
    log: Log | None = None

    def instances(self) -> Iterator[Timed]:
        """Yield every instance, counter by counter, in order."""
        for track in self.tracks:
            yield from track

    def track(self, counter: str) -> Track:
        """Return the instances of one counter; KeyError if there is no such counter."""
        for track in self.tracks:
            if track.counter == counter:
                return track
        raise KeyError(counter)

    def __len__(self) -> int:
        return sum(map(len, self.tracks))

    def _repr_html_(self) -> str:
        """Show the run in a notebook: drawn, unless it is too long, and in figures."""
        from headway import html
        from headway.sim.drawing import MOST_INSTANCES, svg

        drawn = svg(self) if 0 < len(self) <= MOST_INSTANCES else ""
        return drawn + html.notes(str(self).splitlines())

    def __str__(self) -> str:
        lines = [
            f"{self.program}, {self.strategy} on {self.target}: {self.latency:,.0f} ns,"
            f" {counted(len(self), 'instance')}, {counted(self.waits, 'wait')},"
            f" {counted(self.barriers, 'barrier')}"
        ]
        lines += [
            f"  {e.engine}: busy {e.busy:,.0f}, waiting {e.waiting:,.0f},"
            f" synchronization {e.synchronization:,.0f} ns"
            for e in self.engines
        ]
        return "\n".join(lines)
