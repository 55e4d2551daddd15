"""Fit the registers of each engine into those that the target has.

In     engine programs with any number of registers
Out    engine programs with at most `target.registers` for each engine
Keeps  no instance early, no deadlock; where captures share a register an instance may be late
Cost   linear

    write.q.x[i % 2] := shadow.q        ->      write.q.x := max(write.q.x, shadow.q)

Captures are made coarser until they fit: first a row of slots shares one register, the longest row
first, then all captures of a counter do. What is shared holds the latest of the positions, which
is never after the point that waits, so that it is waited for longer at worst.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from headway.errors import Diagnostic, UnsupportedByTarget
from headway.ir.expr import Binary
from headway.ir.walk import deep_nests
from headway.passes._rewrite import rewritten, with_registers
from headway.sync.program import (
    Assign,
    Barrier,
    EngineProgram,
    Exec,
    Load,
    Register,
    RegisterRef,
    SyncNode,
    SyncProgram,
    Waits,
    walk_sync,
)
from headway.targets.target import Target


def register_count(engine: EngineProgram) -> int:
    """Return how many registers an engine program uses."""
    return sum(register.size for register in engine.registers)


def coarsened(engine: EngineProgram, most: int) -> dict[str, str]:
    """Return which captures have to share a register, by the name of that register.

    A row that shares one register keeps its name. Raise UnsupportedByTarget if nothing helps.
    """
    shared: dict[str, str] = {}
    count = register_count(engine)
    captures = _captures(engine)
    for register in sorted(engine.registers, key=lambda r: (-r.size, r.name)):
        if count > most and register.name in captures and register.size > 1:
            shared[register.name] = register.name
            count -= register.size - 1
    groups: defaultdict[str, list[Register]] = defaultdict(list)
    for register in engine.registers:
        if register.name in captures:
            groups[captures[register.name]].append(register)
    for q, group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        if count > most and len(group) > 1:
            shared |= {register.name: f"capture.{q}" for register in group}
            count -= len(group) - 1
    if count > most:
        raise UnsupportedByTarget(_too_many(engine, count, most))
    return shared


def _captures(engine: EngineProgram) -> dict[str, str]:
    """Return the registers that may share: thresholds of one counter that do not count themselves.

    After a barrier positions count anew, so that the latest is not the largest: none may then.
    """
    counter: dict[str, set[str]] = defaultdict(set)
    fixed: set[str] = set()
    for node in walk_sync(engine.body):
        match node:
            case Exec() | Waits() | Load():
                for wait in node.waits:
                    if wait.threshold.register is not None:
                        counter[wait.threshold.register.name].add(wait.counter)
            case Assign():
                fixed |= _reads(node)
            case Barrier():
                return {}
            case _:
                pass
    return {r: next(iter(q)) for r, q in counter.items() if len(q) == 1 and r not in fixed}


def _reads(node: Assign) -> set[str]:
    found: set[str] = set()

    def note(register: RegisterRef) -> RegisterRef:
        found.add(register.name)
        return register

    with_registers(replace(node, register=RegisterRef("")), note)
    return found


def _fitted(engine: EngineProgram, most: int) -> EngineProgram:
    if register_count(engine) <= most:
        return engine
    shared = coarsened(engine, most)

    def rename(register: RegisterRef) -> RegisterRef:
        name = shared.get(register.name)
        return register if name is None else RegisterRef(name)

    def rule(node: SyncNode) -> Iterator[SyncNode]:
        new = with_registers(node, rename)
        if isinstance(node, Assign) and isinstance(new, Assign) and node.register.name in shared:
            new = replace(new, value=Binary("max", new.register, new.value))
        yield new

    registers = dict.fromkeys(
        Register(shared[r.name]) if r.name in shared else r for r in engine.registers
    )
    return replace(engine, body=rewritten(engine.body, rule), registers=tuple(registers))


def _too_many(engine: EngineProgram, count: int, most: int) -> Diagnostic:
    return Diagnostic(
        f"{engine.engine!r} needs {count} registers even if captures share them",
        engine.at,
        rule=f"the target has {most} registers per engine",
        help="use fewer queues, or a strategy that does not count: `headway list strategies`",
    )


@dataclass(frozen=True, slots=True)
class AssignRegisters:
    """Let captures share registers where there are not enough."""

    name: str = "assign-registers"
    description: str = "fit the registers of each engine; captures share one where they must"

    def apply(self, sync: SyncProgram, target: Target) -> SyncProgram:
        """Return the engine programs. Raise UnsupportedByTarget if they cannot fit."""
        with deep_nests():
            engines = tuple(_fitted(engine, int(target.registers)) for engine in sync.engines)
        return replace(sync, engines=engines)


PASS = AssignRegisters()
