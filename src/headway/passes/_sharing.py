"""Registers that are never needed at the same time are one. Exact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from headway.passes._liveness import Liveness, RegisterSets, Step, outline
from headway.passes._mentions import Mentions
from headway.passes._rewrite import renaming, with_values
from headway.sync.program import (
    Assign,
    EngineProgram,
    Register,
    SyncNode,
    Waits,
    sync_branches,
)
from headway.sync.rewrite import Body, rewritten, with_bodies


def shared(engine: EngineProgram, mentions: Mentions | None = None) -> EngineProgram:
    """Return an engine program with as few registers as an allocation in their order finds.

    `mentions` are those of other programs with the same parts.
    """
    sets = RegisterSets(engine.registers, mentions or Mentions())
    steps = outline(one_by_one(engine.body), sets, sunk)
    groups = _groups(steps, sets)
    if all(name == group for name, group in groups.items()):
        return engine

    rename = renaming(groups)

    def rule(node: SyncNode) -> Iterable[SyncNode]:
        new = with_values(node, rename)
        return () if isinstance(new, Assign) and new.value == new.register else (new,)

    body, registers = rewritten(_body(steps), rule), _registers(sets, groups)
    return replace(engine, body=body, registers=registers)


def shared_count(body: Body, sets: RegisterSets) -> int:
    """Return how many registers that would be, for a body whose waits stand one by one."""
    groups = _groups(outline(body, sets, sunk), sets)
    return sum(register.size for register in _registers(sets, groups))


def _groups(steps: list[Step], sets: RegisterSets) -> dict[str, str]:
    """Return the register that each one becomes, but rows."""
    single = [register.name for register in sets.registers if register.size == 1]
    return Liveness(steps, sets).groups(single)


def _registers(sets: RegisterSets, groups: Mapping[str, str]) -> tuple[Register, ...]:
    found = (Register(groups[r.name]) if r.name in groups else r for r in sets.registers)
    return tuple(dict.fromkeys(found))


def one_by_one(body: Body) -> Body:
    """Return a body in which each wait that stands alone is a node of its own."""

    def rule(node: SyncNode) -> Iterator[SyncNode]:
        if isinstance(node, Waits) and len(node.waits) != 1:
            yield from (replace(node, waits=(wait,)) for wait in node.waits)
        else:
            yield node

    return rewritten(body, rule)


def sunk(steps: Iterable[Step]) -> list[Step]:
    """Move each assignment behind the waits that follow it and do not read it."""
    out: list[Step] = []
    held: dict[int, Step] = {}  # by register
    held_set = held_read = 0  # what they set, and what they read at most
    for step in steps:
        if step.sets:
            if step.sets & (held_set | held_read) or step.reads & held_set:
                out += held.values()
                held, held_set, held_read = {}, 0, 0
            held[step.sets] = step
            held_set |= step.sets
            held_read |= step.reads
            continue
        if not isinstance(step.node, Waits):
            out += held.values()
            held, held_set, held_read = {}, 0, 0
        elif step.reads & held_set:
            out += (held.pop(bit) for bit in list(held) if bit & step.reads)
            held_set &= ~step.reads
            held_read = 0
            for other in held.values():
                held_read |= other.reads
        out.append(step)
    out += held.values()
    return out


def _body(steps: list[Step]) -> Body:
    """Return the nodes of steps."""
    return tuple(_node(step) for step in steps)


def _node(step: Step) -> SyncNode:
    if not sync_branches(step.node):
        return step.node
    bodies = map(_body, step.bodies)
    return with_bodies(step.node, lambda _: next(bodies))
