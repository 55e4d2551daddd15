"""Mixture of experts, backward: two gradients of activations, two of weights, one of the tokens.

Gradients of weights sum up in PSUM over all blocks of an expert. The gradient of the tokens is
added to rows in HBM, block after block.
"""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @moe-backward {
  input experts
  input blocks[]
  queue loads on sync
  queue rows on gpsimd
  queue stores on scalar
  buffer index space(sbuf)
  buffer out space(hbm)
  buffer w slots 2 space(sbuf)
  buffer x slots $buffers space(sbuf)
  buffer dy slots $buffers space(sbuf)
  buffer dh_part slots $buffers space(psum)
  buffer h_part slots $buffers space(psum)
  buffer h slots $buffers space(sbuf)
  buffer dh slots $buffers space(sbuf)
  buffer flipped slots $buffers space(psum)
  buffer dht slots $buffers space(sbuf)
  buffer dx_part slots $buffers space(psum)
  buffer old slots $buffers space(sbuf)
  buffer dx slots $buffers space(sbuf)
  buffer dw_down space(psum)
  buffer dw_up space(psum)
  buffer dw slots 2 space(sbuf)
  sync load_index triggers(loads) writes(index) does(dma, bytes=4096, moves=load)
  loop e experts {
    sync load_w triggers(loads) writes(w[e % 2]) does(dma, bytes=262144, moves=load)
    vector clear writes(dw_down, dw_up) does(memset, elements=512)
    loop t blocks[e] {
      # tiles of t
      gpsimd gather_x$tile triggers(rows) reads(index) writes(x[$slot])
        does(dma, bytes=131072, moves=load)
      gpsimd gather_dy$tile triggers(rows) reads(index) writes(dy[$slot])
        does(dma, bytes=131072, moves=load)
      tensor up$tile reads(x[$slot], w[e % 2]) writes(h_part[$slot])
        does(matmul, elements=512, dtype=bfloat16)
      scalar silu$tile reads(h_part[$slot]) writes(h[$slot]) does(activation, elements=512)
      tensor slope$tile reads(dy[$slot], w[e % 2]) writes(dh_part[$slot])
        does(matmul, elements=512, dtype=bfloat16)
      vector chain$tile reads(dh_part[$slot], h[$slot]) writes(dh[$slot])
        does(tensor_tensor, elements=512)
      tensor weight_down$tile reads(h[$slot], dy[$slot], dw_down) writes(dw_down)
        does(matmul, elements=512, dtype=bfloat16)
      tensor weight_up$tile reads(x[$slot], dh[$slot], dw_up) writes(dw_up)
        does(matmul, elements=512, dtype=bfloat16)
      loop b 4 {
        tensor flip$tile reads(dh[$slot]) writes(flipped[$slot]) does(transpose, elements=128)
      }
      scalar keep$tile reads(flipped[$slot]) writes(dht[$slot]) does(activation, elements=512)
      tensor token$tile reads(dht[$slot], w[e % 2]) writes(dx_part[$slot])
        does(matmul, elements=512, dtype=bfloat16)
      gpsimd fetch$tile triggers(rows) reads(index, out) writes(old[$slot])
        does(dma, bytes=131072, moves=load)
      vector add$tile reads(dx_part[$slot], old[$slot]) writes(dx[$slot])
        does(tensor_tensor, elements=512)
      gpsimd scatter$tile triggers(rows) reads(index, dx[$slot]) writes(out)
        does(dma, bytes=131072, moves=store)
      # end
    }
    vector drain_down reads(dw_down) writes(dw[0]) does(tensor_copy, elements=512)
    vector drain_up reads(dw_up) writes(dw[1]) does(tensor_copy, elements=512)
    scalar store_down triggers(stores) reads(dw[0]) does(dma, bytes=131072, moves=store)
    scalar store_up triggers(stores) reads(dw[1]) does(dma, bytes=131072, moves=store)
  }
}
"""

SOURCE = Source(
    "moe_backward",
    lambda size: {
        **dict.fromkeys(("x", "dy", "dx"), "bfloat16[4096,128]"),
        "weights": f"bfloat16[{size.experts},128,384]",
        "order": f"int32[128,{size.experts * 8}]",
        "lengths": f"int32[{size.experts},1]",
    },
    {"e": "experts", "t": "blocks"},
    "moe",
)

KERNEL = text_kernel(
    "moe-backward",
    "mixture of experts, backward; inputs: experts, and blocks of tokens of each",
    PROGRAM,
    {"experts": 6, "blocks": [2, 0, 3, 1, 2, 1]},
    source=SOURCE,
)
