"""Softmax over rows of 1,024: each tile of 128 rows alone, nothing carried from tile to tile."""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @softmax {
  input n
  queue loads on sync
  queue stores on gpsimd
  buffer x slots $buffers space(sbuf)
  buffer top slots $buffers space(sbuf)
  buffer e slots $buffers space(sbuf)
  buffer total slots $buffers space(sbuf)
  buffer y slots $buffers space(sbuf)
  loop i n {
    # tiles of i
    sync load$tile triggers(loads) writes(x[$slot]) does(dma, bytes=262144, moves=load)
    vector max$tile reads(x[$slot]) writes(top[$slot]) does(tensor_reduce, elements=1024)
    scalar exp$tile reads(x[$slot], top[$slot]) writes(e[$slot], total[$slot])
      does(activation_reduce, elements=1024)
    vector invert$tile reads(total[$slot]) writes(total[$slot]) does(reciprocal, elements=1)
    vector scale$tile reads(e[$slot], total[$slot]) writes(y[$slot])
      does(tensor_scalar, elements=1024)
    gpsimd store$tile triggers(stores) reads(y[$slot]) does(dma, bytes=262144, moves=store)
    # end
  }
}
"""

SOURCE = Source("softmax", lambda size: {"x": f"float32[{size.n * 128},1024]"})

KERNEL = text_kernel("softmax", "softmax over rows", PROGRAM, {"n": 24}, source=SOURCE)
