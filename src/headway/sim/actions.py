"""What a sequencer does, step by step: an engine program run for given inputs, without time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from headway.errors import Location
from headway.ir.expr import Binary, Expr, Inputs, evaluate
from headway.ir.program import control_counter
from headway.sim import problems
from headway.sim.model import Model, Timing
from headway.sim.reason import Reason
from headway.sync.problems import negative_trip, no_element
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
    SyncWhile,
    TakeFlag,
    Wait,
    Waits,
)


class Spend(NamedTuple):
    """Spend time on synchronization."""

    time: int
    reason: Reason
    at: Location | None


class Await(NamedTuple):
    """Stand still until a counter has reached a threshold, then spend `cost`."""

    counter: int
    threshold: int
    cost: int
    at: Location | None
    reason: Reason = Reason.WAIT_INSTRUCTION


class Issue(NamedTuple):
    """Issue an instruction."""

    timing: Timing
    iteration: tuple[int, ...]
    at: Location | None = None


class Read(NamedTuple):
    """Load a control value."""

    name: str
    counter: int
    iteration: tuple[int, ...]
    at: Location | None = None


class Give(NamedTuple):
    """Spend `cost`; add a token to a flag when everything issued on a counter has completed."""

    flag: int
    counter: int
    cost: int
    at: Location | None = None


class Meet(NamedTuple):
    """Meet the other engines at a barrier."""

    at: Location | None


Action = Spend | Await | Issue | Read | Give | Meet


class Budget:
    """How many instances and iterations a run may still have."""

    def __init__(self, limit: int) -> None:
        self.limit = self.left = limit

    def spend(self, at: Location | None) -> None:
        """Count one. Raise InvalidInput if there are too many; `at` is the innermost loop."""
        self.left -= 1
        if self.left < 0:
            raise problems.over_limit(self.limit, at)


def actions(
    engine: EngineProgram, model: Model, inputs: Inputs, budget: Budget
) -> Iterator[Action]:
    """Yield the actions of an engine, in order.

    Names are known (`headway.sim.names`). Raise InvalidInput on a missing input, a negative trip
    count, an index out of range or an exhausted budget.
    """
    return _Walk(engine, model, inputs, budget).body(engine.body)


class _Walk:
    def __init__(self, engine: EngineProgram, model: Model, inputs: Inputs, budget: Budget) -> None:
        self._engine = engine.engine
        self._model = model
        self._costs = model.costs
        self._inputs = inputs
        self._budget = budget
        self._registers = {r.name: [0] * r.size for r in engine.registers}
        self._iterations: dict[str, int] = {}
        self._loop: list[Location | None] = [engine.at]
        self._taken: Counter[int] = Counter()

    def body(self, nodes: tuple[SyncNode, ...]) -> Iterator[Action]:
        for node in nodes:
            match node:
                case Exec():
                    yield from self._exec(node)
                case Waits():
                    yield from self._waits(node.waits, attached=0)
                case Assign():
                    yield self._assign(node)
                case Load():
                    yield from self._load(node)
                case Barrier():
                    yield Meet(node.at)
                case SetFlag():
                    yield self._set(node)
                case TakeFlag():
                    yield self._take(node)
                case SyncLoop():
                    yield from self._for(node)
                case SyncWhile():
                    yield from self._while(node)
                case SyncIf():
                    yield from self._if(node)

    def _exec(self, node: Exec) -> Iterator[Action]:
        yield from self._waits(node.waits, self._costs.free_waits)
        self._budget.spend(self._loop[-1])
        iteration = (*self._iterations.values(), *(number for _, number in node.turns))
        yield Issue(self._model.timings[node.instr], iteration, node.at)

    def _load(self, node: Load) -> Iterator[Action]:
        yield from self._waits(node.waits, self._costs.free_waits)
        self._budget.spend(self._loop[-1])
        counter = self._model.number[control_counter(self._engine)]
        yield Read(node.control, counter, tuple(self._iterations.values()), node.at)

    def _set(self, node: SetFlag) -> Action:
        flag = self._model.number[node.flag]
        source = self._model.sources[flag - len(self._model.counters)]
        return Give(flag, source, self._costs.flag, node.at)

    def _take(self, node: TakeFlag) -> Action:
        """The k-th take of a flag waits for its k-th token."""
        flag = self._model.number[node.flag]
        self._taken[flag] += 1
        return Await(flag, self._taken[flag], self._costs.flag, node.at, Reason.FLAG)

    def _waits(self, waits: tuple[Wait, ...], attached: int) -> Iterator[Action]:
        """Yield wait instructions first, then the waits that the instruction carries itself."""
        for number, wait in enumerate(waits[attached:] + waits[:attached]):
            register, value = wait.threshold.register, wait.threshold.offset
            if register is not None:
                if value and not self._costs.has_register_sums:
                    yield Spend(self._costs.register, Reason.REGISTER, wait.at)
                value += self._value(register, wait.at)
            cost = self._costs.wait if number < len(waits) - attached else 0
            yield Await(self._model.number[wait.counter], value, cost, wait.at)

    def _assign(self, node: Assign) -> Action:
        register = node.register
        row = self._registers[register.name]
        index = self._value(register.index, node.at)
        if not 0 <= index < len(row):
            raise no_element(register.name, len(row), index, node.at)
        row[index] = self._value(node.value, node.at)
        return Spend(self._costs.register * operations(node.value), Reason.REGISTER, node.at)

    def _for(self, node: SyncLoop) -> Iterator[Action]:
        if node.load:
            yield from self._load(node.load)
        trip = self._value(node.trip, node.at)
        if trip < 0:
            raise negative_trip(node.iteration, trip, node.at)
        for turn in range(trip):
            yield from self._turn(node, node.first + turn)
        self._iterations.pop(node.iteration, None)
        yield Spend(self._costs.branch, Reason.LOOP_CONTROL, node.at)

    def _while(self, node: SyncWhile) -> Iterator[Action]:
        turn = 0
        while True:
            self._iterations[node.iteration] = turn
            if node.load:
                yield from self._load(node.load)
            if not self._value(node.condition, node.at):
                break
            yield from self._turn(node, turn)
            turn += 1
        self._iterations.pop(node.iteration, None)
        yield Spend(self._costs.branch, Reason.LOOP_CONTROL, node.at)

    def _turn(self, node: SyncLoop | SyncWhile, number: int) -> Iterator[Action]:
        self._iterations[node.iteration] = number
        self._loop.append(node.at)
        self._budget.spend(node.at)
        yield Spend(self._costs.loop, Reason.LOOP_CONTROL, node.at)
        yield from self.body(node.body)
        self._loop.pop()

    def _if(self, node: SyncIf) -> Iterator[Action]:
        if node.load:
            yield from self._load(node.load)
        taken = self._value(node.condition, node.at)
        yield Spend(self._costs.branch, Reason.LOOP_CONTROL, node.at)
        yield from self.body(node.then if taken else node.orelse)

    def _value(self, expr: Expr, at: Location | None) -> int:
        return evaluate(expr, self._iterations, self._inputs, self._registers, at)


def operations(expr: Expr) -> int:
    """Return how many register operations compute `expr`: one for each operator, at least one.

    Indices cost nothing: a row of registers is addressed by unrolled code.
    """
    count, stack = 0, [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, Binary):
            count += 1
            stack += (node.left, node.right)
    return max(1, count)
