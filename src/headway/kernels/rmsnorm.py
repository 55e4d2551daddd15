"""RMSNorm over rows of 2,048: the sum comes with the squares; gamma is loaded once."""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @rmsnorm {
  input n
  queue loads on sync
  queue stores on gpsimd
  buffer gamma space(sbuf)
  buffer x slots $buffers space(sbuf)
  buffer squares slots $buffers space(sbuf)
  buffer total slots $buffers space(sbuf)
  buffer y slots $buffers space(sbuf)
  sync load_gamma triggers(loads) writes(gamma) does(dma, bytes=524288, moves=load)
  loop i n {
    # tiles of i
    sync load$tile triggers(loads) writes(x[$slot]) does(dma, bytes=524288, moves=load)
    scalar square$tile reads(x[$slot]) writes(squares[$slot], total[$slot])
      does(activation_reduce, elements=2048)
    scalar rsqrt$tile reads(total[$slot]) writes(total[$slot]) does(activation, elements=1)
    vector scale$tile reads(x[$slot], total[$slot], gamma) writes(y[$slot])
      does(scalar_tensor_tensor, elements=2048)
    gpsimd store$tile triggers(stores) reads(y[$slot]) does(dma, bytes=524288, moves=store)
    # end
  }
}
"""

SOURCE = Source(
    "rmsnorm", lambda size: {"x": f"float32[{size.n * 128},1024]", "gamma": "float32[1,1024]"}
)

KERNEL = text_kernel("rmsnorm", "RMSNorm over rows", PROGRAM, {"n": 24}, source=SOURCE)
