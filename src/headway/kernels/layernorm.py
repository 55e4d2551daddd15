"""LayerNorm over rows of 2,048: statistics in chunks of 512, weights loaded once for all rows."""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @layernorm {
  input n
  queue loads on sync
  queue stores on gpsimd
  buffer weights slots 2 space(sbuf)
  buffer x slots $buffers space(sbuf)
  buffer chunks slots $buffers space(sbuf)
  buffer moments slots $buffers space(sbuf)
  buffer deviation slots $buffers space(sbuf)
  buffer y slots $buffers space(sbuf)
  buffer z slots $buffers space(sbuf)
  sync load_gamma triggers(loads) writes(weights[0]) does(dma, bytes=524288, moves=load)
  sync load_beta triggers(loads) writes(weights[1]) does(dma, bytes=524288, moves=load)
  loop i n {
    # tiles of i
    sync load$tile triggers(loads) writes(x[$slot]) does(dma, bytes=524288, moves=load)
    loop c 4 {
      vector stats$tile reads(x[$slot]) writes(chunks[$slot]) does(bn_stats, elements=512)
    }
    vector aggregate$tile reads(chunks[$slot]) writes(moments[$slot]) does(bn_aggr, elements=24)
    scalar rsqrt$tile reads(moments[$slot]) writes(deviation[$slot]) does(activation, elements=1)
    scalar normalize$tile reads(x[$slot], moments[$slot], deviation[$slot]) writes(y[$slot])
      does(activation, elements=2048)
    vector gamma$tile reads(y[$slot], weights[0]) writes(z[$slot])
      does(tensor_tensor, elements=2048, dtype=bfloat16)
    gpsimd beta$tile reads(z[$slot], weights[1]) writes(z[$slot])
      does(tensor_tensor, elements=2048, dtype=bfloat16)
    gpsimd store$tile triggers(stores) reads(z[$slot]) does(dma, bytes=524288, moves=store)
    # end
  }
}
"""

SOURCE = Source(
    "layernorm",
    lambda size: {
        "x": f"float32[{size.n * 128},2048]",
        "gamma": "float32[1,2048]",
        "beta": "float32[1,2048]",
    },
)

KERNEL = text_kernel(
    "layernorm", "LayerNorm over rows, in chunks", PROGRAM, {"n": 24}, source=SOURCE
)
