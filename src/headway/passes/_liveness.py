"""Which registers hold something needed at the same time, and which can be one.

Sets of registers are integers with one bit for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from headway.passes._mentions import Mentions
from headway.sync.program import (
    Assign,
    EngineProgram,
    Exec,
    Load,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncWhile,
    Waits,
)


class Liveness:
    """Which registers are needed while others are set.

    `carried` are those that are needed at the start of the program or of an iteration, so that they
    are more than a passing value. `mentions` may know parts of the program already.
    """

    def __init__(self, engine: EngineProgram, mentions: Mentions | None = None) -> None:
        self._bits = {r.name: 1 << i for i, r in enumerate(engine.registers)}
        single = [r.name for r in engine.registers if r.size == 1]
        walk = _Backwards(self._bits, single, mentions or Mentions())
        entry = walk.body(engine.body, 0)
        conflicts = walk.conflicts
        for name, bit in self._bits.items():
            if entry & bit:  # all of them hold 0 at the start
                conflicts[name] |= entry
        carried = walk.carried | entry
        self.carried = {name for name, bit in self._bits.items() if carried & bit}
        self._conflicts = conflicts

    def groups(self, names: Iterable[str]) -> dict[str, str]:
        """Return for each name the first one with which it can share a register."""
        members: dict[str, tuple[int, int]] = {}  # those inside, and what they conflict with
        found: dict[str, str] = {}
        for name in names:
            bit, apart = self._bits[name], self._conflicts[name]
            # One of two is set while the other is needed: it does not matter which.
            fits = (g for g, (own, others) in members.items() if not (own & apart or others & bit))
            group = next(fits, name)
            own, others = members.get(group, (0, 0))
            members[group] = (own | bit, others | apart)
            found[name] = group
        return found


class _Backwards:
    def __init__(self, bits: dict[str, int], single: Sequence[str], mentions: Mentions) -> None:
        self.conflicts = dict.fromkeys(bits, 0)
        self.carried = 0
        self._bits = bits
        self._single = frozenset(single)
        self._mentions = mentions
        self._read: dict[int, int] = {}  # by node, which `_mentions` keeps alive
        self._headers: dict[int, int] = {}  # what is live at the header of a loop, so far

    def body(self, nodes: tuple[SyncNode, ...], live: int) -> int:
        """Return what is live before nodes, given what is behind them."""
        for node in reversed(nodes):
            live = self._node(node, live)
        return live

    def _reads(self, node: SyncNode) -> int:
        found = self._read.get(id(node))
        if found is None:
            found = sum(self._bits[name] for name in self._mentions.read(node))
            self._read[id(node)] = found
        return found

    def _node(self, node: SyncNode, live: int) -> int:
        match node:
            case Assign():
                name = node.register.name
                self.conflicts[name] |= live
                rest = live & ~self._bits[name] if name in self._single else live
                return rest | self._reads(node)
            case Exec() | Waits() | Load():
                return live | self._reads(node)
            case SyncLoop() | SyncWhile():
                return self._loop(node, live)
            case SyncIf():
                either = self.body(node.then, live) | self.body(node.orelse, live)
                return either | self._reads(node)
            case _:
                return live

    def _loop(self, node: SyncLoop | SyncWhile, after: int) -> int:
        """Go round until nothing more is live at the start of an iteration."""
        # The more is live behind a loop, the more is at its header: go on from the last time.
        head = after | self._headers.get(id(node), 0)
        if isinstance(node, SyncWhile):
            head |= self._reads(node)
        while True:
            before = self.body(node.body, head)
            if not before & ~head:
                break
            head |= before
        self._headers[id(node)] = head
        self.carried |= head
        return head | self._reads(node)
