"""Embedding lookup: the rows that a transfer fetches are named by a tile on chip."""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @gather {
  input n
  queue loads on sync
  queue rows on gpsimd
  queue stores on scalar
  buffer ids slots $buffers space(sbuf)
  buffer x slots $buffers space(sbuf)
  buffer y slots $buffers space(sbuf)
  loop i n {
    # tiles of i
    sync load$tile triggers(loads) writes(ids[$slot]) does(dma, bytes=512, moves=load)
    gpsimd fetch$tile triggers(rows) reads(ids[$slot]) writes(x[$slot])
      does(dma, bytes=262144, moves=load)
    vector scale$tile reads(x[$slot]) writes(y[$slot]) does(tensor_scalar, elements=1024)
    scalar store$tile triggers(stores) reads(y[$slot]) does(dma, bytes=262144, moves=store)
    # end
  }
}
"""

SOURCE = Source(
    "gather", lambda size: {"table": "bfloat16[32000,1024]", "ids": f"int32[{size.n * 128},1]"}
)

KERNEL = text_kernel("gather", "embedding lookup", PROGRAM, {"n": 24}, source=SOURCE)
