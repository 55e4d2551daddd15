"""Engine programs as a machine whose steps are issues and completions.

In     the events of the engine programs, and what their instances require
Out    for every engine a row of steps with conditions on the state: how far other engines are and
       how much has completed. Thresholds depend on control flow only, so barriers and flags can be
       written as such conditions beforehand.

A state is how many steps each engine has done and how many instances of each counter have
completed. An instruction completes some time after its issue, those of one counter in order. No
step ever takes the condition of another one away.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from headway.check.needs import Need
from headway.ir.program import Instr, control_counter
from headway.ir.walk import walk
from headway.spec import Signals
from headway.sync.expand import Event
from headway.sync.program import Flag, Semaphore, SyncProgram

Events = Mapping[str, Sequence[Event]]
Condition = tuple[int, int]
"""The number of an engine or counter, and how far it has to be."""


class Look(NamedTuple):
    """A wait that compares a semaphore that wraps; `base` is what was signalled before it."""

    counter: int
    base: int
    semaphore: Semaphore
    threshold: int

    def holds(self, signalled: int) -> bool:
        """Tell whether it holds when the counter has signalled so often since the beginning."""
        return self.semaphore.value(signalled - self.base) >= self.threshold


class Step(NamedTuple):
    """What an engine does next once everything before it is there.

    `steps` and `completions` are the conditions; `issues` is the counter of its instance, -1 for
    none, and `position` its number there. `room` are conditions too, but the engine does not look:
    without them a token is lost. `looks` are conditions that more completions may take away.
    """

    event: Event
    need: Need | None
    issues: int
    position: int
    steps: tuple[Condition, ...]
    completions: tuple[Condition, ...]
    room: tuple[Condition, ...] = ()
    looks: tuple[Look, ...] = ()


class Machine(NamedTuple):
    """Engines with their steps. `issued[c][p]` instances of c are issued after p steps of its host.

    `required` lists for every step what its instance must have seen complete, and `signals` tells
    which completions can be seen.
    """

    engines: tuple[str, ...]
    counters: tuple[str, ...]
    hosts: tuple[int, ...]
    steps: tuple[tuple[Step, ...], ...]
    issued: tuple[tuple[int, ...], ...]
    required: tuple[tuple[tuple[Condition, ...], ...], ...]
    signals: Signals

    def is_early(self, engine: int, step: int, completed: Sequence[int]) -> list[int]:
        """Return the counters of which an instance, issued now, should have seen more."""
        return [c for c, position in self.required[engine][step] if completed[c] < position]


def machine(
    sync: SyncProgram,
    needs: Sequence[Need] | None,
    events: Events,
    wrapping: Mapping[str, Semaphore] = {},
) -> Machine | None:
    """Return the machine of a verified program; None if it issues instances out of turn.

    Without needs it is not known what is early, nor what is out of turn. Waits for a counter whose
    semaphore is `wrapping` become conditions on what it reads.
    """
    apart = {engine: tuple(_apart(row)) for engine, row in events.items()}
    builder = _Builder(sync, needs, apart, wrapping)
    steps = tuple(tuple(builder.steps(engine)) for engine in builder.engines)
    if builder.is_disordered:
        return None
    required = tuple(tuple(builder.required(step) for step in row) for row in steps)
    return Machine(
        builder.engines,
        builder.counters,
        builder.hosts,
        steps,
        builder.issued,
        required,
        builder.signals,
    )


def _apart(row: Sequence[Event]) -> Iterator[Event]:
    """Yield events with waits in front of a barrier apart: nobody passes it before they hold."""
    for event in row:
        if event.kind == "barrier" and event.waits:
            yield event._replace(kind="wait")
            event = event._replace(waits=())
        yield event


def ideal_machine(given: Machine, serial: frozenset[str]) -> Machine:
    """Return the machine that issues the same in the same order, each as soon as it may."""
    rows: list[tuple[Step, ...]] = []
    required: list[tuple[tuple[Condition, ...], ...]] = []
    for number, row in enumerate(given.steps):
        kept = [(step, r) for step, r in zip(row, given.required[number], strict=True) if step.need]
        waits = [(*_seen(given, r), *_own(given, number, step, serial)) for step, r in kept]
        blocked = [()] + [_blocking(step) for step, _ in kept]
        rows.append(
            tuple(
                step._replace(steps=(), completions=(*wait, *block), room=(), looks=())
                for (step, _), wait, block in zip(kept, waits, blocked, strict=False)
            )
        )
        required.append(tuple(r for _, r in kept))
    issued = tuple(_running(rows[host], counter) for counter, host in enumerate(given.hosts))
    return given._replace(steps=tuple(rows), issued=issued, required=tuple(required))


def _seen(given: Machine, required: Sequence[Condition]) -> Iterator[Condition]:
    """A silent completion is seen with the next signal."""
    for counter, position in required:
        yield counter, given.signals.cover(given.counters[counter], position)


def _own(given: Machine, engine: int, step: Step, serial: frozenset[str]) -> tuple[Condition, ...]:
    """A serial engine issues an instruction of its own when the one before has completed."""
    name = given.engines[engine]
    if step.need and given.counters[step.issues] == name and name in serial:
        return ((step.issues, step.position - 1),)
    return ()


def _blocking(step: Step) -> tuple[Condition, ...]:
    """A load holds up its engine until it has completed."""
    if step.event.kind == "load":
        return ((step.issues, step.position),)
    return ()


def _running(row: Sequence[Step], counter: int) -> tuple[int, ...]:
    counts = [0]
    for step in row:
        counts.append(counts[-1] + (step.issues == counter))
    return tuple(counts)


class _Builder:
    def __init__(
        self,
        sync: SyncProgram,
        needs: Sequence[Need] | None,
        events: Events,
        wrapping: Mapping[str, Semaphore],
    ) -> None:
        program = sync.program
        self._wrapping = wrapping
        self.engines = tuple(events)
        names = tuple(dict.fromkeys((*program.hosts, *events)))
        queues = {queue.name: queue.host for queue in program.queues}
        controls = {control_counter(name): name for name in names}
        host_of = {**{name: name for name in names}, **queues, **controls}
        number = {name: n for n, name in enumerate(self.engines)}
        self.counters = tuple(q for q, host in host_of.items() if host in number)
        self.hosts = tuple(number[host_of[q]] for q in self.counters)
        self.is_disordered = False
        self._seen: dict[tuple[int, str], int] = {}
        self._serial = program.serial
        self._events = events
        self._index = {q: n for n, q in enumerate(self.counters)}
        self._flags: dict[str, Flag] = {flag.name: flag for flag in sync.flags}
        self._counter_of = {
            node.name: node.counter for node in walk(program.body) if isinstance(node, Instr)
        }
        self._needs: defaultdict[str, list[Need]] = defaultdict(list)
        silent = {
            node.name for node in walk(program.body) if isinstance(node, Instr) and node.silent
        }
        self.signals = Signals(
            (q, event.name in silent)
            for engine, row in events.items()
            for event in row
            if (q := self._counter(engine, event))
        )
        self._has_needs = needs is not None
        for need in needs or ():
            self._needs[need.instance.counter].append(need)
        self.issued = tuple(self._issued(q) for q in self.counters)
        self._place_tokens()
        self._barriers = [
            [at for at, event in enumerate(events[e]) if event.kind == "barrier"]
            for e in self.engines
        ]

    def _counter(self, engine: str, event: Event) -> str:
        """Return the counter that an event adds to; "" for none."""
        if event.kind == "load":
            return control_counter(engine)
        return self._counter_of[event.name] if event.kind == "exec" else ""

    def _issued(self, counter: str) -> tuple[int, ...]:
        engine = self.engines[self.hosts[self._index[counter]]]
        counts = [0]
        for event in self._events[engine]:
            counts.append(counts[-1] + (self._counter(engine, event) == counter))
        return tuple(counts)

    def _place_tokens(self) -> None:
        """Find the steps that set and take the tokens of each flag."""
        self._sets: defaultdict[str, list[Condition]] = defaultdict(list)
        self._takes: defaultdict[str, list[Condition]] = defaultdict(list)
        for number, engine in enumerate(self.engines):
            for at, event in enumerate(self._events[engine]):
                if event.kind == "set":
                    self._sets[event.name].append((number, at))
                for wait in event.waits:
                    if wait.counter in self._flags:
                        self._takes[wait.counter].append((number, at))

    def steps(self, engine: str) -> Iterator[Step]:
        """Yield the steps of an engine; the last one is its end."""
        number = self.engines.index(engine)
        base = dict.fromkeys(self.counters, 0)
        block: tuple[Condition, ...] = ()
        barriers = 0
        for event in self._events[engine]:
            steps, completions = self._conditions(event, base)
            looks = tuple(self._looks(event, base))
            completions += block
            if event.kind == "barrier":
                steps, completions, base = self._meeting(barriers, steps, completions)
                barriers += 1
            counter = self._counter(engine, event)
            position = self._turns(number, counter) + 1 if counter else 0
            need = self._need(counter, position, event) if counter else None
            step = Step(
                event,
                need,
                self._index[counter] if counter else -1,
                position,
                steps,
                completions,
                self._room(number, event),
                looks,
            )
            if counter == engine and engine in self._serial:
                own = (step.issues, position - 1)
                step = step._replace(completions=(*completions, own))
            block = _blocking(step)
            yield step

    def _conditions(
        self, event: Event, base: Mapping[str, int]
    ) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
        steps: list[Condition] = []
        completions: list[Condition] = []
        for wait in event.waits:
            if wait.counter in self._flags:
                set_at, seen = self._token(wait.counter, wait.threshold)
                steps.append(set_at)
                completions.append(seen)
            elif wait.threshold > 0 and wait.counter not in self._wrapping:
                number = self.signals.among(wait.counter, base[wait.counter]) + wait.threshold
                position = self.signals.position(wait.counter, number)
                completions.append((self._index[wait.counter], position))
        return tuple(steps), tuple(completions)

    def _looks(self, event: Event, base: Mapping[str, int]) -> Iterator[Look]:
        for wait in event.waits:
            if wait.threshold > 0 and wait.counter in self._wrapping:
                yield Look(
                    self._index[wait.counter],
                    self.signals.among(wait.counter, base[wait.counter]),
                    self._wrapping[wait.counter],
                    wait.threshold,
                )

    def _token(self, flag: str, token: int) -> tuple[Condition, Condition]:
        """Return when a token is there: its set is done, and what was issued before is over."""
        source = self._index[self._flags[flag].counter]
        if token > len(self._sets[flag]):
            return (self.hosts[source], len(self._events[self.engines[self.hosts[source]]]) + 1), (
                source,
                0,
            )
        engine, at = self._sets[flag][token - 1]
        return (engine, at + 1), (source, self.issued[source][at])

    def _meeting(
        self, number: int, steps: tuple[Condition, ...], completions: tuple[Condition, ...]
    ) -> tuple[tuple[Condition, ...], tuple[Condition, ...], dict[str, int]]:
        """All engines come to their barrier of that number, and all they have issued is over."""
        places = [
            barriers[number] if number < len(barriers) else len(self._events[engine]) + 1
            for engine, barriers in zip(self.engines, self._barriers, strict=True)
        ]
        base = {
            q: self.issued[c][min(places[self.hosts[c]], len(self.issued[c]) - 1)]
            for c, q in enumerate(self.counters)
        }
        met = tuple(enumerate(places))
        over = tuple((self._index[q], count) for q, count in base.items())
        return (*steps, *met), (*completions, *over), base

    def _need(self, counter: str, position: int, event: Event) -> Need | None:
        needs = self._needs[counter]
        if position <= len(needs) and needs[position - 1].instance.node.name == event.name:
            return needs[position - 1]
        self.is_disordered = self._has_needs
        return None

    def _turns(self, engine: int, counter: str) -> int:
        """Count an instance of a counter; return how many came before."""
        key = (engine, counter)
        before = self._seen.get(key, 0)
        self._seen[key] = before + 1
        return before

    def _room(self, engine: int, event: Event) -> tuple[Condition, ...]:
        """Return the take that makes room for the token that an event sets."""
        flag = self._flags.get(event.name) if event.kind == "set" else None
        if flag is None or not flag.holds:
            return ()
        done = self._turns(engine, flag.name) + 1
        missing = done - flag.holds
        if missing < 1:
            return ()
        takes = self._takes[flag.name]
        taker = self.engines.index(flag.engine)
        if missing > len(takes):
            return ((taker, len(self._events[flag.engine]) + 1),)
        # What stands in front of the set is taken before.
        return ((taker, takes[missing - 1][1] + (taker != engine)),)

    def required(self, step: Step) -> tuple[Condition, ...]:
        """Return what the instance of a step requires."""
        if step.need is None:
            return ()
        return tuple((self._index[q], position) for q, position in step.need.required.items())
