"""Cut a program into straight-line pieces, in which every threshold is a number.

    loop i n {                loop group.i n // 4 {
      A p writes(b)             if group.i > 0 { barrier }
      B c reads(b)              c waits A >= 1
    }                   ->      c waits A >= 2 ...
                              }
                              barrier
                              loop i n % 4 {
                                if i > 0 { barrier }
                                c waits A >= 1
                              }

Where a subscript is known at run time only, all slots of the buffer are taken for one. A piece that
needs a register even so is halved: one instruction alone waits for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from headway.ir.expr import Binary, Expr, Iteration
from headway.ir.program import Access, Instr, Loop, Node, While
from headway.ir.walk import regions
from headway.passes._closed_forms import computed
from headway.passes._epochs import BARRIER, Bodies, Epochs
from headway.passes._rewrite import with_values as with_step_values
from headway.passes._signals import Signals
from headway.passes._values import fixed, period, shifted, with_values
from headway.sync.program import (
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
from headway.sync.rewrite import rewritten

COPIES = 8
"""Iterations between two barriers; more if a rotating buffer has more slots."""

MOST_COPIES = 32


def has_register_thresholds(sync: SyncProgram) -> bool:
    """Tell whether some wait compares with a register."""
    nodes = (node for engine in sync.engines for node in walk_sync(engine.body))
    carriers = (node for node in nodes if isinstance(node, Exec | Waits | Load))
    return any(wait.threshold.register for node in carriers for wait in node.waits)


class Straight(Signals):
    """What is straight-line code, and fits into an epoch."""

    def fit(self, nodes: tuple[Node, ...]) -> bool:
        """Tell whether nodes are instructions that fit into one epoch."""
        return all(isinstance(node, Instr) for node in nodes) and super().fit(nodes)


class Unrolled(Epochs):
    """Cuts one program; its signals are `Straight`."""

    def _piece(self, nodes: tuple[Node, ...]) -> Bodies:
        """Synchronize straight-line code alone; if that needs registers, more coarsely."""
        instrs = [node for node in nodes if isinstance(node, Instr)]
        names = {f"{instr.name}.{k}": instr.name for k, instr in enumerate(instrs)}
        copies = [replace(i, name=name) for name, i in zip(names, instrs, strict=True)]
        alone = self._numbers(copies)
        if has_register_thresholds(alone):
            alone = self._numbers(_with_whole_buffers(copies))
        parts = list(regions(nodes))
        if len(parts) > 1 and has_register_thresholds(alone):
            half = sum(map(len, parts[: len(parts) // 2]))
            return _joined(self._piece(nodes[:half]), self._piece(nodes[half:]))
        return {e: _renamed(body, names) for e, body in self._placed(alone).items()}

    def _numbers(self, instrs: Iterable[Instr]) -> SyncProgram:
        alone = self._synchronized(tuple(instrs))
        return replace(alone, engines=tuple(map(_in_numbers, alone.engines)))

    def _grouped(self, node: Loop | While) -> Bodies:
        """Put a barrier between groups of iterations, whose code is there several times."""
        size = self._copies(node)
        if isinstance(node, While) or size == 1:
            return self._each(node)
        outer = self._fresh(f"group.{node.iteration}")
        by = Binary("*", size, Iteration(outer))
        with self._inside(outer):
            bodies = self._piece(tuple(_copied(node, by, size)))
        groups = replace(node, trip=_whole("//", node.trip, size))
        whole: Bodies = {e: [self._loop(groups, outer, bodies[e])] for e in self._engines}
        rest = _whole("%", node.trip, size)
        return whole if rest == 0 else _joined(whole, self._rest(node, rest, size))

    def _rest(self, node: Loop, rest: Expr, size: int) -> Bodies:
        """Return the iterations that fill no group, with a barrier between any two."""
        first = _whole("//", node.trip, size)
        by = first * size if isinstance(first, int) else Binary("*", first, size)
        rule = shifted(node.iteration, by, size)
        body = tuple(with_values(child, rule) for child in node.body)
        return self._each(replace(node, trip=rest, body=body, control=None))

    def _copies(self, node: Loop | While) -> int:
        most = min(self._signals.repetitions(node.body), MOST_COPIES)
        if isinstance(node, Loop) and isinstance(node.trip, int) and node.trip <= most:
            return max(1, node.trip)
        cycle = period(node.body, most)
        return max(cycle, min(COPIES, most) // cycle * cycle)


def _with_whole_buffers(instrs: list[Instr]) -> Iterator[Instr]:
    """Take a buffer for one slot where a subscript is known at run time only: late at worst."""
    accesses = (a for instr in instrs for a in (*instr.reads, *instr.writes))
    unknown = {access.buffer for access in accesses if not isinstance(access.slot, int)}

    def whole(access: Access) -> Access:
        return replace(access, slot=0) if access.buffer in unknown else access

    for instr in instrs:
        reads, writes = tuple(map(whole, instr.reads)), tuple(map(whole, instr.writes))
        yield replace(instr, reads=reads, writes=writes)


def _copied(node: Loop, by: Expr, size: int) -> Iterator[Node]:
    for number in range(size):
        rule = fixed(node.iteration, by, number, size)
        yield from (with_values(child, rule) for child in node.body)


def _joined(first: Bodies, second: Bodies) -> Bodies:
    return {engine: [*body, BARRIER, *second[engine]] for engine, body in first.items()}


def _renamed(body: list[SyncNode], names: dict[str, str]) -> list[SyncNode]:
    return [replace(n, instr=names[n.instr]) if isinstance(n, Exec) else n for n in body]


def _whole(operator: str, left: Expr, right: int) -> Expr:
    if isinstance(left, int):
        return left // right if operator == "//" else left % right
    return Binary(operator, left, right)


def _in_numbers(engine: EngineProgram) -> EngineProgram:
    """Return an engine program whose thresholds are numbers, as far as they can be."""
    engine = _with_single_registers(engine)
    for register in engine.registers:
        if register.size == 1:
            engine = computed(engine, register.name) or engine
    return engine


def _with_single_registers(engine: EngineProgram) -> EngineProgram:
    """Return an engine program in which the elements of a row are registers of their own."""
    rows = {register.name: register.size for register in engine.registers if register.size > 1}
    at_run_time: set[str] = set()

    def note(expr: Expr) -> None:
        if isinstance(expr, RegisterRef) and not isinstance(expr.index, int):
            at_run_time.add(expr.name)

    def split(expr: Expr) -> Expr | None:
        if isinstance(expr, RegisterRef) and expr.name in rows and isinstance(expr.index, int):
            return RegisterRef(f"{expr.name}.{expr.index}")
        return None

    for node in walk_sync(engine.body):
        with_step_values(node, note)
    for name in at_run_time:
        rows.pop(name, None)
    registers = (
        Register(f"{r.name}.{k}") if r.name in rows else r
        for r in engine.registers
        for k in range(rows.get(r.name, 1))
    )
    body = rewritten(engine.body, lambda node: (with_step_values(node, split),))
    return replace(engine, body=body, registers=tuple(registers))
