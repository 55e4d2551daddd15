"""RMSNorm and quantisation of wide rows: chunks stay on chip between the two passes over a row.

The first pass carries the sum of squares from chunk to chunk, the second needs all of it.
"""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @rmsnorm-quant {
  input n
  queue loads on sync
  queue stores on gpsimd
  buffer x slots $fourfold space(sbuf)
  buffer squares slots 2 space(sbuf)
  buffer total slots $buffers space(sbuf)
  buffer scale slots $buffers space(sbuf)
  buffer y slots 2 space(sbuf)
  loop i n {
    # tiles of i
    vector clear$tile writes(total[$slot]) does(memset, elements=1)
    loop c 4 {
      sync load$tile triggers(loads) writes(x[($slot) * 4 + c])
        does(dma, bytes=262144, moves=load)
      scalar square$tile reads(x[($slot) * 4 + c]) writes(squares[c % 2])
        does(activation_reduce, elements=1024)
      vector add$tile reads(squares[c % 2], total[$slot]) writes(total[$slot])
        does(tensor_tensor, elements=1)
    }
    scalar rsqrt$tile reads(total[$slot]) writes(scale[$slot]) does(activation, elements=1)
    loop c 4 {
      vector quantise$tile reads(x[($slot) * 4 + c], scale[$slot]) writes(y[c % 2])
        does(tensor_scalar, elements=1024)
      gpsimd store$tile triggers(stores) reads(y[c % 2]) does(dma, bytes=131072, moves=store)
    }
    # end
  }
}
"""

SOURCE = Source("rmsnorm_quant", lambda size: {"x": f"float32[{size.n * 128},4096]"})

KERNEL = text_kernel(
    "rmsnorm-quant",
    "RMSNorm and quantisation of wide rows, in chunks",
    PROGRAM,
    {"n": 12},
    source=SOURCE,
)
