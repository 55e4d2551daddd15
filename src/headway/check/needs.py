"""What the engine programs have to run: the instances of the program, with what they require."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from headway.ir.expr import Inputs
from headway.ir.program import If, Instr, Loop, While
from headway.ir.walk import walk
from headway.spec import MAX_INSTANCES, Instance, Readers, readers_inside, required
from headway.sync.program import Load, SyncProgram, walk_sync


class Need(NamedTuple):
    """An instance, what it requires, and its number in sequential order."""

    instance: Instance
    required: Mapping[str, int]
    number: int


def reference(sync: SyncProgram, inputs: Inputs, limit: int = MAX_INSTANCES) -> list[Need]:
    """Return the instances that a synchronized program has to run, with what they require."""
    return numbered(required(sync.program, inputs, readers(sync), limit))


def numbered(pairs: Iterable[tuple[Instance, Mapping[str, int]]]) -> list[Need]:
    """Return instances in sequential order, each with what it requires, as needs."""
    return [Need(*pair, number) for number, pair in enumerate(pairs)]


def readers(sync: SyncProgram) -> Readers:
    """Return who loads a control value: the engines that load it in their engine programs."""
    loaded: defaultdict[str, set[str]] = defaultdict(set)
    for engine in sync.engines:
        for node in walk_sync(engine.body):
            if isinstance(node, Load):
                loaded[node.control].add(engine.engine)

    def of(node: Loop | While | If) -> set[str]:
        return loaded[node.control.name] if node.control else set()

    return of


def followers(sync: SyncProgram) -> set[tuple[str, str]]:
    """Return (control read, engine) of engines that could do without: they have no work inside."""
    program = sync.program
    found: set[tuple[str, str]] = set()
    for node in walk(program.body):
        if not isinstance(node, Instr) and node.control:
            idle = set(program.hosts) - set(readers_inside(node))
            found |= {(node.control.name, engine) for engine in idle}
    return found
