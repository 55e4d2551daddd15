"""Execute engine programs at once, with random latencies that the machine may have.

In     engine programs, what their instructions compute, a source of random numbers
Out    the memory as it is when all engines have ended

An instance starts when it is issued and, on a serial engine or queue, the one before has completed.
It completes after a random latency, and not before the one in front of it on its counter. Between
start and completion it reads, at a random moment that is often the very first or the very last, and
then writes. What an engine keeps inside of it, such as accumulators, its instructions read and
write in their order, also where they overlap in memory. So a wait that ends too early meets old
values, or overwrites what is still needed, wherever the order is left to chance. How fast each
engine and queue is changes from run to run, by a factor of up to a hundred.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from random import Random

from headway.check.machine import Machine, Step, machine
from headway.check.needs import reference
from headway.errors import CheckFailed, Diagnostic, InvalidInput
from headway.ir.expr import Inputs
from headway.ir.program import Instr
from headway.spec import is_fused
from headway.sync.expand import expand
from headway.sync.program import SyncProgram
from headway.values import Values
from headway.values.execute import Result, begin, commit
from headway.values.memory import Contents
from headway.values.program import Meaning

SPREAD = 10.0
"""The slowest and the fastest engine lie so many times below and above the usual one."""


def concurrent(
    sync: SyncProgram, values: Values, inputs: Inputs, contents: Contents, random: Random
) -> None:
    """Execute engine programs in one order that they allow; `contents` is changed.

    Raise InvalidInput if the inputs do not fit or instances are issued out of turn, CheckFailed on
    a deadlock.
    """
    needs = reference(sync, inputs)
    found = machine(sync, needs, expand(sync, inputs))
    if found is None or sum(step.need is not None for x in found.steps for step in x) < len(needs):
        raise InvalidInput(
            Diagnostic(
                "the engine programs do not issue the instances of the program in its order",
                help="`headway check` tells which one",
            )
        )
    _Run(found, sync.program.serial, values, contents, random).run()


class _Run:
    def __init__(
        self,
        given: Machine,
        serial: frozenset[str],
        values: Values,
        contents: Contents,
        random: Random,
    ) -> None:
        self._machine = given
        self._serial = [name in serial for name in given.counters]
        self._values = values
        self._contents = contents
        self._random = random
        self._done = [0] * len(given.engines)
        self._completed = [0] * len(given.counters)
        self._free = [0.0] * len(given.counters)
        self._kept = [0.0] * len(given.counters)
        self._keeping = frozenset(n for n, m in values.meanings.items() if _keeps(m, values))
        self._ready = [0.0] * len(given.engines)
        self._now = 0.0
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._number = 0
        self._engine_pace = [self._pace() / 10 for _ in given.engines]
        self._counter_pace = [self._pace() for _ in given.counters]

    def _pace(self) -> float:
        return SPREAD ** self._random.uniform(-1, 1)

    def run(self) -> None:
        """Go on until nothing is left to happen."""
        while self._advance() or self._happen():
            pass
        stuck = [
            name
            for number, name in enumerate(self._machine.engines)
            if self._done[number] < len(self._machine.steps[number])
        ]
        if stuck:
            raise CheckFailed(f"deadlock: {', '.join(stuck)} stand for ever")

    def _happen(self) -> bool:
        """Let the next event happen."""
        if not self._events:
            return False
        self._now, _, action = heappop(self._events)
        action()
        return True

    def _at(self, time: float, action: Callable[[], None]) -> None:
        """Events at one time happen in the order in which they were planned."""
        self._number += 1
        heappush(self._events, (time, self._number, action))

    def _advance(self) -> bool:
        """Let every engine that can do its next step; tell whether one did."""
        return any([self._step(engine) for engine in range(len(self._done))])

    def _step(self, engine: int) -> bool:
        row = self._machine.steps[engine]
        if self._done[engine] == len(row) or self._ready[engine] > self._now:
            return False
        step = row[self._done[engine]]
        if any(self._done[e] < n for e, n in step.steps) or any(
            self._completed[c] < n for c, n in step.completions
        ):
            return False
        self._done[engine] += 1
        if step.need is not None:
            self._issue(step)
        pause = self._random.expovariate(1) * self._engine_pace[engine]
        self._ready[engine] = self._now + pause
        self._at(self._ready[engine], lambda: None)
        return True

    def _issue(self, step: Step) -> None:
        counter, need = step.issues, step.need
        assert need is not None
        is_after = self._serial[counter] or is_fused(need.instance)
        start = max(self._now, self._free[counter]) if is_after else self._now
        latency = self._random.expovariate(1) * self._counter_pace[counter]
        end = max(start + latency, self._free[counter])
        self._free[counter] = end
        if isinstance(need.instance.node, Instr):
            self._work(counter, need.instance.node.name, need.instance.iteration, start, end)

        def complete() -> None:
            self._completed[counter] += 1

        self._at(end, complete)

    def _work(
        self, counter: int, name: str, iteration: tuple[int, ...], start: float, end: float
    ) -> None:
        """Plan when an instance reads and when it writes."""
        reading = self._moment(start, end)
        if name in self._keeping:
            reading = max(reading, self._kept[counter])
        writing = self._moment(reading, end)
        if name in self._keeping:
            self._kept[counter] = writing
        computed: list[tuple[Result, ...]] = []

        def read() -> None:
            computed.append(begin(self._values, name, iteration, self._contents))

        def write() -> None:
            commit(computed[0], self._contents)

        self._at(reading, read)
        self._at(writing, write)

    def _moment(self, first: float, last: float) -> float:
        """Return a moment between two; the ends come often, for there mistakes show."""
        where = self._random.random()
        if where < 1 / 3:
            return first
        return last if where < 2 / 3 else self._random.uniform(first, last)


def _keeps(meaning: Meaning, values: Values) -> bool:
    """Tell whether an instruction touches what its engine keeps inside of it."""
    views = (*meaning.reads.values(), *meaning.writes.values())
    return any(map(values.is_in_engine, views))
