"""AWS Trainium 3, one physical NeuronCore-v4. What is not published for it is that of trn2."""

from __future__ import annotations

from headway.targets import _neuron as neuron
from headway.targets.figures import Count, Figure
from headway.targets.target import BarrierSequence, Dma, EngineModel, Sequencer, Target

AS_TRN2 = "assumed: as on trn2"
HARDWARE = Figure(600, "NKI DGE guide: about 600 ns on the engine that commands the hardware DGE")
SOFTWARE = Figure(8, f"{AS_TRN2}: 8 ns for gpsimd to start a prepared transfer")

V4 = f"{neuron.ARCHITECTURE}, Trainium 3"
FASTER = f"{neuron.ARCHITECTURE}, Trainium 2: vector engine performance modes"
PERFORMANCE_MODES: tuple[neuron.Row, ...] = (
    (
        "tensor_tensor@vector",
        neuron.VECTOR,
        1,
        0,
        64,
        f"{AS_TRN2}; {neuron.FITS}: N cycles in fp32",
    ),
    ("tensor_scalar@vector", neuron.VECTOR, 0.5, 0, 64, f"{AS_TRN2}; {FASTER}: 2x in fp32"),
    ("tensor_copy@vector", neuron.VECTOR, 0.5, 0, 64, f"{AS_TRN2}; {FASTER}: 2x in fp32"),
)
"""Where the vector engine is faster than the formulas. Those of fp32: 16 bits are no faster."""

NEW: tuple[neuron.Row, ...] = (
    ("nc_matmul_mx", neuron.TENSOR, 0.25, 0, 64, f"{V4}: four times the rate of bf16"),
    ("exponential", neuron.VECTOR, 0.25, 0, 64, f"{V4}: about four times the scalar engine's"),
    ("quantize_mx", neuron.VECTOR, 0.25, 0, 64, f"{V4}: four elements per cycle and lane"),
)
"""What only this generation has."""


def _clock(ghz: float) -> Figure:
    return Figure(ghz, f"{neuron.ARCHITECTURE}, Trainium 3: engine clocks")


TARGET = Target(
    name="trn3",
    description="AWS Trainium 3, one physical NeuronCore",
    engines=(
        EngineModel(
            name="tensor",
            clock=_clock(2.4),
            pipelined=True,
            drain=Figure(203, f"{AS_TRN2}: bf16 matmul completes after 203 ns + 1.99 N cycles"),
            trigger=None,  # hardware DGE: scalar and sync only (NKI DGE guide)
            ordered=True,  # it adds to its sums in order: back to back in published profiles
        ),
        EngineModel(
            name="vector",
            clock=_clock(1.2),
            pipelined=True,
            drain=Figure(160, f"{AS_TRN2}: tensor_scalar completes after 160 ns + 0.52 ns x N"),
            trigger=None,
        ),
        EngineModel(
            name="scalar",
            clock=_clock(1.2),
            pipelined=True,
            drain=Figure(202, f"{AS_TRN2}: activation copy completes after 202 ns + 0.833 x N"),
            trigger=HARDWARE,
        ),
        EngineModel(
            name="gpsimd",
            clock=_clock(1.2),
            pipelined=True,
            drain=Figure(177, f"{AS_TRN2}: affine_select completes after 177 ns + 0.846 x N"),
            trigger=SOFTWARE,
        ),
        EngineModel(
            name="sync",
            clock=_clock(1.2),
            pipelined=True,
            drain=Figure(0, "defined: it has no datapath"),
            trigger=HARDWARE,
        ),
    ),
    operations=neuron.operations(neuron.DOCUMENTED, PERFORMANCE_MODES, NEW),
    default=None,
    dma=Dma(
        queues=Count(16, "NKI DMA overview: 16 queues on each of the 16 DMA engines"),
        pipelined=True,
        bandwidth=Figure(528, "NKI DMA bandwidth guide: 33 B/ns effective on each of 16 engines"),
        is_shared=True,
        dispatch=Figure(658, f"{AS_TRN2}: mean of 751 ns for loads and 565.5 ns for stores"),
        setup=Figure(228, f"{AS_TRN2}: mean of 293 ns for loads and 162 ns for stores"),
        notify=Figure(335, f"{AS_TRN2}: mean of 314.5 ns for loads and 355 ns for stores"),
        interval=Figure(600, f"{AS_TRN2}: 599 ns between loads, 609 ns between stores"),
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
        hop=Figure(31, f"{AS_TRN2}: 12 ns to the semaphore, 19 ns to the engine"),
        wait=Figure(10, f"{AS_TRN2}: about 9 ns"),
        register=Figure(20, "assumed: in 5 to 70 ns; one published move on gpsimd takes 68 ns"),
        branch=Figure(60, "assumed: in 10 to 200 ns"),
        loop=Figure(80, "assumed: a taken branch and the increment of the iteration"),
        refetch=Figure(0, "assumed: hidden by the branch prefetch hint; 0 to 2,000 ns"),
        load=Figure(2000, "assumed: in 1,500 to 3,000 ns from HBM"),
    ),
    barrier=BarrierSequence(
        rendezvous=Figure(125, "assumed: two hops and a wait instruction on each engine"),
        reset=Figure(50, "assumed: in 10 to 500 ns"),
    ),
)
