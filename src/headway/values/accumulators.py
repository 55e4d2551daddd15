"""What engines keep from one instruction to the next: an accumulator in each partition.

Instructions with `reduce_cmd` reduce into it. Those of one engine share it and run in their order,
so it orders nothing that the engine does not order anyway, and no program declares it.
"""

from __future__ import annotations

from headway.values.program import Linear, Memory, View

PARTITIONS = 128
ROLE = "accumulators"
ENGINES = {
    "activate2": "scalar",
    "activation": "scalar",
    "activation_reduce": "scalar",
    "exponential": "vector",
    "range_select": "vector",
    "select_reduce": "vector",
    "tensor_scalar_cumulative": "vector",
    "tensor_scalar_reduce": "vector",
}
"""The engine of each operation that reduces into its accumulators."""


def memory(engine: str) -> tuple[str, Memory]:
    """Return the accumulators of an engine as a memory, and its name, which no buffer can have."""
    return f"{engine} accumulators", Memory(1, (PARTITIONS, 1), "float32", "engine")


def view(engine: str, dst: View, row: int) -> View:
    """Return the accumulators in the partitions of `dst`, whose memory has `row` bytes in each."""
    size = 4
    begin = dst.offset.const + (dst.starts[0] if dst.starts else 0)
    first = Linear(
        begin // row * size,
        tuple(round(factor / row) * size for factor in dst.offset.factors),
    )
    shape = (dst.shape[0], 1)
    return View(memory(engine)[0], Linear(), 1, first, "float32", shape, (size, size))
