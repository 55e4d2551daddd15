"""Compute thresholds beforehand where the target cannot: sums, and negative numbers.

In     engine programs whose waits compare with `register + offset`
Out    the same programs; where the target has no sums in waits, or its semaphores have no sign, the
       threshold is computed into a register in front of the wait, and is 0 at least
Keeps  every instance waits for the same counters and thresholds, where those are above 0
Cost   linear; as many registers as an instruction has such thresholds, one or two operations each

    ld waits PE >= shadow.PE - 1      ->      threshold.1 := max(shadow.PE - 1, 0)
                                              ld waits PE >= threshold.1

In the first iterations such a threshold is negative, which a comparison without sign takes for a
number that is never reached (H3).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from headway.ir.expr import Binary, Expr
from headway.ir.walk import deep_nests
from headway.sync.program import (
    Assign,
    EngineProgram,
    Exec,
    Load,
    Register,
    RegisterRef,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    Threshold,
    Wait,
    Waits,
)
from headway.sync.rewrite import rewritten
from headway.targets.target import Target


class _Settling:
    """Settles the waits of one engine."""

    def __init__(self, target: Target) -> None:
        self.registers: dict[Register, None] = {}
        self._has_sums = target.has_register_sums
        self._is_signed = target.semaphores.is_signed

    def rule(self, node: SyncNode) -> Iterator[SyncNode]:
        """Yield a node with what has to be computed in front of it."""
        match node:
            case Exec() | Waits() | Load():
                before, waits = self._settled(node.waits)
                yield from before
                yield node if waits == node.waits else replace(node, waits=waits)
            case SyncLoop() | SyncIf() if node.load:
                before, waits = self._settled(node.load.waits)
                yield from before
                yield replace(node, load=replace(node.load, waits=waits))
            case SyncWhile() if node.load:
                before, waits = self._settled(node.load.waits)
                yield from before
                # Every test loads again, so that every iteration ends with the same.
                body = (*node.body, *before)
                yield replace(node, body=body, load=replace(node.load, waits=waits))
            case _:
                yield node

    def _settled(self, waits: tuple[Wait, ...]) -> tuple[list[Assign], tuple[Wait, ...]]:
        before: list[Assign] = []
        kept: list[Wait] = []
        settled: dict[Threshold, RegisterRef] = {}
        for wait in waits:
            if wait.threshold.register is None and wait.threshold.offset <= 0:
                continue  # it holds at once
            if self._must_settle(wait.threshold):
                register = settled.get(wait.threshold)
                if register is None:
                    register = settled[wait.threshold] = self._register(len(before) + 1)
                    before.append(Assign(register, self._value(wait.threshold), wait.at))
                wait = replace(wait, threshold=Threshold(register))
            kept.append(wait)
        return before, tuple(kept)

    def _must_settle(self, threshold: Threshold) -> bool:
        if threshold.register is None or not threshold.offset:
            return False
        return not self._has_sums or (threshold.offset < 0 and not self._is_signed)

    def _value(self, threshold: Threshold) -> Expr:
        assert threshold.register is not None
        operator = "+" if threshold.offset > 0 else "-"
        value = Binary(operator, threshold.register, abs(threshold.offset))
        return Binary("max", value, 0) if operator == "-" and not self._is_signed else value

    def _register(self, number: int) -> RegisterRef:
        name = f"threshold.{number}"
        self.registers[Register(name)] = None
        return RegisterRef(name)


def _of_engine(engine: EngineProgram, target: Target) -> EngineProgram:
    settling = _Settling(target)
    body = rewritten(engine.body, settling.rule)
    return replace(engine, body=body, registers=(*engine.registers, *settling.registers))


@dataclass(frozen=True, slots=True)
class SettleThresholds:
    """Leave no sum and no negative threshold to a target that has none."""

    name: str = "settle-thresholds"
    description: str = "compute sums and negative thresholds beforehand where the target cannot"

    def apply(self, sync: SyncProgram, target: Target) -> SyncProgram:
        """Return the engine programs. Never refuses a program."""
        with deep_nests():
            return replace(sync, engines=tuple(_of_engine(e, target) for e in sync.engines))


PASS = SettleThresholds()
