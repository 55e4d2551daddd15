"""What `counted` loses to the ideal machine, cost by cost.

The same engine programs are simulated with some costs of synchronization and then with more of
them: what each step adds is told as a fraction of the ideal time. The first step is the ideal
machine on which signals are seen a hop later, as by every program that waits for semaphores.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise

from headway import targets
from headway.fitting import fit
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.passes.cover_silent import unmarked
from headway.sim import simulate, simulate_ideal
from headway.targets import Figure, Target

COSTS: Mapping[str, tuple[str, ...]] = {
    "placement": (),
    "waits": ("wait",),
    "registers": ("register",),
    "loops": ("loop", "branch", "refetch"),
}
"""The steps after the hop: what is paid for in addition, by field of `Sequencer`."""

HOP = "hop"
PARTS = (HOP, *COSTS)


def parts(program: Program, inputs: Inputs, target: Target) -> dict[str, float]:
    """Return by what fraction of the ideal time each step makes `counted` longer.

    `placement` is what the chosen waits cost with all of their costs but the hop left out: waits
    that are too late, and transfers that overtake each other otherwise than on the ideal machine.
    """
    latencies = list(_latencies(program, inputs, target))
    added = (after - before for before, after in pairwise(latencies))
    return {part: more / latencies[0] for part, more in zip(PARTS, added, strict=True)}


def _latencies(program: Program, inputs: Inputs, target: Target) -> Iterator[float]:
    bound = unmarked(targets.bind(program, target))
    for hops in (False, True):
        yield simulate_ideal(bound, inputs, target, hops=hops).latency
    counted = fit(program, target, "counted", inputs=inputs)[0]
    free = {field for fields in COSTS.values() for field in fields}
    for fields in COSTS.values():
        free -= set(fields)
        yield simulate(counted, inputs, without(target, free)).latency


def without(target: Target, fields: Iterable[str]) -> Target:
    """Return a target on which these costs of its sequencers, by field, are nothing."""
    zero = dict.fromkeys(fields, Figure(0, "defined: left out"))
    return replace(target, sequencer=replace(target.sequencer, **zero))
