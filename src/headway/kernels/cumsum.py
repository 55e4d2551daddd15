"""Cumulative sum along rows: the last column of a tile starts the scan of the next."""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @cumsum {
  input rows
  input n
  queue loads on sync
  queue stores on gpsimd
  buffer x slots $buffers space(sbuf)
  buffer carried space(sbuf)
  buffer y slots $buffers space(sbuf)
  loop r rows {
    vector clear writes(carried) does(memset, elements=1)
    loop i n {
      # tiles of i
      sync load$tile triggers(loads) writes(x[$slot]) does(dma, bytes=262144, moves=load)
      vector scan$tile reads(x[$slot], carried) writes(y[$slot])
        does(tensor_tensor_scan, elements=512)
      scalar keep$tile reads(y[$slot]) writes(carried) does(activation, elements=1)
      gpsimd store$tile triggers(stores) reads(y[$slot]) does(dma, bytes=262144, moves=store)
      # end
    }
  }
}
"""

SOURCE = Source(
    "cumsum",
    lambda size: {"x": f"float32[{size.rows * 128},{size.n * 512}]"},
    {"r": "rows", "i": "n"},
)

KERNEL = text_kernel(
    "cumsum",
    "cumulative sum; inputs: row tiles, and iterations over columns",
    PROGRAM,
    {"rows": 4, "n": 8},
    source=SOURCE,
)
