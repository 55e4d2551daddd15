"""Cross entropy over a large vocabulary: running maximum and sum from chunk to chunk."""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @cross-entropy {
  input n
  input chunks
  queue loads on sync
  queue stores on gpsimd
  buffer logits slots $buffers space(sbuf)
  buffer top slots $buffers space(sbuf)
  buffer e slots $buffers space(sbuf)
  buffer total slots $buffers space(sbuf)
  buffer state space(sbuf)
  buffer loss slots 2 space(sbuf)
  loop p n {
    vector clear writes(state) does(memset, elements=2)
    loop v chunks {
      # tiles of v
      sync load$tile triggers(loads) writes(logits[$slot]) does(dma, bytes=524288, moves=load)
      vector max$tile reads(logits[$slot], state) writes(top[$slot], state)
        does(tensor_reduce, elements=2048)
      scalar exp$tile reads(logits[$slot], top[$slot]) writes(e[$slot], total[$slot])
        does(activation_reduce, elements=2048)
      vector add$tile reads(total[$slot], top[$slot], state) writes(state)
        does(scalar_tensor_tensor, elements=1)
      # end
    }
    scalar log reads(state) writes(loss[p % 2]) does(activation, elements=1)
    gpsimd store triggers(stores) reads(loss[p % 2]) does(dma, bytes=512, moves=store)
  }
}
"""

SOURCE = Source(
    "cross_entropy",
    lambda size: {
        "logits": f"float32[{size.n * 128},{size.chunks * 2048}]",
        "chosen": f"float32[{size.n * 128},1]",
    },
    {"p": "n", "v": "chunks"},
)

KERNEL = text_kernel(
    "cross-entropy",
    "cross entropy; inputs: tiles of positions, and iterations over the vocabulary",
    PROGRAM,
    {"n": 6, "chunks": 8},
    source=SOURCE,
)
