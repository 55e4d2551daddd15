"""What the NeuronCore targets share: operations with their documented formulas, limits, sources.

Units: cycles of the engine that executes; N = elements per partition.
"""

from __future__ import annotations

from collections.abc import Iterable

from headway.targets.figures import Count, Figure
from headway.targets.target import Operation, Semaphores

ISA = "NKI ISA reference, Oct 2025"
ARCHITECTURE = "NKI architecture guide"
DRIVER = "Neuron driver source, address map"
PROFILE = "read off a published Neuron profiler figure"
FITS = "device fits for trn2 published by the voyager-compiler project"

TENSOR = ("tensor",)
VECTOR = ("vector",)
SCALAR = ("scalar",)
GPSIMD = ("gpsimd",)
EITHER = ("vector", "gpsimd")
ALL = ("vector", "scalar", "gpsimd")

Row = tuple[str, tuple[str, ...], float, float, float, str]
"""Name, engines, cycles per element, fixed cycles, least cycles, basis."""

DOCUMENTED: tuple[Row, ...] = (
    ("matmul", TENSOR, 1, 0, 64, f"{ISA}: nc_matmul = max(min(64, N_stationary), N)"),
    ("matmul:float32", TENSOR, 4, 0, 256, f"{ISA}: nc_matmul in fp32 = 4 x bf16"),
    ("transpose", ("tensor", "vector"), 1, 0, 64, f"{ISA}: nc_transpose = max(64, N)"),
    ("activation", SCALAR, 1, 0, 64, f"{ISA}: activation = max(64, N)"),
    ("activation_reduce", SCALAR, 1, 64, 128, f"{ISA}: activation_reduce = max(64, N) + 64"),
    ("tensor_copy", ALL, 1, 0, 64, f"{ISA}: tensor_copy = max(64, N)"),
    ("tensor_copy_predicated", VECTOR, 2, 0, 64, f"{ISA}: max(64, 2N), all operands in SBUF"),
    ("tensor_tensor", EITHER, 2, 0, 64, f"{ISA}: tensor_tensor = max(64, 2N)"),
    ("tensor_tensor_psum", VECTOR, 1, 0, 64, f"{ISA}: max(64, N) with an operand in PSUM"),
    ("tensor_tensor:bfloat16", EITHER, 1, 0, 64, f"{ISA}: tensor_tensor in bf16 = max(64, N)"),
    ("tensor_tensor:float16", EITHER, 1, 0, 64, "assumed: as bf16"),
    ("tensor_scalar", ALL, 1, 0, 64, f"{ISA}: tensor_scalar = max(64, N), one or two operations"),
    ("scalar_tensor_tensor", VECTOR, 2, 0, 64, f"{ISA}: scalar_tensor_tensor = 2N"),
    ("tensor_scalar_reduce", VECTOR, 1, 64, 128, f"{ISA}: max(64, N) + 64"),
    ("tensor_reduce", EITHER, 1, 0, 64, f"{ISA}: tensor_reduce = N; on gpsimd assumed the same"),
    ("tensor_tensor_scan", VECTOR, 2, 0, 64, f"{ISA}: tensor_tensor_scan = max(64, 2N)"),
    ("tensor_scalar_cumulative", VECTOR, 2, 0, 64, "assumed: as tensor_tensor_scan"),
    ("reciprocal", VECTOR, 8, 0, 64, f"{ISA}: reciprocal on the vector engine = max(64, 8N)"),
    ("reciprocal@scalar", SCALAR, 1, 0, 64, f"{ISA}: reciprocal on the scalar engine = max(64, N)"),
    ("memset", EITHER, 1, 0, 64, f"{ISA}: memset = max(64, N)"),
    ("bn_stats", VECTOR, 1, 0, 64, f"{ISA}: bn_stats = max(64, N)"),
    ("bn_aggr", VECTOR, 13 / 3, 0, 64, f"{ISA}: bn_aggr = max(64, 13N/3)"),
    ("max8", VECTOR, 1, 0, 64, f"{ISA}: max8 = N"),
    ("nc_find_index8", VECTOR, 1, 0, 64, f"{ISA}: nc_find_index8 = N"),
    ("nc_match_replace8", VECTOR, 1, 0, 64, f"{ISA}: min(64, N), read as max(64, N)"),
    ("nc_stream_shuffle", VECTOR, 1, 0, 64, f"{ISA}: nc_stream_shuffle = max(64, N)"),
    ("dropout", VECTOR, 1, 0, 64, f"{ISA}: dropout = max(64, N)"),
    ("range_select", VECTOR, 1, 0, 64, f"{ISA}: range_select = max(64, N)"),
    ("select_reduce", VECTOR, 2, 0, 64, "assumed: as other operations with two inputs"),
    ("sequence_bounds", EITHER, 2, 0, 64, "assumed: as other operations with two inputs"),
    ("rng", EITHER, 2, 0, 64, "assumed: as other operations with two inputs"),
    ("iota", GPSIMD, 1, 150, 150, f"{ISA}: iota = 150 + N"),
    ("affine_select", GPSIMD, 1, 150, 150, f"{ISA}: affine_select = 150 + N"),
    ("local_gather", GPSIMD, 4, 150, 150, "assumed: 150 + 4N; documented for N indices only"),
    ("nc_n_gather", GPSIMD, 4, 150, 150, "assumed: as local_gather"),
    ("nonzero_with_count", GPSIMD, 4, 150, 150, "assumed: as local_gather"),
    ("tensor_partition_reduce", GPSIMD, 4, 150, 150, "assumed: as local_gather"),
    ("topk", GPSIMD, 4, 0, 64, "NKI ISA reference, NKI 0.6: topk = 4N + K; K left out"),
    ("elementwise", ALL, 1, 0, 64, f"{ISA}: what most elementwise operations cost, max(64, N)"),
)

NISA_NAMES = {
    "nc_matmul": "matmul",
    "nc_matmul:float32": "matmul:float32",
    "nc_transpose": "transpose",
}
NO_SLOPE = "defined: completes at a fixed time after its occupancy"


def operations(*tables: Iterable[Row]) -> dict[str, Operation]:
    """Return the operations of the tables; later ones override. NISA names are names too."""
    found: dict[str, Operation] = {}
    for name, engines, per_element, fixed, floor, basis in (row for rows in tables for row in rows):
        found[name] = Operation(
            engines,
            Figure(per_element, basis),
            Figure(fixed, basis),
            Figure(floor, basis),
            _drain_per_element(name),
        )
    return found | {alias: found[name] for alias, name in NISA_NAMES.items()}


def _drain_per_element(name: str) -> Figure:
    if name.startswith("matmul"):
        return Figure(1, f"{FITS}: nc_matmul completes after 203 ns + 1.99 N cycles")
    return Figure(0, NO_SLOPE)


SEMAPHORES = Semaphores(
    count=Count(256, f"{DRIVER}: 256 semaphores per NeuronCore"),
    width=Count(32, "Neuron driver source and profile schema: int32"),
    is_signed=True,
)
WAITS_PER_INSTRUCTION = Count(1, "published Neuron profiles: at most one wait per instruction")
UPDATES_PER_INSTRUCTION = Count(1, "published Neuron profiles: at most one update per instruction")
REGISTERS = Count(64, "NKI language guide: 64 registers of 32 bits per engine")
SLOWDOWN = {
    name: Figure(1, "defined: the bandwidth is that of plain copies")
    for name in ("dma", "dma_copy", "dma_compute")
} | {"dma_transpose": Figure(1 / 0.9, "Neuron agentic development guide: at most 90 % of copies")}
