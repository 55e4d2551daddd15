"""Max pooling, 3 by 3: nine shifted maxima in place, on the vector engine alone."""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @maxpool {
  input n
  queue loads on sync
  queue stores on gpsimd
  buffer image slots $buffers space(sbuf)
  buffer y slots $buffers space(sbuf)
  loop i n {
    # tiles of i
    sync load$tile triggers(loads) writes(image[$slot]) does(dma, bytes=524288, moves=load)
    vector start$tile reads(image[$slot]) writes(y[$slot]) does(tensor_copy, elements=512)
    loop tap 8 {
      vector max$tile reads(image[$slot], y[$slot]) writes(y[$slot])
        does(tensor_tensor, elements=512, dtype=bfloat16)
    }
    gpsimd store$tile triggers(stores) reads(y[$slot]) does(dma, bytes=131072, moves=store)
    # end
  }
}
"""

SOURCE = Source("maxpool", lambda size: {"image": f"float32[{size.n * 128 + 2},514]"})

KERNEL = text_kernel("maxpool", "max pooling, 3 by 3", PROGRAM, {"n": 24}, source=SOURCE)
