"""Recurrent delta rule: tiny operations, each of which needs the state of the token before.

There is nothing to overlap but the loads: a micro-benchmark of synchronization that real models
contain.
"""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @delta-rule {
  input n
  queue loads on sync
  queue stores on gpsimd
  buffer token slots $buffers space(sbuf)
  buffer state space(sbuf)
  buffer forgotten space(sbuf)
  buffer recalled space(psum)
  buffer error space(sbuf)
  buffer update space(psum)
  buffer answer space(psum)
  buffer o slots $buffers space(sbuf)
  vector clear writes(state) does(memset, elements=128)
  loop i n {
    # tiles of i
    sync load$tile triggers(loads) writes(token[$slot]) does(dma, bytes=2048, moves=load)
    scalar gate$tile reads(token[$slot]) writes(forgotten) does(activation, elements=1)
    vector decay$tile reads(state, forgotten) writes(state) does(tensor_scalar, elements=128)
    tensor recall$tile reads(state, token[$slot]) writes(recalled)
      does(matmul, elements=1, dtype=bfloat16)
    vector miss$tile reads(token[$slot], recalled) writes(error)
      does(scalar_tensor_tensor, elements=1)
    tensor outer$tile reads(token[$slot], error) writes(update)
      does(matmul, elements=128, dtype=bfloat16)
    vector learn$tile reads(state, update) writes(state) does(tensor_tensor, elements=128)
    tensor ask$tile reads(state, token[$slot]) writes(answer)
      does(matmul, elements=1, dtype=bfloat16)
    scalar keep$tile reads(answer) writes(o[$slot]) does(activation, elements=1)
    gpsimd store$tile triggers(stores) reads(o[$slot]) does(dma, bytes=2048, moves=store)
    # end
  }
}
"""

SOURCE = Source(
    "delta_rule",
    lambda size: {"columns": f"float32[{size.n},128,3]", "rows": f"float32[{size.n},1,256]"},
)

KERNEL = text_kernel(
    "delta-rule", "recurrent delta rule, token by token", PROGRAM, {"n": 64}, source=SOURCE
)
