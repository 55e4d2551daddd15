"""The loop whose time on trn1 is published: load, activation, tensor_scalar, store.

The public NKI documentation gives about 7.5 us per iteration when the loop is unrolled, 17.9 us
when it runs on the device with a barrier per iteration, and 10.2 us per tile with four tiles per
iteration. Each tile comes from and goes to other addresses of HBM, so HBM orders nothing here.
"""

from __future__ import annotations

from string import Template

from headway.ir import parse
from headway.ir.program import Program
from headway.kernels._text import NKI
from headway.kernels._traced import Source
from headway.kernels.kernel import Kernel, Parameter

PROGRAM = Template("""\
program @calibration-loop {
  input n
  queue loads on sync
  queue stores on gpsimd
  $buffers
  loop i n {
    $body
  }
}
""")

# x -> y -> z, each tile [128, 2048] of float32 in `slots` slots of its own
BUFFERS = Template("""
  buffer x$tile slots $slots space(sbuf)
  buffer y$tile slots $slots space(sbuf)
  buffer z$tile slots $slots space(sbuf)
""")
BODY = Template("""
    sync load$tile triggers(loads) writes(x$tile[i % $slots]) \
does(dma, bytes=1048576, dtype=float32, moves=load)
    scalar act$tile reads(x$tile[i % $slots]) writes(y$tile[i % $slots]) \
does(activation, elements=2048, dtype=float32)
    vector scale$tile reads(y$tile[i % $slots]) writes(z$tile[i % $slots]) \
does(tensor_scalar, elements=2048, dtype=float32)
    gpsimd store$tile triggers(stores) reads(z$tile[i % $slots]) \
does(dma, bytes=1048576, dtype=float32, moves=store)
""")


INPUTS = {"n": 64}
SOURCE = Source("calibration_loop", lambda size: {"x": f"float32[{size.n * 128},2048]"})


def build(tiles: int, buffers: int, nki: int) -> Program:
    """Return the loop with `tiles` tiles per iteration."""
    if nki:
        return SOURCE.program(tiles, buffers, INPUTS, INPUTS)

    def each(part: Template) -> str:
        return "".join(part.substitute(tile=tile, slots=buffers) for tile in range(tiles))

    text = PROGRAM.substitute(buffers=each(BUFFERS).strip(), body=each(BODY).strip())
    return parse(text, "calibration-loop")


KERNEL = Kernel(
    "calibration-loop",
    "load, activation, tensor_scalar and store of [128, 2048] tiles; its time on trn1 is public",
    (
        Parameter("tiles", 1, "tiles per loop iteration"),
        Parameter("buffers", 2, "slots per tile"),
        NKI,
    ),
    INPUTS,
    build,
    frozenset(INPUTS),
    SOURCE,
)
