"""The same target with what is uncertain about it at the good or at the bad end of its range.

The ranges are those in which public sources or careful guesses put a number (docs/timing.md), the
same for all targets. What is documented, such as clocks and what operations take, stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from headway.errors import InvalidInput
from headway.registry import unknown
from headway.targets.figures import Figure
from headway.targets.target import Target

COSTS = ("optimistic", "default", "pessimistic")
BASIS = "an end of the range in docs/timing.md"

# In ns; the good end comes first.
SEQUENCER: Mapping[str, tuple[float, float]] = {
    "issue": (5, 30),
    "hop": (20, 200),
    "wait": (5, 30),
    "register": (5, 70),
    "branch": (10, 200),
    "loop": (15, 270),
    "refetch": (0, 2000),
    "load": (1500, 3000),
    "flag": (5, 70),
}
DMA: Mapping[str, tuple[float, float]] = {
    "dispatch": (500, 1300),
    "notify": (250, 400),
    "interval": (0, 870),
}
BARRIER: Mapping[str, tuple[float, float]] = {"rendezvous": (100, 2000), "reset": (10, 500)}


def spread(target: Target, costs: str) -> Target:
    """Return `target` with the costs of that name. Raise InvalidInput on an unknown one."""
    if costs not in COSTS:
        raise InvalidInput(unknown("costs", costs, COSTS))
    if costs == "default":
        return target
    end = COSTS.index(costs) // 2

    def at(ranges: Mapping[str, tuple[float, float]]) -> dict[str, Figure]:
        return {name: Figure(ends[end], BASIS) for name, ends in ranges.items()}

    return replace(
        target,
        sequencer=replace(target.sequencer, **at(SEQUENCER)),
        dma=replace(target.dma, **at(DMA)),
        barrier=replace(target.barrier, **at(BARRIER)),
    )
