"""Transposition of a matrix: four blocks of a tile through the tensor engine and PSUM."""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @transpose {
  input n
  queue loads on sync
  queue stores on gpsimd
  buffer x slots $buffers space(sbuf)
  buffer flipped slots $buffers space(psum)
  buffer y slots $buffers space(sbuf)
  loop i n {
    # tiles of i
    sync load$tile triggers(loads) writes(x[$slot]) does(dma, bytes=131072, moves=load)
    loop b 4 {
      tensor flip$tile reads(x[$slot]) writes(flipped[$slot]) does(transpose, elements=128)
    }
    vector keep$tile reads(flipped[$slot]) writes(y[$slot]) does(tensor_copy, elements=512)
    gpsimd store$tile triggers(stores) reads(y[$slot]) does(dma, bytes=131072, moves=store)
    # end
  }
}
"""

SOURCE = Source(
    "transpose",
    lambda size: {"x": f"float32[{size.n * 512},128]", "identity": "float32[128,128]"},
)

KERNEL = text_kernel("transpose", "transposition of a matrix", PROGRAM, {"n": 32}, source=SOURCE)
