"""Set registers before an engine stands still: in front of waits, not behind the instruction.

In     engine programs
Out    the same; what is set right behind an instruction is set in front of its waits, where none of
       them reads that register and it is likely to take no time there
Keeps  every instance waits for the same counters and thresholds
Cost   linear

    wait B >= s                         t := t + 1
    load waits C >= u        ->         wait B >= s
    t := t + 1                          load waits C >= u
    s := s + 1                          s := s + 1

What is set in front delays the instruction if that needs not wait. So it is done in two cases:

1. The engine waits for its own instructions, so that it stands still.
2. The instruction is a transfer, which goes on elsewhere at once, and no computation comes next.
   Under a computation registers are set in no time, and so they are while the engine waits for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from headway.ir.walk import deep_nests, instructions
from headway.passes._mentions import Mentions
from headway.sync.program import (
    Assign,
    EngineProgram,
    Exec,
    SyncNode,
    SyncProgram,
    Waits,
)
from headway.sync.rewrite import Body, with_bodies
from headway.targets.target import Target


class _Advancing:
    """Advances the assignments of one engine."""

    def __init__(self, engine: str, fused: frozenset[str], transfers: frozenset[str]) -> None:
        self._engine = engine
        self._fused = fused
        self._transfers = transfers
        self._read = Mentions().read

    def body(self, nodes: Body) -> Body:
        out: list[SyncNode] = []
        at = 0
        while at < len(nodes):
            issue = _past(nodes, at, Waits)
            end = _past(nodes, issue + 1, Assign)
            if self._pays(nodes[at:issue], nodes[issue : issue + 1], nodes[end : end + 1]):
                out += self._advanced(nodes[at : issue + 1], nodes[issue + 1 : end])
            else:
                out += (with_bodies(node, self.body) for node in nodes[at:end])
            at = end
        return tuple(out)

    def _pays(self, waits: Body, issued: Body, after: Body) -> bool:
        """Tell whether setting registers in front is likely to take no time. Never in a region."""
        if not issued or not isinstance(issued[0], Exec) or issued[0].instr in self._fused:
            return False
        carriers = (node for node in (*waits, *issued) if isinstance(node, Waits | Exec))
        counters = {wait.counter for node in carriers for wait in node.waits}
        if self._engine in counters:
            return True
        return bool(counters) and all(map(self._is_transfer, (*issued, *after)))

    def _is_transfer(self, node: SyncNode) -> bool:
        return isinstance(node, Exec) and node.instr in self._transfers

    def _advanced(self, waiting: Body, behind: Body) -> Iterator[SyncNode]:
        """Yield what stood behind and can be in front, what waits, and the others."""
        named = set[str]().union(*map(self._read, waiting))  # what must not be set in front
        kept_set = set[str]()  # what must not be read in front
        kept: list[SyncNode] = []
        for node in behind:
            assert isinstance(node, Assign)
            reads, name = self._read(node), node.register.name
            if name not in named and kept_set.isdisjoint(reads):
                yield node
            else:
                kept.append(node)
                kept_set.add(name)
                named.update(reads, (name,))
        yield from waiting
        yield from kept


def _past(nodes: Body, at: int, kind: type[Waits] | type[Assign]) -> int:
    """Return where nodes of that kind end that begin there."""
    while at < len(nodes) and isinstance(nodes[at], kind):
        at += 1
    return at


@dataclass(frozen=True, slots=True)
class AdvanceRegisters:
    """Count while the engine would stand still."""

    name: str = "advance-registers"
    description: str = "set registers in front of waits at which an engine stands still anyway"

    def apply(self, sync: SyncProgram, target: Target) -> SyncProgram:
        """Return the engine programs. Never refuses a program."""
        known = list(instructions(sync.program.body))
        fused = frozenset(instr.name for instr in known if instr.fused)
        transfers = frozenset(instr.name for instr in known if instr.queue)

        def advanced(engine: EngineProgram) -> EngineProgram:
            if not engine.registers:
                return engine
            advancing = _Advancing(engine.engine, fused, transfers)
            return replace(engine, body=advancing.body(engine.body))

        with deep_nests():
            return replace(sync, engines=tuple(map(advanced, sync.engines)))


PASS = AdvanceRegisters()
