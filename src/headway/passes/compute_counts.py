"""Compute counts from iterations where that takes no more than to keep them.

In     engine programs whose registers count signals
Out    the same with fewer registers: a threshold is computed in front of its wait, if its value has
       a closed form in iterations and inputs that takes no more register operations
Keeps  every instance waits for the same counters and thresholds
Cost   linear in the engine programs, times their registers

    loop i n {                                loop i n {
      threshold.1 := shadow.q + 1               threshold.1 := i + 1
      mm waits q >= threshold.1          ->     mm waits q >= threshold.1
      shadow.q := shadow.q + 1                }
    }

Operations in inner loops count most. A target with sums in its waits has `q >= shadow.q + 1` for
nothing, so that there counts are kept.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from headway.ir.walk import deep_nests
from headway.passes._closed_forms import computed, operations
from headway.passes._mentions import Mentions
from headway.sync.program import Assign, EngineProgram, Exec, SyncProgram, sync_branches
from headway.targets.target import Target


def work(engine: EngineProgram) -> list[int]:
    """Return the register operations in the deepest loops, then in those around, and so on."""
    found: Counter[int] = Counter()
    stack = [(engine.body, 0)]
    while stack:
        body, depth = stack.pop()
        for node in body:
            if isinstance(node, Assign):
                found[depth] += max(1, operations(node.value))
            elif not isinstance(node, Exec):
                stack += [(part, depth + 1) for part in sync_branches(node)]
    return [found[depth] for depth in range(max(found, default=0), -1, -1)]


def _is_less(less: list[int], more: list[int]) -> bool:
    """Tell whether one engine program does no more than another, from the inside outwards."""
    longest = max(len(less), len(more))
    return [0] * (longest - len(less)) + less <= [0] * (longest - len(more)) + more


def _of_engine(engine: EngineProgram) -> EngineProgram:
    mentions, least = Mentions(), work(engine)
    for register in engine.registers:
        found = computed(engine, register.name, mentions) if register.size == 1 else None
        if found and len(found.registers) < len(engine.registers):
            if _is_less(done := work(found), least):
                engine, least = found, done
    return engine


@dataclass(frozen=True, slots=True)
class ComputeCounts:
    """Leave out the registers whose value the iterations tell."""

    name: str = "compute-counts"
    description: str = "compute counts from iterations where that is no more work"

    def apply(self, sync: SyncProgram, target: Target) -> SyncProgram:
        """Return the engine programs with fewer registers. Never refuses a program."""
        if target.has_register_sums:
            return sync
        with deep_nests():
            return replace(sync, engines=tuple(map(_of_engine, sync.engines)))


PASS = ComputeCounts()
