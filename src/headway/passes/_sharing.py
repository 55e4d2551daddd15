"""Registers that are never needed at the same time are one. Exact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from headway.passes._liveness import Liveness
from headway.passes._mentions import Mentions, Names
from headway.passes._rewrite import renaming, with_values
from headway.sync.program import (
    Assign,
    EngineProgram,
    Register,
    SyncNode,
    Waits,
)
from headway.sync.rewrite import Body, rewritten, with_bodies


def shared(engine: EngineProgram, mentions: Mentions | None = None) -> EngineProgram:
    """Return an engine program with as few registers as an allocation in their order finds.

    `mentions` are those of other programs with the same parts.
    """
    sunk, groups = _grouped(engine, mentions or Mentions())
    if all(name == group for name, group in groups.items()):
        return engine

    rename = renaming(groups)

    def rule(node: SyncNode) -> Iterable[SyncNode]:
        new = with_values(node, rename)
        return () if isinstance(new, Assign) and new.value == new.register else (new,)

    registers = _registers(engine, groups)
    return replace(sunk, body=rewritten(sunk.body, rule), registers=registers)


def shared_count(engine: EngineProgram, mentions: Mentions) -> int:
    """Return how many registers that would be, which takes less time."""
    _, groups = _grouped(engine, mentions)
    return sum(register.size for register in _registers(engine, groups))


def _grouped(engine: EngineProgram, mentions: Mentions) -> tuple[EngineProgram, dict[str, str]]:
    """Return the program as registers are shared in it, and the one that each becomes."""
    sunk = replace(engine, body=_of_body(engine.body, mentions))
    single = [register.name for register in engine.registers if register.size == 1]
    return sunk, Liveness(sunk, mentions).groups(single)


def _registers(engine: EngineProgram, groups: Mapping[str, str]) -> tuple[Register, ...]:
    found = (Register(groups[r.name]) if r.name in groups else r for r in engine.registers)
    return tuple(dict.fromkeys(found))


def _of_body(body: Body, mentions: Mentions) -> Body:
    """Compute thresholds as late as possible, in this body and those inside."""

    def again(part: Body) -> Body:
        return _of_body(part, mentions)

    return sunk((with_bodies(node, again) for node in _one_by_one(body)), mentions)


def _one_by_one(body: Body) -> Iterator[SyncNode]:
    for node in body:
        if isinstance(node, Waits) and len(node.waits) != 1:
            yield from (replace(node, waits=(wait,)) for wait in node.waits)
        else:
            yield node


def sunk(body: Iterable[SyncNode], mentions: Mentions) -> Body:
    """Move each assignment behind the waits that follow it and do not read it."""
    out: list[SyncNode] = []
    held: dict[str, tuple[Assign, Names]] = {}  # by register, with what they read

    def release(names: Iterable[str]) -> None:
        out.extend(held.pop(name)[0] for name in names)

    for node in body:
        if isinstance(node, Assign):
            name, values = node.register.name, mentions.read(node)
            is_read = any(name in others for _, others in held.values())
            if name in held or is_read or not held.keys().isdisjoint(values):
                release(list(held))
            held[name] = (node, values)
            continue
        if isinstance(node, Waits):
            read = mentions.read(node)
            release([name for name in held if name in read])
        else:
            release(list(held))
        out.append(node)
    release(list(held))
    return tuple(out)
