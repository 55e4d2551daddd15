"""Attention over pages of run-time number: first prefill, then decode, each with loops of its own.

The number of a page lies in a tile on chip: the transfer that fetches the page reads it. Running
maximum, sum and output are carried from page to page.
"""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @paged-attention {
  input prefill
  input decode
  input pages[]
  queue loads on sync
  queue pages on gpsimd
  queue stores on scalar
  buffer table slots 2 space(sbuf)
  buffer q slots 2 space(sbuf)
  buffer kv slots $buffers space(sbuf)
  buffer scores slots $buffers space(psum)
  buffer p slots $buffers space(sbuf)
  buffer part slots $buffers space(psum)
  buffer state space(sbuf)
  buffer o slots 2 space(sbuf)
  loop t prefill {
    sync load_table triggers(loads) writes(table[t % 2]) does(dma, bytes=4096, moves=load)
    sync load_q triggers(loads) writes(q[t % 2]) does(dma, bytes=32768, moves=load)
    vector clear writes(state) does(memset, elements=130)
    loop g pages[t] {
      # tiles of g
      gpsimd fetch$tile triggers(pages) reads(table[t % 2]) writes(kv[$slot])
        does(dma, bytes=131072, moves=load)
      tensor score$tile reads(q[t % 2], kv[$slot]) writes(scores[$slot])
        does(matmul, elements=256, dtype=bfloat16)
      scalar exp$tile reads(scores[$slot], state) writes(p[$slot])
        does(activation_reduce, elements=256)
      tensor weigh$tile reads(p[$slot], kv[$slot]) writes(part[$slot])
        does(matmul, elements=128, dtype=bfloat16)
      vector rescale$tile reads(part[$slot], p[$slot], state) writes(state)
        does(scalar_tensor_tensor, elements=128)
      # end
    }
    vector divide reads(state) writes(o[t % 2]) does(tensor_scalar, elements=128)
    scalar store triggers(stores) reads(o[t % 2]) does(dma, bytes=32768, moves=store)
  }
  loop t decode {
    sync load_table_d triggers(loads) writes(table[t % 2]) does(dma, bytes=4096, moves=load)
    sync load_q_d triggers(loads) writes(q[t % 2]) does(dma, bytes=4096, moves=load)
    vector clear_d writes(state) does(memset, elements=130)
    # tiles of t
    gpsimd fetch_d$tile triggers(pages) reads(table[t % 2]) writes(kv[$slot])
      does(dma, bytes=131072, moves=load)
    tensor score_d$tile reads(q[t % 2], kv[$slot]) writes(scores[$slot])
      does(matmul, elements=64, dtype=bfloat16)
    scalar exp_d$tile reads(scores[$slot], state) writes(p[$slot])
      does(activation_reduce, elements=64)
    tensor weigh_d$tile reads(p[$slot], kv[$slot]) writes(part[$slot])
      does(matmul, elements=64, dtype=bfloat16)
    vector rescale_d$tile reads(part[$slot], p[$slot], state) writes(state)
      does(scalar_tensor_tensor, elements=64)
    # end
    vector divide_d reads(state) writes(o[t % 2]) does(tensor_scalar, elements=64)
    scalar store_d triggers(stores) reads(o[t % 2]) does(dma, bytes=4096, moves=store)
  }
}
"""

SOURCE = Source(
    "paged_attention",
    lambda size: {
        "q": f"bfloat16[{size.prefill},128,128]",
        "pages": "bfloat16[8192,256]",
        "table": f"int32[{size.prefill},128,16]",
        "lengths": f"int32[{size.prefill},1]",
        "q_new": f"bfloat16[{size.decode // size.tiles},128,1]",
        "table_new": f"int32[{size.decode // size.tiles},128,{size.tiles}]",
    },
    {"t": "prefill", "new": "decode", "g": "pages"},
    "attention",
)

KERNEL = text_kernel(
    "paged-attention",
    "paged attention; inputs: prefill tiles, decode tiles, and pages per prefill tile",
    PROGRAM,
    {"prefill": 6, "decode": 8, "pages": [1, 2, 3, 4, 5, 6]},
    source=SOURCE,
)
