"""Which registers hold something needed at the same time, and which can be one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from headway.passes.drop_dead_registers import Live, reads
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


@dataclass
class Liveness:
    """`conflicts`: registers that are needed while another is set. `carried`: those that are needed
    at the start of the program or of an iteration, so that they are more than a passing value.
    """

    conflicts: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    carried: set[str] = field(default_factory=set[str])

    @classmethod
    def of(cls, engine: EngineProgram) -> Liveness:
        """Return the liveness of an engine program."""
        found = cls()
        single = frozenset(register.name for register in engine.registers if register.size == 1)
        entry = _Backwards(found, single).body(engine.body, frozenset())
        for name in entry:  # all of them hold 0 at the start
            found.conflict(name, entry)
        found.carried |= entry
        return found

    def conflict(self, name: str, others: Iterable[str]) -> None:
        """Note that a register is set while others are needed."""
        for other in others:
            if other != name:
                self.conflicts[name].add(other)
                self.conflicts[other].add(name)

    def groups(self, names: Iterable[str]) -> dict[str, str]:
        """Return for each name the first one with which it can share a register."""
        members: dict[str, list[str]] = {}
        found: dict[str, str] = {}
        for name in names:
            fits = (g for g, inside in members.items() if not self.conflicts[name] & {*inside})
            group = next(fits, name)
            members.setdefault(group, []).append(name)
            found[name] = group
        return found


class _Backwards:
    def __init__(self, found: Liveness, single: Live) -> None:
        self._found = found
        self._single = single

    def body(self, nodes: tuple[SyncNode, ...], live: Live) -> Live:
        """Return what is live before nodes, given what is behind them."""
        for node in reversed(nodes):
            live = self._node(node, live)
        return live

    def _node(self, node: SyncNode, live: Live) -> Live:
        match node:
            case Assign():
                name = node.register.name
                self._found.conflict(name, live)
                rest = live - {name} if name in self._single else live
                return rest | reads(node.value, node.register.index)
            case Exec() | Waits() | Load():
                return live | reads(*(wait.threshold.register for wait in node.waits))
            case SyncLoop() | SyncWhile():
                return self._loop(node, live)
            case SyncIf():
                either = self.body(node.then, live) | self.body(node.orelse, live)
                return self._load(node.load, either | reads(node.condition))
            case _:
                return live

    def _loop(self, node: SyncLoop | SyncWhile, after: Live) -> Live:
        """Go round until nothing more is live at the start of an iteration."""
        head = after
        if isinstance(node, SyncWhile):
            head = self._load(node.load, head | reads(node.condition))
        while True:
            before = self.body(node.body, head)
            if before <= head:
                break
            head |= before
        self._found.carried |= head
        if isinstance(node, SyncLoop):
            return self._load(node.load, head | reads(node.trip))
        return head

    def _load(self, load: Load | None, live: Live) -> Live:
        return self._node(load, live) if load else live
