"""Captures that share a register: coarser, late at worst."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from headway.ir.expr import Binary, Expr
from headway.passes._liveness import Liveness, RegisterSets, Shared, outline
from headway.passes._mentions import Mentions, reads
from headway.passes._rewrite import with_values
from headway.passes._sharing import one_by_one, shared_count
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


def choices(engine: EngineProgram, mentions: Mentions | None = None) -> Iterator[Shared]:
    """Yield ever coarser choices: the longest row gets shorter; then a counter has one register.

    A row of m captures becomes one of the largest divisor k of m: slot s has register s mod k, so
    that a buffer that rotates is waited for as if it had k slots.
    """
    counters = captures(engine, mentions or Mentions())
    chosen: dict[str, Register] = {}
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


def captures(engine: EngineProgram, mentions: Mentions) -> dict[str, str]:
    """Return the registers that may share, with their counter; several are named by all of them.

    They are thresholds, kept for later, nothing is computed from them, and their place in a row is
    not computed from registers. Those that hold positions of several counters, which always are the
    same, share with others that do for all of these. After a barrier positions count anew, so that
    the latest is not the largest: none may share then.
    """
    counters: defaultdict[str, set[str]] = defaultdict(set)
    used: set[str] = set()

    def look(register: RegisterRef) -> None:
        if names := reads(register.index):
            used.update(names, (register.name,))

    for node in walk_sync(engine.body):
        match node:
            case Exec() | Waits() | Load():
                for wait in node.waits:
                    if wait.threshold.register:
                        look(wait.threshold.register)
                        counters[wait.threshold.register.name].add(wait.counter)
            case Assign():
                look(node.register)
                used |= reads(node.value)
            case SyncLoop():
                used |= reads(node.trip)
            case SyncWhile() | SyncIf():
                used |= reads(node.condition)
            case Barrier():
                return {}
            case _:
                pass
    sets = RegisterSets(engine.registers, mentions)
    kept = Liveness(outline(engine.body, sets), sets).carried - used
    return {name: ".".join(sorted(q)) for name, q in counters.items() if name in kept}


class Coarser:
    """Makes captures of an engine program share registers, in one way or another."""

    def __init__(self, engine: EngineProgram, mentions: Mentions | None = None) -> None:
        self._engine = engine
        self._mentions = mentions or Mentions()
        rising = _rising(engine)  # what never falls: what comes last is the largest
        assigns = (node for node in walk_sync(engine.body) if isinstance(node, Assign))
        self._larger = {id(node) for node in assigns if node.value not in rising}
        self._one_by_one = one_by_one(engine.body)

    def count(self, chosen: Shared) -> int:
        """Return how many registers remain if others are shared then: the program is not made."""
        sets = RegisterSets(self._engine.registers, self._mentions, chosen, self._larger)
        return shared_count(self._one_by_one, sets)

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
        register, value = _place(node.register, row), node.value
        if id(node) in self._larger:
            value = Binary("max", register, value)
        return Assign(register, value, node.at)


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
