"""Write engine programs that set and take flags, for every strategy that places flags.

In     a tree of blocks, and what is to be set and taken where
Out    the program of each engine: what it issues, sets and takes, and the control around
Cost   linear
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from headway.ir.program import ControlRead, If, Instr, Loop, Node, Program, While, control_counter
from headway.strategies._flag_places import Block
from headway.sync.program import (
    EngineProgram,
    Exec,
    Load,
    SetFlag,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncWhile,
    TakeFlag,
)

Place = tuple[int, int]
"""A block, by its identity, and a node of it."""
Step = tuple[str, SetFlag | TakeFlag]
"""An engine, and what it does."""


def _steps() -> defaultdict[Place, list[Step]]:
    return defaultdict(list)


@dataclass(frozen=True, slots=True)
class Steps:
    """What is to be set and taken, where and by whom.

    Around a node come, in this order: primes, before, the node, behind, drains. `first` and `last`
    are the start and the end of the program.
    """

    first: list[Step] = field(default_factory=list[Step])
    primes: defaultdict[Place, list[Step]] = field(default_factory=_steps)
    before: defaultdict[Place, list[Step]] = field(default_factory=_steps)
    behind: defaultdict[Place, list[Step]] = field(default_factory=_steps)
    drains: defaultdict[Place, list[Step]] = field(default_factory=_steps)
    last: list[Step] = field(default_factory=list[Step])


def hosts(program: Program) -> dict[str, str]:
    """Return the engine that sets the flags of each counter."""
    found = {queue.name: queue.host for queue in program.queues}
    for engine in program.hosts:
        found |= {engine: engine, control_counter(engine): engine}
    return found


def free_prefix(word: str, counters: Iterable[str]) -> str:
    """Return a first part for the names of flags that no counter has."""
    while any(counter.startswith(f"{word}.") for counter in counters):
        word += "_"
    return word


def engine_programs(program: Program, root: Block, steps: Steps) -> tuple[EngineProgram, ...]:
    """Return the program of every engine."""
    return tuple(_Writer(engine, steps).program(root) for engine in program.hosts)


class _Writer:
    """Writes the program of one engine."""

    def __init__(self, engine: str, steps: Steps) -> None:
        self._engine = engine
        self._steps = steps

    def program(self, root: Block) -> EngineProgram:
        first, last = self._mine(self._steps.first), self._mine(self._steps.last)
        return EngineProgram(self._engine, (*first, *self._body(root), *last))

    def _body(self, block: Block) -> tuple[SyncNode, ...]:
        return tuple(self._nodes(block))

    def _nodes(self, block: Block) -> Iterator[SyncNode]:
        steps, body = self._steps, id(block)
        yield from self._mine(steps.behind.get((body, -1), ()))
        for number, node in enumerate(block.nodes):
            place = body, number
            yield from self._mine(steps.primes.get(place, ()))
            yield from self._mine(steps.before.get(place, ()))
            if self._engine in block.engines[number]:
                yield self._node(node, block.inside[number])
            yield from self._mine(steps.behind.get(place, ()))
            yield from self._mine(steps.drains.get(place, ()))
        yield from self._mine(steps.before.get((body, len(block.nodes)), ()))

    def _mine(self, steps: Iterable[Step]) -> Iterator[SetFlag | TakeFlag]:
        return (step for engine, step in steps if engine == self._engine)

    def _node(self, node: Node, inside: tuple[Block, ...]) -> SyncNode:
        match node:
            case Instr():
                return Exec(node.name, (), node.at)
            case Loop():
                body, load = self._body(inside[0]), _load(node.control)
                return SyncLoop(node.iteration, node.trip, body, load, node.at)
            case While():
                body, load = self._body(inside[0]), _load(node.control)
                return SyncWhile(node.iteration, node.condition, body, load, node.at)
            case If():
                then, orelse = map(self._body, inside)
                return SyncIf(node.condition, then, orelse, _load(node.control), node.at)


def _load(control: ControlRead | None) -> Load | None:
    return Load(control.name, (), control.at) if control else None
