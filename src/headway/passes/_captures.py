"""Captures that share a register: coarser, late at worst."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from headway.ir.expr import Binary, Expr
from headway.passes._liveness import Liveness
from headway.passes._mentions import reads
from headway.passes._rewrite import with_values
from headway.sync.program import (
    Assign,
    Barrier,
    EngineProgram,
    Exec,
    Load,
    Register,
    RegisterRef,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncWhile,
    Waits,
    walk_sync,
)
from headway.sync.rewrite import rewritten

Shared = dict[str, Register]
"""The row of registers that takes the place of a capture, or of a row of them."""


def choices(engine: EngineProgram) -> Iterator[Shared]:
    """Yield ever coarser choices: the longest row gets shorter; then a counter has one register.

    A row of m captures becomes one of the largest divisor k of m: slot s has register s mod k, so
    that a buffer that rotates is waited for as if it had k slots.
    """
    counters = captures(engine)
    chosen: Shared = {}
    rows = {r.name: r.size for r in engine.registers if r.name in counters and r.size > 1}
    while rows:
        name = min(rows, key=lambda name: (-rows[name], name))
        rows[name] = _largest_divisor(rows[name])
        chosen[name] = Register(name, rows[name])
        yield dict(chosen)
        if rows[name] == 1:
            del rows[name]
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for register in engine.registers:
        if register.name in counters:
            groups[counters[register.name]].append(register.name)
    for q, group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        if len(group) > 1:
            chosen |= dict.fromkeys(group, Register(f"capture.{q}"))
            yield dict(chosen)


def _largest_divisor(size: int) -> int:
    """Return the largest divisor of a number above 1 but itself."""
    return next(k for k in range(size // 2, 0, -1) if size % k == 0)


def captures(engine: EngineProgram) -> dict[str, str]:
    """Return the registers that may share, with their counter; several are named by all of them.

    They are thresholds, kept for later, and nothing is computed from them. Those that hold
    positions of several counters, which always are the same, share with others that do for all of
    these. After a barrier positions count anew, so that the latest is not the largest: none may
    share then.
    """
    counters: defaultdict[str, set[str]] = defaultdict(set)
    used: set[str] = set()
    for node in walk_sync(engine.body):
        match node:
            case Exec() | Waits() | Load():
                for wait in node.waits:
                    if wait.threshold.register:
                        counters[wait.threshold.register.name].add(wait.counter)
            case Assign():
                used |= reads(node.value, node.register.index)
            case SyncLoop():
                used |= reads(node.trip)
            case SyncWhile() | SyncIf():
                used |= reads(node.condition)
            case Barrier():
                return {}
            case _:
                pass
    kept = Liveness(engine).carried - used
    return {name: ".".join(sorted(q)) for name, q in counters.items() if name in kept}


class Coarser:
    """Makes captures of an engine program share registers, in one way or another.

    Captures that have the same row in several ways are one object.
    """

    def __init__(self, engine: EngineProgram) -> None:
        self._engine = engine
        self._rising = _rising(engine)
        self._made: dict[tuple[int, Register], Assign] = {}  # by node, which the program keeps

    def with_shared(self, chosen: Shared) -> EngineProgram:
        """Return the engine program in which these captures share registers."""

        def rename(expr: Expr) -> Expr | None:
            if isinstance(expr, RegisterRef) and expr.name in chosen:
                return _place(expr, chosen[expr.name])
            return None

        def rule(node: SyncNode) -> Iterator[SyncNode]:
            if isinstance(node, Assign) and node.register.name in chosen:
                yield self._capture(node, chosen[node.register.name])
            else:
                yield with_values(node, rename)

        registers = tuple(dict.fromkeys(chosen.get(r.name, r) for r in self._engine.registers))
        return replace(self._engine, body=rewritten(self._engine.body, rule), registers=registers)

    def _capture(self, node: Assign, row: Register) -> Assign:
        made = self._made.get((id(node), row))
        if made is None:
            register = _place(node.register, row)
            is_latest = node.value in self._rising  # never falls: what comes last is more
            latest = node.value if is_latest else Binary("max", register, node.value)
            made = self._made[id(node), row] = Assign(register, latest, node.at)
        return made


def _place(register: RegisterRef, row: Register) -> RegisterRef:
    return RegisterRef(row.name, _modulo(register.index, row.size))


def _modulo(index: Expr, size: int) -> Expr:
    """Return an index of a row in a shorter one."""
    if isinstance(index, int) or size == 1:
        return index % size if isinstance(index, int) else 0
    match index:
        case Binary("%", left, int() as before) if before % size == 0:
            return Binary("%", left, size)
        case _:
            return Binary("%", index, size)


def _rising(engine: EngineProgram) -> set[Expr]:
    """Return the registers to which numbers are added, and nothing else happens."""
    found: dict[str, bool] = {}
    for node in walk_sync(engine.body):
        if isinstance(node, Assign):
            name = node.register.name
            found[name] = found.get(name, True) and _is_step(node)
    single = {register.name for register in engine.registers if register.size == 1}
    return {RegisterRef(name) for name, rises in found.items() if rises and name in single}


def _is_step(node: Assign) -> bool:
    match node.value:
        case Binary("+", RegisterRef() as register, int() as number):
            return register == node.register and number >= 0
        case _:
            return False
