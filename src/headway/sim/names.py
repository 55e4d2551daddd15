"""Check that engine programs speak of things that exist, before any of them runs."""

from __future__ import annotations

from collections.abc import Iterator

from headway.errors import Diagnostic, InvalidProgram, Location
from headway.ir.expr import Expr, Iteration, leaves
from headway.ir.walk import deep_nests
from headway.sim.model import Model
from headway.sync.program import (
    Assign,
    Barrier,
    EngineProgram,
    Exec,
    Load,
    RegisterRef,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    Wait,
    Waits,
)


def check_names(sync: SyncProgram, model: Model) -> None:
    """Raise InvalidProgram with every name that an engine program uses and nobody declares."""
    problems: list[Diagnostic] = []
    seen: set[str] = set()
    for engine in sync.engines:
        if engine.engine in seen or engine.engine not in model.engines:
            fault = "has two programs" if engine.engine in seen else "has a program but no engine"
            problems.append(Diagnostic(f"{engine.engine!r} {fault}", engine.at))
        seen.add(engine.engine)
        names = _Names(engine, model)
        with deep_nests():
            problems += names.body(engine.body, frozenset())
    if problems:
        raise InvalidProgram(*problems)


class _Names:
    def __init__(self, engine: EngineProgram, model: Model) -> None:
        self._engine = engine.engine
        self._model = model
        self._registers = {register.name for register in engine.registers}

    def body(self, nodes: tuple[SyncNode, ...], loops: frozenset[str]) -> list[Diagnostic]:
        return [problem for node in nodes for problem in self._node(node, loops)]

    def _node(self, node: SyncNode, loops: frozenset[str]) -> Iterator[Diagnostic]:
        match node:
            case Exec():
                yield from self._waits(node.waits, loops)
                yield from self._instr(node)
            case Waits():
                yield from self._waits(node.waits, loops)
            case Assign():
                yield from self._expr(node.register, loops, node.at)
                yield from self._expr(node.value, loops, node.at)
            case Load():
                yield from self._load(node, loops)
            case SyncLoop():
                yield from self._load(node.load, loops)
                yield from self._expr(node.trip, loops, node.at)
                yield from self.body(node.body, loops | {node.iteration})
            case SyncWhile():
                inside = loops | {node.iteration}
                yield from self._load(node.load, inside)
                yield from self._expr(node.condition, inside, node.at)
                yield from self.body(node.body, inside)
            case SyncIf():
                yield from self._load(node.load, loops)
                yield from self._expr(node.condition, loops, node.at)
                yield from self.body(node.then, loops)
                yield from self.body(node.orelse, loops)
            case Barrier():
                pass

    def _instr(self, node: Exec) -> Iterator[Diagnostic]:
        timing = self._model.timings.get(node.instr)
        if timing is None:
            yield self._unknown("instruction", node.instr, node.at)
        elif timing.engine != self._engine:
            yield Diagnostic(
                f"engine program {self._engine!r} issues {node.instr!r}, an instruction of engine"
                f" {timing.engine!r}",
                node.at,
            )

    def _load(self, load: Load | None, loops: frozenset[str]) -> Iterator[Diagnostic]:
        if load is None:
            return
        yield from self._waits(load.waits, loops)
        if load.control not in self._model.controls:
            yield self._unknown("control read", load.control, load.at)

    def _waits(self, waits: tuple[Wait, ...], loops: frozenset[str]) -> Iterator[Diagnostic]:
        for wait in waits:
            if wait.counter not in self._model.number:
                yield self._unknown("counter", wait.counter, wait.at)
            if wait.threshold.register is not None:
                yield from self._expr(wait.threshold.register, loops, wait.at)

    def _expr(self, expr: Expr, loops: frozenset[str], at: Location | None) -> Iterator[Diagnostic]:
        for leaf in leaves(expr):
            match leaf:
                case RegisterRef() if leaf.name not in self._registers:
                    yield self._unknown("register", leaf.name, at)
                case Iteration() if leaf.loop not in loops:
                    yield self._unknown("loop", leaf.loop, at)
                case _:
                    pass

    def _unknown(self, what: str, name: str, at: Location | None) -> Diagnostic:
        return Diagnostic(
            f"engine program {self._engine!r} uses {what} {name!r}, which it does not have", at
        )
