"""One-dimensional convolution: a block of the output sums up over input channels and taps in PSUM.

An image tile stays for all output channels.
"""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @conv1d {
  input n
  input channels
  queue loads on sync
  queue weights on gpsimd
  queue stores on scalar
  buffer image slots 2 space(sbuf)
  buffer w slots $buffers space(sbuf)
  buffer sums slots $buffers space(psum)
  buffer y slots $buffers space(sbuf)
  loop b n {
    sync load triggers(loads) writes(image[b % 2]) does(dma, bytes=524288, moves=load)
    loop c channels {
      # tiles of c
      gpsimd load_w$tile triggers(weights) writes(w[$slot]) does(dma, bytes=98304, moves=load)
      loop tap 3 {
        tensor multiply$tile reads(image[b % 2], w[$slot], sums[$slot]) writes(sums[$slot])
          does(matmul, elements=512, dtype=bfloat16)
      }
      vector drain$tile reads(sums[$slot]) writes(y[$slot]) does(tensor_copy, elements=512)
      scalar store$tile triggers(stores) reads(y[$slot]) does(dma, bytes=131072, moves=store)
      # end
    }
  }
}
"""

SOURCE = Source(
    "conv1d",
    lambda size: {
        "images": f"bfloat16[{size.n},128,514]",
        "weights": f"bfloat16[{size.channels},128,384]",
    },
    {"b": "n", "c": "channels"},
)

KERNEL = text_kernel(
    "conv1d",
    "one-dimensional convolution; inputs: images, and iterations over output channels",
    PROGRAM,
    {"n": 6, "channels": 8},
    source=SOURCE,
)
