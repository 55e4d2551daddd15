"""What a simulated run did, step by step: kept on demand by the readable simulator.

A sequencer's steps follow each other without gaps, because every change of its time is a step:
each begins where the one before ended. Columns hold integer picoseconds and numbers; `lines` are
those of the text that the program was read from, 0 where there is none.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from headway.errors import Location
from headway.sim.actions import Await
from headway.sim.model import Model
from headway.sim.reason import Reason

NOBODY = -1
"""The counter of a step that waits for nothing."""


class Signal(NamedTuple):
    """The completion number `position`, from 1, of the counter or flag of that number."""

    counter: int
    position: int


NO_SIGNAL = Signal(NOBODY, 0)


def _column(code: Literal["b", "i", "q"]) -> array[int]:
    return field(default_factory=lambda: array(code))


@dataclass(slots=True)
class Steps:
    """The steps of a sequencer: when each ended, why it took time, what it waited for."""

    ends: array[int] = _column("q")
    reasons: array[int] = _column("b")
    counters: array[int] = _column("i")
    positions: array[int] = _column("i")
    lines: array[int] = _column("i")

    def __len__(self) -> int:
        return len(self.ends)

    def add(self, end: int, reason: Reason, at: Location | None, signal: Signal) -> None:
        """Add a step that lasts until `end`, unless it takes no time."""
        if end > (self.ends[-1] if self.ends else 0):
            self.ends.append(end)
            self.reasons.append(reason)
            self.counters.append(signal.counter)
            self.positions.append(signal.position)
            self.lines.append(line(at))


@dataclass(slots=True)
class WaitLog:
    """The waits that an engine executed, in order, whether it had to stand or not.

    `passed` is when the condition held, `stood` how long the engine stood before; `positions` count
    from the beginning of the run, and are 0 where nothing had to be signalled.
    """

    counters: array[int] = _column("i")
    thresholds: array[int] = _column("q")
    positions: array[int] = _column("i")
    passed: array[int] = _column("q")
    stood: array[int] = _column("q")
    lines: array[int] = _column("i")

    def __len__(self) -> int:
        return len(self.counters)

    def add(self, wait: Await, position: int, begin: int, passed: int) -> None:
        """Add a wait at which an engine stood from `begin` until it passed."""
        self.counters.append(wait.counter)
        self.thresholds.append(wait.threshold)
        self.positions.append(position)
        self.passed.append(passed)
        self.stood.append(passed - begin)
        self.lines.append(line(wait.at))


@dataclass(slots=True)
class CounterLog:
    """What is kept of each instance of a counter beside its times, or of each token of a flag.

    The waits of an instance are those from `first_wait` to `end_wait` of its engine. A transfer
    starts at the latest of: its dispatch, the end of what the queue does (`free`), and `ready`,
    when it gets its bandwidth after what `before` says. A token comes at the latest of when it is
    set, and of the last completion then, number `last`.
    """

    lines: array[int] = _column("i")
    first_wait: array[int] = _column("i")
    end_wait: array[int] = _column("i")
    ready: array[int] = _column("q")
    before_counter: array[int] = _column("i")
    before_position: array[int] = _column("i")
    set_at: array[int] = _column("q")
    last: array[int] = _column("i")


@dataclass(slots=True)
class EngineLog:
    """Steps and waits of an engine; `noted` waits belong to instances already."""

    engine: str
    steps: Steps = field(default_factory=Steps)
    waits: WaitLog = field(default_factory=WaitLog)
    noted: int = 0


@dataclass(slots=True)
class Log:
    """All that is kept of a run.

    `resets` are the times at which counters were set to 0; `meetings` those at which all engines
    had come to a barrier, with the number of the engine that came last.
    """

    model: Model
    engines: list[EngineLog]
    counters: list[CounterLog]
    resets: array[int] = _column("q")
    meetings: dict[int, int] = field(default_factory=dict[int, int])
    last_transfer: Signal = NO_SIGNAL

    @classmethod
    def of(cls, model: Model, engines: list[str]) -> Log:
        """Return the log of a run that has not begun."""
        counters = [CounterLog() for _ in (*model.counters, *model.flags)]
        return cls(model, [EngineLog(engine) for engine in engines], counters)

    def engine(self, name: str) -> EngineLog:
        """Return the log of an engine; KeyError if it has no program."""
        for log in self.engines:
            if log.engine == name:
                return log
        raise KeyError(name)

    def instance(self, engine: EngineLog, counter: int, at: Location | None) -> None:
        """Note an instance of an engine: the waits since the one before are its own."""
        log = self.counters[counter]
        log.lines.append(line(at))
        log.first_wait.append(engine.noted)
        log.end_wait.append(len(engine.waits))
        engine.noted = len(engine.waits)

    def transfer(self, counter: int, ready: int) -> None:
        """Note when a transfer gets its bandwidth, and after which other one."""
        log = self.counters[counter]
        log.ready.append(ready)
        log.before_counter.append(self.last_transfer.counter)
        log.before_position.append(self.last_transfer.position)
        self.last_transfer = Signal(counter, len(log.ready))

    def meet(self, met: int, last: int) -> None:
        """Note a barrier."""
        self.meetings.setdefault(met, last)
        self.resets.append(met + self.model.costs.rendezvous + self.model.costs.reset)


def line(at: Location | None) -> int:
    """Return the line of a place, 0 if there is none."""
    return at.line if at else 0
