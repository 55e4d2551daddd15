"""The block of a mixture of experts: gather tokens, gate and up, down, add to what is there.

The rows of a block's tokens are gathered from HBM, added to and scattered back. Which rows these
are is known at run time only, so the next block's gather has to wait for this block's scatter.
"""

QUEUES = """\
  queue loads on sync
  queue rows on gpsimd
  queue weights on scalar
"""
BUFFERS = """\
  buffer index space(sbuf)
  buffer out space(hbm)
  buffer w1 slots 2 space(sbuf)
  buffer w2 slots 2 space(sbuf)
  buffer x slots $buffers space(sbuf)
  buffer sums slots $buffers space(psum)
  buffer h slots $buffers space(sbuf)
  buffer down slots $buffers space(psum)
  buffer old slots $buffers space(sbuf)
  buffer y slots $buffers space(sbuf)
"""


def weights(expert: str, suffix: str = "") -> str:
    """Return the loads of the two weights of an expert."""
    return f"""\
    scalar load_w1{suffix} triggers(weights) writes(w1[{expert} % 2])
      does(dma, bytes=131072, moves=load)
    scalar load_w2{suffix} triggers(weights) writes(w2[{expert} % 2])
      does(dma, bytes=131072, moves=load)
"""


def block(expert: str, slot: str, suffix: str = "") -> str:
    """Return the instructions of a block of tokens."""
    return f"""\
      gpsimd gather{suffix} triggers(rows) reads(index) writes(x[{slot}])
        does(dma, bytes=131072, moves=load)
      tensor up{suffix} reads(x[{slot}], w1[{expert} % 2]) writes(sums[{slot}])
        does(matmul, elements=512, dtype=bfloat16)
      scalar silu{suffix} reads(sums[{slot}]) writes(h[{slot}]) does(activation, elements=512)
      tensor down{suffix} reads(h[{slot}], w2[{expert} % 2]) writes(down[{slot}])
        does(matmul, elements=512, dtype=bfloat16)
      gpsimd fetch{suffix} triggers(rows) reads(index, out) writes(old[{slot}])
        does(dma, bytes=131072, moves=load)
      vector add{suffix} reads(down[{slot}], old[{slot}]) writes(y[{slot}])
        does(tensor_tensor, elements=512)
      gpsimd scatter{suffix} triggers(rows) reads(index, y[{slot}]) writes(out)
        does(dma, bytes=131072, moves=store)
"""
