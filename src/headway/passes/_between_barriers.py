"""How many signals a counter can give between two barriers: an upper bound, from the code alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf

from headway.ir.expr import Binary, Expr, Iteration
from headway.ir.program import control_counter
from headway.ir.walk import deep_nests, instructions
from headway.sync.program import (
    Barrier,
    EngineProgram,
    Exec,
    Load,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """The most signals in a piece of code: on a way `through` it without barrier (-inf = there is
    none), `before` its first barrier, `between` two, and `after` its last one.
    """

    through: float = 0
    before: float = -inf
    between: float = -inf
    after: float = -inf

    @property
    def most(self) -> float:
        """The most signals that are not interrupted by a barrier."""
        return max(self.through, self.before, self.between, self.after)

    def then(self, other: Stretch) -> Stretch:
        """Return the stretch of this code and other code behind it."""
        return Stretch(
            _plus(self.through, other.through),
            max(self.before, _plus(self.through, other.before)),
            max(self.between, other.between, _plus(self.after, other.before)),
            max(other.after, _plus(self.after, other.through)),
        )

    def either(self, other: Stretch) -> Stretch:
        """Return the stretch of code that is this one or the other."""
        return Stretch(
            max(self.through, other.through),
            max(self.before, other.before),
            max(self.between, other.between),
            max(self.after, other.after),
        )

    def repeated(self, times: float) -> Stretch:
        """Return the stretch of this code run `times` times (inf = many)."""
        if times < 1:
            return Stretch()
        others = (times - 1) * self.through if self.through > 0 and times > 1 else 0
        again = _plus(_plus(self.after, self.before), others) if times > 1 else -inf
        return Stretch(
            _plus(self.through, others),
            _plus(self.before, others),
            max(self.between, again),
            _plus(self.after, others),
        )


def _plus(a: float, b: float) -> float:
    """Add, where -inf stays -inf."""
    return -inf if -inf in (a, b) else a + b


SIGNAL, BARRIER = Stretch(1), Stretch(-inf, 0, -inf, 0)


def between_barriers(sync: SyncProgram, counters: Iterable[str]) -> dict[str, float]:
    """Return for each counter the most signals that it can give without a barrier."""
    instrs = instructions(sync.program.body)
    counter_of = {instr.name: "" if instr.silent else instr.counter for instr in instrs}
    hosts = {queue.name: queue.host for queue in sync.program.queues}
    for engine in sync.program.hosts:
        hosts |= {engine: engine, control_counter(engine): engine}
    programs = {engine.engine: engine for engine in sync.engines}
    found: dict[str, float] = {}
    with deep_nests():
        for q in counters:
            program = programs.get(hosts.get(q, ""))
            found[q] = _stretch(program, q, counter_of).most if program else 0
    return found


def _stretch(engine: EngineProgram, q: str, counter_of: dict[str, str]) -> Stretch:
    is_control = q == control_counter(engine.engine)

    def signals(node: SyncNode) -> bool:
        if isinstance(node, Load):
            return is_control
        return isinstance(node, Exec) and counter_of[node.instr] == q

    return _Walk(signals).body(engine.body)


class _Walk:
    def __init__(self, signals: Callable[[SyncNode], bool]) -> None:
        self._signals = signals
        self._is_first: dict[str, bool] = {}  # iterations that are 0, or more

    def body(self, body: tuple[SyncNode, ...]) -> Stretch:
        found = Stretch()
        for node in body:
            found = found.then(self._node(node))
        return found

    def _node(self, node: SyncNode) -> Stretch:
        match node:
            case Barrier():
                return BARRIER
            case SyncLoop():
                return self._load(node.load).then(self._loop(node))
            case SyncWhile():
                test = self._load(node.load)
                again = self.body(node.body).then(test).repeated(_most_tests(node))
                return test.then(again.either(Stretch()))
            case SyncIf():
                return self._load(node.load).then(self._if(node))
            case _:
                return SIGNAL if self._signals(node) else Stretch()

    def _loop(self, node: SyncLoop) -> Stretch:
        """Take the first iteration apart from the others: a barrier may be left out there."""
        times = _most_times(node.trip)
        if times < 1:
            return Stretch()
        first, others = self._iteration(node, True), self._iteration(node, False)
        if isinstance(node.trip, int):
            return first.then(others.repeated(times - 1))
        return first.then(others.repeated(times - 1).either(Stretch())).either(Stretch())

    def _iteration(self, node: SyncLoop, is_first: bool) -> Stretch:
        self._is_first[node.iteration] = is_first
        found = self.body(node.body)
        del self._is_first[node.iteration]
        return found

    def _if(self, node: SyncIf) -> Stretch:
        match node.condition:
            case Binary(">", Iteration(i), 0) if i in self._is_first:
                return self.body(node.orelse if self._is_first[i] else node.then)
            case _:
                return self.body(node.then).either(self.body(node.orelse))

    def _load(self, load: Load | None) -> Stretch:
        return SIGNAL if load and self._signals(load) else Stretch()


def _most_times(trip: Expr) -> float:
    """Return how often a loop can run, as far as its trip count tells."""
    match trip:
        case int():
            return trip
        case Binary("min", int() as most, _):
            return most
        case _:
            return inf


def _most_tests(node: SyncWhile) -> float:
    """Return how often a while can run, as far as its condition tells."""
    match node.condition:
        case Binary("and", Binary("<", Iteration(i), int() as most), _) if i == node.iteration:
            return most
        case _:
            return inf
