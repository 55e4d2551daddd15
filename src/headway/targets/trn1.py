"""AWS Trainium 1, one NeuronCore-v2.

Its rendezvous is set so that the public calibration loop comes out right; see docs/timing.md.
"""

from __future__ import annotations

from headway.targets import _neuron as neuron
from headway.targets.figures import Count, Figure
from headway.targets.target import BarrierSequence, Dma, EngineModel, Sequencer, Target

STATIC = Figure(75, f"{neuron.PROFILE} (trn2): 56 to 88 ns for each write that starts a transfer")
SOFTWARE = Figure(10, f"{neuron.PROFILE}: 8 to 10 ns for gpsimd to start a prepared transfer")


def _clock(ghz: float) -> Figure:
    return Figure(ghz, f"{neuron.ARCHITECTURE}, Trainium 1: engine clocks")


TARGET = Target(
    name="trn1",
    description="AWS Trainium 1, one NeuronCore",
    engines=(
        EngineModel(
            name="tensor",
            clock=_clock(2.8),
            pipelined=True,
            drain=Figure(96, f"{neuron.PROFILE}: bf16 matmul with N = 128 takes 188 ns"),
            trigger=STATIC,
            ordered=True,  # it adds to its sums in order: back to back in published profiles
        ),
        EngineModel(
            name="vector",
            clock=_clock(1.12),
            pipelined=True,
            drain=Figure(137, f"assumed: 160 ns of trn2, scaled by clock ({neuron.FITS})"),
            trigger=STATIC,
        ),
        EngineModel(
            name="scalar",
            clock=_clock(1.4),
            pipelined=True,
            drain=Figure(113, f"{neuron.PROFILE}: an activation of one element takes 159 ns"),
            trigger=STATIC,
        ),
        EngineModel(
            name="gpsimd",
            clock=_clock(1.4),
            pipelined=True,
            drain=Figure(152, f"assumed: 177 ns of trn2, scaled by clock ({neuron.FITS})"),
            trigger=SOFTWARE,
        ),
        EngineModel(
            name="sync",
            clock=_clock(1.4),
            pipelined=True,
            drain=Figure(0, "defined: it has no datapath"),
            trigger=STATIC,
        ),
    ),
    operations=neuron.operations(neuron.DOCUMENTED),
    default=None,
    dma=Dma(
        queues=Count(16, "NKI DMA overview: 16 queues on each of the 16 DMA engines"),
        pipelined=True,
        bandwidth=Figure(272, "NKI DMA bandwidth guide: 17 B/ns effective on each of 16 engines"),
        is_shared=True,
        dispatch=Figure(750, f"assumed: as on trn2, 739 to 755 ns ({neuron.PROFILE})"),
        setup=Figure(160, f"assumed: in 80 to 300 ns of trn2 ({neuron.FITS}; {neuron.PROFILE})"),
        notify=Figure(315, f"assumed: as on trn2, 272 to 355 ns ({neuron.FITS})"),
        interval=Figure(600, f"assumed: as on trn2 ({neuron.FITS})"),
        slowdown=neuron.SLOWDOWN,
    ),
    semaphores=neuron.SEMAPHORES,
    waits_per_instruction=neuron.WAITS_PER_INSTRUCTION,
    updates_per_instruction=neuron.UPDATES_PER_INSTRUCTION,
    registers=neuron.REGISTERS,
    has_register_thresholds=True,  # assumed: third-party interface descriptions only
    has_register_sums=False,  # assumed: no description of it, so each one costs an operation
    sequencer=Sequencer(
        overlaps=True,
        issue=Figure(10, "assumed: as a wait instruction whose condition holds"),
        hop=Figure(31, f"{neuron.PROFILE} (trn2): 12 ns to the semaphore, 19 ns to the engine"),
        wait=Figure(10, f"{neuron.PROFILE}: about 9 ns"),
        register=Figure(20, "assumed: in 5 to 70 ns; one published move on gpsimd takes 68 ns"),
        branch=Figure(60, "assumed: in 10 to 200 ns"),
        loop=Figure(80, "assumed: a taken branch and the increment of the iteration"),
        refetch=Figure(1500, "assumed: 16 KB by DMA, seen after each loop branch in trn1 profiles"),
        load=Figure(2000, "assumed: in 1,500 to 3,000 ns from HBM"),
    ),
    barrier=BarrierSequence(
        rendezvous=Figure(
            1700,
            "assumed: in 100 to 2,000 ns, chosen to meet the 17.9 us per iteration that the NKI"
            " dynamic loops guide gives for a trn1 loop",
        ),
        reset=Figure(50, "assumed: in 10 to 500 ns"),
    ),
)
