"""The zero-cost machine: any engines, nothing limited, synchronization takes no time.

An instruction takes what the program says, else 10 ns. What is late here is late by its thresholds
alone, so tests compare issue times with those of the ideal machine.
"""

from __future__ import annotations

from headway.targets.figures import Count, Figure
from headway.targets.target import BarrierSequence, Dma, Semaphores, Sequencer, Target

FREE = Figure(0, "defined: nothing but work takes time on this machine")
UNLIMITED = Count(2**31 - 1, "defined: nothing is limited on this machine")

TARGET = Target(
    name="generic",
    description="any engines, nothing limited, synchronization takes no time",
    engines=(),
    operations={},
    default=Figure(10, "defined: a round number"),
    dma=Dma(
        queues=UNLIMITED,
        pipelined=False,
        bandwidth=Figure(1, "defined: not used, as every transfer has its duration or the default"),
        is_shared=False,
        dispatch=FREE,
        setup=FREE,
        notify=FREE,
        interval=FREE,
        slowdown={},
    ),
    semaphores=Semaphores(count=UNLIMITED, width=Count(64, "defined: never full"), is_signed=True),
    waits_per_instruction=UNLIMITED,
    updates_per_instruction=UNLIMITED,
    registers=UNLIMITED,
    has_register_thresholds=True,
    has_register_sums=True,
    sequencer=Sequencer(
        overlaps=True,
        issue=FREE,
        hop=FREE,
        wait=FREE,
        register=FREE,
        branch=FREE,
        loop=FREE,
        refetch=FREE,
        load=FREE,
        flag=FREE,
    ),
    barrier=BarrierSequence(rendezvous=FREE, reset=FREE),
)
