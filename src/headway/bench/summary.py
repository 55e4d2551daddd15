"""The table of the README: `python -m headway.bench.summary` prints it, a test compares it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from headway import kernels
from headway.compiler import compare
from headway.frontends.nki import packaged
from headway.ir.program import Program

HEADER = """\
| program (simulated) | target | ideal | minimal barriers | barrier-free | gain |
|---|---|---|---|---|---|"""
NKI_KERNELS = (
    "trnblas.nki.dispatch:_gemm_kernel_128_128_512",
    "trntensor.nki._kernels:mp2_energy_kernel",
    "trnsparse.nki.kernels:_spmm_dense_kernel",
)


class Row(NamedTuple):
    """A program on a target."""

    label: str
    program: Program
    target: str
    inputs: Mapping[str, int | list[int]]

    def __str__(self) -> str:
        result = compare(self.program, self.inputs, self.target, ("barrier", "counted"))
        latencies = (result.strategies[name].latency_ns for name in ("ideal", "barrier", "counted"))
        cells = [self.label, self.target, *(f"{latency / 1000:,.0f} us" for latency in latencies)]
        return f"| {' | '.join(cells)} | {result.speedup('counted'):.2f}x |"


def rows() -> list[Row]:
    """Return the rows whose programs are there: NKI kernels only if their package is installed."""
    loop = kernels.load("calibration-loop")
    matmul, chain = kernels.load("matmul"), kernels.load("sync-chain")
    return [
        Row("load, activation, scale, store: 64 tiles", loop.program(buffers=4), "trn1", {"n": 64}),
        Row("the same, four tiles per iteration", loop.program(tiles=4), "trn1", {"n": 16}),
        Row("blocked matmul, run-time bounds", matmul.program(), "trn2", matmul.inputs),
        Row("chain of three engines, 128 ns each", chain.program(), "trn2", chain.inputs),
        *(
            Row(f"NKI `{kernel.title}`", kernel.record().program(), "trn2", {})
            for kernel in packaged.KERNELS
            if kernel.title in NKI_KERNELS and kernel.is_installed()
        ),
    ]


def table() -> str:
    """Return the table."""
    return "\n".join([HEADER, *map(str, rows())])


if __name__ == "__main__":
    print(table())
