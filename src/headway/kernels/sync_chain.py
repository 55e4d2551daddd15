"""A chain of engines that hand short tiles on: synchronization is nearly all there is.

In every iteration engine k reads the tile that engine k-1 wrote and writes one for engine k+1.
"""

from __future__ import annotations

from collections.abc import Iterator

from headway.ir import parse
from headway.ir.program import Program
from headway.kernels.kernel import Kernel, Parameter

ENGINES = ("scalar", "vector", "gpsimd", "tensor", "sync")


def build(engines: int, duration: int, buffers: int) -> Program:
    """Return the chain of `engines` engines whose instructions take `duration` ns."""
    return parse("\n".join(_lines(engines, duration, buffers)), "sync-chain")


def _lines(engines: int, duration: int, buffers: int) -> Iterator[str]:
    yield "program @sync-chain {"
    yield "  input n"
    yield from (f"  buffer b{k} slots {buffers}" for k in range(engines - 1))
    yield "  loop i n {"
    for k, engine in enumerate(ENGINES[:engines]):
        reads = f" reads(b{k - 1}[i % {buffers}])" if k else ""
        writes = f" writes(b{k}[i % {buffers}])" if k < engines - 1 else ""
        yield f"    {engine} step{k}{reads}{writes} takes({duration})"
    yield "  }"
    yield "}"


KERNEL = Kernel(
    "sync-chain",
    "engines in a chain that hand short tiles on: bound by synchronization",
    (
        Parameter("engines", 3, "engines in the chain", minimum=2, maximum=len(ENGINES)),
        Parameter("duration", 128, "ns that an instruction takes", maximum=1_000_000),
        Parameter("buffers", 2, "slots between two engines"),
    ),
    {"n": 256},
    build,
)
