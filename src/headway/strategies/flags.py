"""Tokens: the way of machines whose engines set and take flags, as Ascend NPUs do.

In     a bound program
Out    engine programs without thresholds: a flag from a counter to an engine is set behind the
       producer and taken before the consumer, both in the innermost body around the two
Keeps  no instance early, no deadlock, no token left over; instances may be late: an engine waits
       for a whole inner loop or if that holds the producer, or before one that holds the consumer
Cost   linear in the size of the program, times its depth

A flag that goes from one iteration to a later one is set once for each iteration in between in
front of the loop, so that the first takes pass, and taken as often behind it.

    loop i n {                                 flag flag.q.vector.0 from q to vector
      sync load triggers(q) writes(x[i % 2])   engine vector {
      vector add reads(x[i % 2])        ->       set flag.vector.sync.0
    }                                            set flag.vector.sync.0
                                                 loop i n {
                                                   take flag.q.vector.0
                                                   add
                                                   set flag.vector.sync.0
                                                 }
                                               }

Where each flag goes is in `_flag_places`; what happens when there are too many, in `_flag_ids`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from headway.ir.program import ControlRead, If, Instr, Loop, Node, Program, While, control_counter
from headway.ir.walk import deep_nests
from headway.strategies._flag_ids import Placed, placed
from headway.strategies._flag_places import Backward, Block, blocks
from headway.sync.program import (
    EngineProgram,
    Exec,
    Flag,
    Load,
    SetFlag,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    TakeFlag,
)
from headway.targets.target import Target

Step = SetFlag | TakeFlag
Place = tuple[int, int]
"""A block, by its identity, and a node of it."""


@dataclass(frozen=True, slots=True)
class Flags:
    """Set and take tokens; every pair of a counter and an engine has `ids` flags, 1 or more."""

    name: str = "flags"
    description: str = "tokens that engines set and take, as on Ascend NPUs: a baseline"
    ids: int = 8

    def synchronize(self, program: Program, target: Target) -> SyncProgram:
        """Return the engine programs. Never refuses a program."""
        with deep_nests():
            root = blocks(program)
            steps = _Steps(program)
            for flag in placed(root, self.ids):
                steps.add(flag)
            engines = tuple(_Writer(engine, steps).program(root) for engine in program.hosts)
        return SyncProgram(program, engines, self.name, target.name, tuple(steps.flags.values()))


class _Steps:
    """What is to be set and taken, where and by whom."""

    def __init__(self, program: Program) -> None:
        self.flags: dict[str, Flag] = {}
        self.before: defaultdict[Place, list[tuple[str, Step]]] = defaultdict(list)
        self.behind: defaultdict[Place, list[tuple[str, Step]]] = defaultdict(list)
        self.primes: defaultdict[Place, list[tuple[str, Step]]] = defaultdict(list)
        self.drains: defaultdict[Place, list[tuple[str, Step]]] = defaultdict(list)
        self._hosts = {queue.name: queue.host for queue in program.queues}
        for engine in program.hosts:
            self._hosts |= {engine: engine, control_counter(engine): engine}
        self._prefix = "flag"
        while any(counter.startswith(f"{self._prefix}.") for counter in self._hosts):
            self._prefix += "_"

    def add(self, placed: Placed) -> None:
        """Set and take a flag where it is placed."""
        counter, engine = placed.pair
        name = f"{self._prefix}.{counter}.{engine}.{placed.id}"
        self.flags.setdefault(name, Flag(name, counter, engine))
        to_set, to_take = (self._hosts[counter], SetFlag(name)), (engine, TakeFlag(name))
        body = id(placed.block)
        self.behind[body, placed.flag.after].append(to_set)
        self.before[body, placed.flag.before].append(to_take)
        if isinstance(placed.flag, Backward):
            loop = id(placed.around), placed.node
            self.primes[loop] += [to_set] * placed.flag.distance
            self.drains[loop] += [to_take] * placed.flag.distance


class _Writer:
    """Writes the program of one engine: what it issues, sets and takes, and the control around."""

    def __init__(self, engine: str, steps: _Steps) -> None:
        self._engine = engine
        self._steps = steps

    def program(self, root: Block) -> EngineProgram:
        return EngineProgram(self._engine, self._body(root))

    def _body(self, block: Block) -> tuple[SyncNode, ...]:
        return tuple(self._nodes(block))

    def _nodes(self, block: Block) -> Iterator[SyncNode]:
        steps, body = self._steps, id(block)
        yield from self._mine(steps.behind, (body, -1))
        for number, node in enumerate(block.nodes):
            place = body, number
            yield from self._mine(steps.primes, place)
            yield from self._mine(steps.before, place)
            if self._engine in block.engines[number]:
                yield self._node(node, block.inside[number])
            yield from self._mine(steps.behind, place)
            yield from self._mine(steps.drains, place)
        yield from self._mine(steps.before, (body, len(block.nodes)))

    def _mine(
        self, steps: defaultdict[Place, list[tuple[str, Step]]], place: Place
    ) -> Iterator[Step]:
        return (step for engine, step in steps.get(place, ()) if engine == self._engine)

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


STRATEGY = Flags()
