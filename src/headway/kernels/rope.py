"""Rotary position embedding: sines and cosines stay for all heads of a sequence tile."""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @rope {
  input n
  input heads
  queue loads on sync
  queue stores on gpsimd
  buffer waves slots 2 space(sbuf)
  buffer x slots $buffers space(sbuf)
  buffer straight slots $buffers space(sbuf)
  buffer turned slots $buffers space(sbuf)
  buffer y slots $buffers space(sbuf)
  loop s n {
    sync load_waves triggers(loads) writes(waves[s % 2]) does(dma, bytes=65536, moves=load)
    loop h heads {
      # tiles of h
      sync load$tile triggers(loads) writes(x[$slot]) does(dma, bytes=131072, moves=load)
      vector cosine$tile reads(x[$slot], waves[s % 2]) writes(straight[$slot])
        does(tensor_tensor, elements=512, dtype=bfloat16)
      gpsimd sine$tile reads(x[$slot], waves[s % 2]) writes(turned[$slot])
        does(tensor_tensor, elements=512, dtype=bfloat16)
      vector add$tile reads(straight[$slot], turned[$slot]) writes(y[$slot])
        does(tensor_tensor, elements=512, dtype=bfloat16)
      gpsimd store$tile triggers(stores) reads(y[$slot]) does(dma, bytes=131072, moves=store)
      # end
    }
  }
}
"""

SOURCE = Source(
    "rope",
    lambda size: {
        "x": f"bfloat16[{size.heads},{size.n * 128},512]",
        "cosines": f"bfloat16[{size.n * 128},512]",
        "sines": f"bfloat16[{size.n * 128},512]",
    },
    {"s": "n", "h": "heads"},
)

KERNEL = text_kernel(
    "rope",
    "rotary position embedding; inputs: sequence tiles, and iterations over heads",
    PROGRAM,
    {"n": 4, "heads": 8},
    source=SOURCE,
)
