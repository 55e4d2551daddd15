"""Run the engine programs of a SyncProgram without time: which instances, with which waits.

Thresholds never depend on time, only on control flow, so each engine can be run alone.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal, NamedTuple

from headway.errors import Location, OverLimit
from headway.ir.expr import Expr, Inputs, evaluate
from headway.ir.walk import deep_nests
from headway.ir.written_out import Turns
from headway.sync.problems import negative_trip, no_element, over_limit
from headway.sync.program import (
    Assign,
    Barrier,
    EngineProgram,
    Exec,
    Load,
    SetFlag,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    TakeFlag,
    Threshold,
    Wait,
    Waits,
)

MAX_EVENTS = 5_000_000
"""Events of one engine, which are all kept in memory."""


class ConcreteWait(NamedTuple):
    """A wait with the value of its threshold; relative to the last barrier.

    Taking a token is a wait too: the k-th take of a flag is a wait for the k-th time it is set,
    through barriers.
    """

    counter: str
    threshold: int
    wait: Wait

    def __str__(self) -> str:
        return f"{self.counter} >= {self.threshold}"


class Event(NamedTuple):
    """What an engine does next, after its waits hold. `end` is the end of its program.

    `wait` is nothing but its waits: those in front of a barrier, where they have to be apart.
    """

    kind: Literal["exec", "load", "set", "barrier", "wait", "end"]
    name: str
    iteration: tuple[int, ...]
    waits: tuple[ConcreteWait, ...]
    at: Location | None

    def __str__(self) -> str:
        """Return what is done: `add[3]`, `set full` or `barrier`."""
        return (
            self.instance if self.kind in ("exec", "load") else f"{self.kind} {self.name}".strip()
        )

    @property
    def instance(self) -> str:
        """The name with the iterations, as of an instance; without a name, what is done."""
        return f"{self.name}[{','.join(map(str, self.iteration))}]" if self.name else self.kind


def expand(sync: SyncProgram, inputs: Inputs, limit: int = MAX_EVENTS) -> dict[str, list[Event]]:
    """Return the events of every engine. Raise InvalidInput as `headway.spec.instances` does."""
    with deep_nests():
        return {engine.engine: _events(engine, inputs, limit) for engine in sync.engines}


def expand_beginning(sync: SyncProgram, inputs: Inputs, limit: int) -> dict[str, list[Event]]:
    """Return the events of every engine, of long runs those at the beginning. Raise likewise."""
    with deep_nests():
        return {engine.engine: _first_events(engine, inputs, limit) for engine in sync.engines}


def _events(engine: EngineProgram, inputs: Inputs, limit: int) -> list[Event]:
    run = _Run(engine, inputs, limit)
    run.run()
    return run.events


def _first_events(engine: EngineProgram, inputs: Inputs, limit: int) -> list[Event]:
    run = _Run(engine, inputs, limit, is_partial=True)
    try:
        run.run()
    except OverLimit:
        pass
    return run.events


class _Run:
    def __init__(
        self, engine: EngineProgram, inputs: Inputs, limit: int, is_partial: bool = False
    ) -> None:
        self.events: list[Event] = []
        self._inputs = inputs
        self._limit = self._left = limit
        self._registers = {r.name: [0] * r.size for r in engine.registers}
        self._iterations: dict[str, int] = {}
        self._pending: list[ConcreteWait] = []
        self._taken: Counter[str] = Counter()
        self._engine = engine
        self._is_partial = is_partial

    def run(self) -> None:
        self._body(self._engine.body)
        self._event("end", "", (), self._engine.at)

    def _body(self, body: tuple[SyncNode, ...]) -> None:
        for node in body:
            match node:
                case Exec():
                    self._event("exec", node.instr, node.waits, node.at, node.turns)
                case Waits():
                    self._pending += self._concrete(node.waits)
                case Assign():
                    self._assign(node)
                case Load():
                    self._load(node)
                case Barrier():
                    self._event("barrier", "", (), node.at)
                case SetFlag():
                    self._event("set", node.flag, (), node.at)
                case TakeFlag():
                    self._take(node)
                case SyncLoop():
                    self._loop(node)
                case SyncWhile():
                    self._while(node)
                case SyncIf():
                    self._load(node.load)
                    self._body(node.then if self._value(node.condition, node.at) else node.orelse)

    def _loop(self, node: SyncLoop) -> None:
        self._load(node.load)
        trip = self._value(node.trip, node.at)
        if trip < 0:
            raise negative_trip(node.iteration, trip, node.at)
        self._count(node.at, 0, ahead=trip)
        for i in range(trip):
            self._turn(node, node.first + i)
        self._iterations.pop(node.iteration, None)

    def _while(self, node: SyncWhile) -> None:
        turn = 0
        while True:
            self._iterations[node.iteration] = turn
            self._load(node.load)
            if not self._value(node.condition, node.at):
                break
            self._turn(node, turn)
            turn += 1
        self._iterations.pop(node.iteration, None)

    def _turn(self, node: SyncLoop | SyncWhile, number: int) -> None:
        self._count(node.at)
        self._iterations[node.iteration] = number
        self._body(node.body)

    def _load(self, load: Load | None) -> None:
        if load:
            self._event("load", load.control, load.waits, load.at)

    def _take(self, node: TakeFlag) -> None:
        self._count(node.at)
        self._taken[node.flag] += 1
        token = self._taken[node.flag]
        wait = Wait(node.flag, Threshold(None, token), node.at)
        self._pending.append(ConcreteWait(node.flag, token, wait))

    def _assign(self, node: Assign) -> None:
        row = self._registers[node.register.name]
        index = self._value(node.register.index, node.at)
        if not 0 <= index < len(row):
            raise no_element(node.register.name, len(row), index, node.at)
        row[index] = self._value(node.value, node.at)

    def _event(
        self,
        kind: Literal["exec", "load", "set", "barrier", "end"],
        name: str,
        waits: tuple[Wait, ...],
        at: Location | None,
        turns: Turns = (),
    ) -> None:
        self._count(at)
        concrete = (*self._pending, *self._concrete(waits))
        self._pending = []
        iteration = (*self._iterations.values(), *(number for _, number in turns))
        self.events.append(Event(kind, name, iteration, concrete, at))

    def _concrete(self, waits: tuple[Wait, ...]) -> list[ConcreteWait]:
        return [ConcreteWait(w.counter, self._threshold(w), w) for w in waits]

    def _threshold(self, wait: Wait) -> int:
        register = wait.threshold.register
        base = 0 if register is None else self._value(register, wait.at)
        return base + wait.threshold.offset

    def _value(self, expr: Expr, at: Location | None) -> int:
        return evaluate(expr, self._iterations, self._inputs, self._registers, at)

    def _count(self, at: Location | None, amount: int = 1, ahead: int = 0) -> None:
        """Count events and iterations; `ahead` of here there are at least so many more."""
        self._left -= amount
        if self._left < (0 if self._is_partial else ahead):
            raise over_limit(self._limit, at)
