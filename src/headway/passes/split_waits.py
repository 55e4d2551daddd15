"""Give each instruction no more waits than the target lets it carry.

In     engine programs whose instructions carry any number of waits
Out    the same programs; surplus waits stand alone, in front of their instruction
Keeps  every instance waits for the same counters and thresholds
Cost   linear

    mm waits a >= 3, q >= 1        ->      wait a >= 3
                                           mm waits q >= 1

A while loads before every test: its surplus waits stand before it, and at the end of its body.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, replace

from headway.ir.walk import deep_nests
from headway.sync.program import (
    Exec,
    Load,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    Wait,
    Waits,
)
from headway.sync.rewrite import rewritten
from headway.targets.target import Target


def ordered(waits: tuple[Wait, ...], queues: Set[str]) -> list[Wait]:
    """Return the waits with those last that are likely to hold last: transfers take long.

    A guess: the order decides which wait is attached, never what is waited for.
    """
    return sorted(waits, key=lambda wait: wait.counter in queues)


@dataclass(frozen=True, slots=True)
class SplitWaits:
    """Attach the wait that is likely to hold last, let the others stand before."""

    name: str = "split-waits"
    description: str = "give each instruction no more waits than the target lets it carry"

    def apply(self, sync: SyncProgram, target: Target) -> SyncProgram:
        """Return the engine programs with surplus waits in front. Never refuses a program."""
        most = int(target.waits_per_instruction)
        queues = frozenset(queue.name for queue in sync.program.queues)

        def split(waits: tuple[Wait, ...]) -> tuple[tuple[Wait, ...], tuple[Wait, ...]]:
            found = ordered(waits, queues)
            surplus = max(0, len(found) - most)
            return tuple(found[:surplus]), tuple(found[surplus:])

        def rule(node: SyncNode) -> Iterator[SyncNode]:
            match node:
                case Exec() | Load():
                    before, attached = split(node.waits)
                    if before:
                        yield Waits(before, node.at)
                    yield node if attached == node.waits else replace(node, waits=attached)
                case SyncLoop() | SyncIf() if node.load:
                    before, attached = split(node.load.waits)
                    if before:
                        yield Waits(before, node.at)
                    yield replace(node, load=replace(node.load, waits=attached))
                case SyncWhile() if node.load:
                    before, attached = split(node.load.waits)
                    again = (Waits(before, node.at),) if before else ()
                    yield from again
                    load = replace(node.load, waits=attached)
                    yield replace(node, body=(*node.body, *again), load=load)
                case _:
                    yield node

        with deep_nests():
            engines = tuple(replace(e, body=rewritten(e.body, rule)) for e in sync.engines)
        return replace(sync, engines=engines)


PASS = SplitWaits()
