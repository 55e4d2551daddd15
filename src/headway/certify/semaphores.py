"""What a proof may take for granted of semaphores: that they count and compare as numbers do.

In     a synchronized program
Out    a Refused, if a count between two barriers may not fit into its semaphore, or if a threshold
       below 0 may be compared by one that has no such numbers
Keeps  nothing is assumed of inputs but that they fit the program. A semaphore of 22 bits or more is
       taken to be wide enough for every run, as an engine would count for seconds.
Cost   linear in the program, a few rounds for registers
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import inf
from typing import NamedTuple

from headway.certify.bounds import ANYTHING, Range, bounds
from headway.certify.statement import Refused
from headway.ir.expr import Expr, Iteration
from headway.ir.program import Loop, Node, control_counter
from headway.ir.walk import instructions
from headway.sync.program import (
    Assign,
    Barrier,
    EngineProgram,
    Exec,
    Load,
    RegisterRef,
    Semaphore,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    Wait,
    Waits,
    walk_sync,
)

ENOUGH = 2**22
"""A count that no run reaches between two barriers: that would take an engine seconds."""
ROUNDS = 4
"""Times that floors of registers are lowered before what still sinks has none."""

Floors = dict[str, float]
"""By register of one engine, a number that it is never below."""
Loops = tuple[tuple[str, Expr], ...]
"""Iterations and trip counts of loops inside each other."""
Trips = dict[Expr, Loops]


def refuse_overflow(sync: SyncProgram) -> None:
    """Raise Refused unless every semaphore counts and compares as a number, for all inputs."""
    counters = {i.name: i.counter for i in instructions(sync.program.body) if not i.silent}
    semaphores = {semaphore.counter: semaphore for semaphore in sync.semaphores}
    narrow = [semaphore for semaphore in sync.semaphores if semaphore.most < ENOUGH]
    trips = list(_trips(sync.program.body, ()))
    for engine in sync.engines:
        for semaphore in narrow:
            counter, most = semaphore.counter, semaphore.most
            if _signals(engine, counter, counters).all > most:
                why = f"the semaphore of {counter} has {semaphore.width} bits, and between two"
                raise Refused(f"{why} barriers may be more than {most} signals", semaphore.at)
        _refuse_below(engine, semaphores, dict(reversed(trips)))


# How many signals come between two barriers


class Count(NamedTuple):
    """Most signals without a barrier, before the first, behind the last, between two of them."""

    through: float = 0
    head: float = -inf
    tail: float = -inf
    between: float = -inf

    @property
    def all(self) -> float:
        """The most signals that come without a barrier among them."""
        return max(self)


def _signals(engine: EngineProgram, counter: str, counters: dict[str, str]) -> Count:
    def one(node: SyncNode | None) -> Count:
        is_load = isinstance(node, Load) and counter == control_counter(engine.engine)
        is_issue = isinstance(node, Exec) and counters.get(node.instr) == counter
        return Count(int(is_load or is_issue))

    def of(body: Iterable[SyncNode]) -> Count:
        found = Count()
        for node in body:
            found = _then(found, of_node(node))
        return found

    def of_node(node: SyncNode) -> Count:
        match node:
            case Barrier():
                return Count(-inf, 0, 0)
            case SyncIf():
                then, orelse = of(node.then), of(node.orelse)
                return _then(one(node.load), Count(*map(max, then, orelse)))
            case SyncLoop():
                return _then(one(node.load), _repeated(of(node.body), bounds(node.trip).most))
            case SyncWhile():
                turn = _then(one(node.load), of(node.body))
                return _then(_repeated(turn, inf), one(node.load))
            case _:
                return one(node)

    return of(engine.body)


def _then(a: Count, b: Count) -> Count:
    return Count(
        _sum(a.through, b.through),
        max(a.head, _sum(a.through, b.head)),
        max(b.tail, _sum(a.tail, b.through)),
        max(a.between, b.between, _sum(a.tail, b.head)),
    )


def _repeated(turn: Count, most: float) -> Count:
    """Return what is counted in at most so many turns, perhaps in none."""
    if most <= 0:
        return Count()

    def turns(times: float) -> float:
        return turn.through * times if turn.through > 0 and times > 0 else 0

    meeting = _sum(turn.tail, _sum(turn.head, turns(most - 2))) if most > 1 else -inf
    return Count(
        turns(most),
        _sum(turn.head, turns(most - 1)),
        _sum(turn.tail, turns(most - 1)),
        max(turn.between, meeting),
    )


def _sum(a: float, b: float) -> float:
    return -inf if -inf in (a, b) else a + b


# How small thresholds are


def _trips(body: Iterable[Node], around: Loops) -> Iterator[tuple[Expr, Loops]]:
    """Yield trip counts, with the loops in each turn of which such a loop is run for sure.

    There they are not below 0, or the inputs do not fit the program.
    """
    for node in body:
        if isinstance(node, Loop):
            yield node.trip, around
            yield from _trips(node.body, (*around, (node.iteration, node.trip)))


def _refuse_below(engine: EngineProgram, semaphores: dict[str, Semaphore], trips: Trips) -> None:
    floors: Floors | None = None
    for wait in _waits(engine):
        semaphore = semaphores.get(wait.counter)
        if semaphore is None or (semaphore.is_signed and semaphore.most >= ENOUGH):
            continue
        floors = _floors(engine, trips) if floors is None else floors
        register, offset = wait.threshold.register, wait.threshold.offset
        least = (floors[register.name] if register else 0) + offset
        if least < (-semaphore.most - 1 if semaphore.is_signed else 0):
            kind = f"{semaphore.width} bits" if semaphore.is_signed else "no sign"
            why = f"{wait} may be below what a semaphore with {kind} can compare"
            raise Refused(why, wait.at)


def _waits(engine: EngineProgram) -> Iterable[Wait]:
    for node in walk_sync(engine.body):
        if isinstance(node, Exec | Load | Waits):
            yield from node.waits


def _assigns(body: Iterable[SyncNode], around: Loops) -> Iterator[tuple[Assign, Loops]]:
    for node in body:
        match node:
            case Assign():
                yield node, around
            case SyncLoop():
                yield from _assigns(node.body, (*around, (node.iteration, node.trip)))
            case SyncWhile():
                yield from _assigns(node.body, (*around, (node.iteration, node.condition)))
            case SyncIf():
                yield from _assigns((*node.then, *node.orelse), around)
            case _:
                pass


def _floors(engine: EngineProgram, trips: Trips) -> Floors:
    """Return floors that every assignment keeps, if all registers are at theirs before it.

    A proof goes on only if the loops of an engine are those of the program, so that what is a trip
    count in the loops around an assignment is not below 0 in it.
    """
    floors: Floors = defaultdict(float)
    assigns = [
        (node, {trip for trip, loops in trips.items() if around[: len(loops)] == loops})
        for node, around in _assigns(engine.body, ())
    ]
    for turn in range(ROUNDS + 1):
        before = dict(floors)
        for node, positive in assigns:
            name, least = node.register.name, _least(node.value, floors, positive)
            if least < floors[name]:
                floors[name] = -inf if turn == ROUNDS else least
        if floors == before:
            return floors
    return defaultdict(lambda: -inf)


def _least(expr: Expr, floors: Floors, positive: set[Expr]) -> float:
    """Return a number that the value of an expression is never below."""

    def known(part: Expr) -> Range:
        if isinstance(part, Iteration) or part in positive:
            return Range(0, inf)
        return Range(floors[part.name], inf) if isinstance(part, RegisterRef) else ANYTHING

    return bounds(expr, known).least
