"""Remove register operations that no wait can see.

In     engine programs
Out    the same programs without assignments to registers that are not read afterwards, without the
       loops and ifs that are empty then, and without registers that are not used
Keeps  the value of every threshold, condition and trip count, and every load
Cost   linear in the engine programs, times the number of rounds until nothing changes in a loop

    shadow.q := shadow.q + 1      ->      shadow.q := shadow.q + 1
    mm waits q >= shadow.q                mm waits q >= shadow.q
    shadow.q := shadow.q + 2

A register that is read only to compute itself is not read (C17).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from headway.ir.walk import deep_nests
from headway.passes._mentions import Mentions, Names, reads
from headway.sync.program import (
    Assign,
    EngineProgram,
    Exec,
    Load,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    Waits,
)
from headway.targets.target import Target

Live = int
"""A set of registers, with one bit for each."""


class _Sweep:
    """Walks an engine program backwards."""

    def __init__(self, engine: EngineProgram) -> None:
        self.used: Live = 0  # what nodes that stay read; what they set is among it
        self._mentions = Mentions()
        self._bits = {register.name: 1 << i for i, register in enumerate(engine.registers)}
        self._found: dict[int, Live] = {}  # by node, which `_mentions` keeps alive
        self._headers: dict[int, Live] = {}  # what is live at the header of a loop, so far
        self._single = {register.name for register in engine.registers if register.size == 1}

    def _read(self, node: SyncNode) -> Live:
        found = self._found.get(id(node))
        if found is None:
            found = self._found[id(node)] = self._live(self._mentions.read(node))
        self.used |= found
        return found

    def _live(self, names: Names) -> Live:
        return sum(self._bits[name] for name in names)

    def body(self, nodes: tuple[SyncNode, ...], live: Live) -> tuple[tuple[SyncNode, ...], Live]:
        """Return what remains of a body, and what is live before it, given what is behind it."""
        kept: list[SyncNode] = []
        for node in reversed(nodes):
            new, live = self._node(node, live)
            if new is not None:
                kept.append(new)
        return tuple(reversed(kept)), live

    def _node(self, node: SyncNode, live: Live) -> tuple[SyncNode | None, Live]:
        match node:
            case Assign():
                return self._assign(node, live)
            case Exec() | Waits() | Load():
                return node, live | self._read(node)
            case SyncLoop() | SyncWhile():
                return self._loop(node, live)
            case SyncIf():
                return self._if(node, live)
            case _:
                return node, live

    def _assign(self, node: Assign, live: Live) -> tuple[SyncNode | None, Live]:
        name = node.register.name
        bit = self._bits[name]
        if not live & bit:
            return None, live
        if name in self._single:  # one of a row leaves the others as they are
            live &= ~bit
        return node, live | self._read(node)

    def _loop(self, node: SyncLoop | SyncWhile, after: Live) -> tuple[SyncNode | None, Live]:
        decides = self._live(reads(node.trip if isinstance(node, SyncLoop) else node.condition))
        # The more is live behind a loop, the more is at its header: go on from the last time.
        header = after | self._headers.get(id(node), 0)
        if node.load:
            header |= self._read(node.load)
        if isinstance(node, SyncWhile):
            header |= decides
        while True:
            body, before = self.body(node.body, header)
            if not before & ~header:
                break
            header |= before
        self._headers[id(node)] = header
        if not body and not node.load:
            return None, after
        self.used |= decides
        return replace(node, body=body), header | decides

    def _if(self, node: SyncIf, after: Live) -> tuple[SyncNode | None, Live]:
        then, before_then = self.body(node.then, after)
        orelse, before_orelse = self.body(node.orelse, after)
        if not (then or orelse or node.load):
            return None, after
        live = before_then | before_orelse | self._read(node)
        return replace(node, then=then, orelse=orelse), live


def swept(engine: EngineProgram) -> EngineProgram:
    """Return an engine program without register operations that no wait can see."""
    sweep = _Sweep(engine)
    body, _ = sweep.body(engine.body, 0)
    registers = tuple(r for i, r in enumerate(engine.registers) if sweep.used >> i & 1)
    return replace(engine, body=body, registers=registers)


@dataclass(frozen=True, slots=True)
class DropDeadRegisters:
    """Keep what a wait, a condition or a trip count reads."""

    name: str = "drop-dead-registers"
    description: str = "remove register operations that no wait can see"

    def apply(self, sync: SyncProgram, target: Target) -> SyncProgram:
        """Return the engine programs with fewer register operations. Never refuses a program."""
        with deep_nests():
            return replace(sync, engines=tuple(map(swept, sync.engines)))


PASS = DropDeadRegisters()
