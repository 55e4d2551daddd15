"""Let an engine wait for all that a region needs before it issues the first instruction of it.

In     engine programs; the regions of their program stand together (`gather_regions`)
Out    the same; no wait stands inside a region
Keeps  no instance early, no deadlock: what a region waits for comes before all of it. What waits
       at its beginning for the sake of later instructions is late
Cost   linear

    p waits Q >= 1                          p waits Q >= 1, B >= 2
    q waits B >= 2      # fused      ->     q

Waits of one counter with one register become one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from headway.errors import Diagnostic, UnsupportedByTarget
from headway.ir.walk import deep_nests, instructions
from headway.passes.sync_pass import Concession
from headway.sync.program import (
    Assign,
    EngineProgram,
    Exec,
    SetFlag,
    SyncNode,
    SyncProgram,
    TakeFlag,
    Threshold,
    Wait,
    Waits,
)
from headway.sync.rewrite import Body, with_bodies
from headway.targets.target import Target


class _Hoisting:
    """Hoists the waits of one engine."""

    def __init__(self, engine: str, fused: frozenset[str]) -> None:
        self.concessions: list[Concession] = []
        self._engine = engine
        self._fused = fused

    def body(self, nodes: Body) -> Body:
        out: list[SyncNode] = []
        for region in self._regions(nodes):
            if len(region) > 1:
                out += self._hoisted(region)
            else:
                out += (with_bodies(node, self.body) for node in region)
        return tuple(out)

    def _regions(self, nodes: Body) -> Iterator[list[SyncNode]]:
        """Yield nodes one by one, and from the first to the last of a region at once."""
        at = 0
        while at < len(nodes):
            end = at + 1
            if isinstance(nodes[at], Exec):
                for n in range(at + 1, len(nodes)):
                    node = nodes[n]
                    if isinstance(node, Exec):
                        if node.instr not in self._fused:
                            break
                        end = n + 1
            yield list(nodes[at:end])
            at = end

    def _hoisted(self, region: list[SyncNode]) -> Iterator[SyncNode]:
        before: list[SyncNode] = []
        issued: list[SyncNode] = []
        hoisted: list[str] = []
        first = region[0]
        for node in region:
            match node:
                case Exec():
                    if node.waits:
                        before.append(Waits(node.waits, node.at))
                        hoisted += [node.instr] if node is not first else []
                    issued.append(replace(node, waits=()))
                case Waits() | Assign():
                    before.append(node)
                case TakeFlag() if not any(_sets(x, node.flag) for x in issued):
                    before.append(node)
                case SetFlag():
                    issued.append(node)
                case _:
                    raise UnsupportedByTarget(_stands_inside(node, first))
        if hoisted:
            names = ", ".join(dict.fromkeys(hoisted))
            message = f"{_name(first)} waits for what {names} needs: no wait may stand between"
            self.concessions.append(Concession("region", self._engine, message))
        yield from _joined(before, issued)


def _sets(node: SyncNode, flag: str) -> bool:
    return isinstance(node, SetFlag) and node.flag == flag


def _name(node: SyncNode) -> str:
    return node.instr if isinstance(node, Exec) else "a region"


def _joined(before: list[SyncNode], issued: list[SyncNode]) -> Iterator[SyncNode]:
    """Yield a region with its waits; they are those of its first instruction if they all can."""
    waits = [wait for node in before if isinstance(node, Waits) for wait in node.waits]
    first = issued[0]
    if all(isinstance(node, Waits) for node in before) and isinstance(first, Exec):
        yield replace(first, waits=_merged(waits))
        yield from issued[1:]
    else:
        yield from before
        yield from issued


def _merged(waits: list[Wait]) -> tuple[Wait, ...]:
    """Join waits of one counter that differ in a number only: the largest implies the others."""
    found: dict[object, Wait] = {}
    for wait in waits:
        key = (wait.counter, wait.threshold.register)
        other = found.get(key, wait)
        offset = max(wait.threshold.offset, other.threshold.offset)
        found[key] = replace(other, threshold=Threshold(other.threshold.register, offset))
    return tuple(found.values())


def _stands_inside(node: SyncNode, first: SyncNode) -> Diagnostic:
    what = type(node).__name__.removeprefix("Sync").lower()
    what = f"a take of {node.flag}, which is set there," if isinstance(node, TakeFlag) else what
    return Diagnostic(
        f"{what} stands inside the region that begins with {_name(first)!r}",
        node.at,
        rule="no wait may stand inside a region",
        help="choose another strategy: `headway list strategies`",
    )


@dataclass(frozen=True, slots=True)
class HoistWaits:
    """Wait in front of regions."""

    name: str = "hoist-waits"
    description: str = "let engines wait in front of regions in which no wait may stand"

    def fit(self, sync: SyncProgram, target: Target) -> tuple[SyncProgram, tuple[Concession, ...]]:
        """Return the engine programs and what waits early for the sake of later instructions.

        Raise UnsupportedByTarget if a barrier, or a token that is set there, is waited for inside.
        """
        fused = frozenset(i.name for i in instructions(sync.program.body) if i.fused)
        if not fused:
            return sync, ()
        hoistings = [_Hoisting(engine.engine, fused) for engine in sync.engines]
        with deep_nests():
            engines = tuple(map(_hoisted, hoistings, sync.engines))
        return replace(sync, engines=engines), tuple(c for h in hoistings for c in h.concessions)

    def apply(self, sync: SyncProgram, target: Target) -> SyncProgram:
        """Do what `fit` does."""
        return self.fit(sync, target)[0]


def _hoisted(hoisting: _Hoisting, engine: EngineProgram) -> EngineProgram:
    return replace(engine, body=hoisting.body(engine.body))


PASS = HoistWaits()
