"""Attention of one new token: contexts of run-time length, one softmax over all of each."""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @token-attention {
  input n
  input context[]
  queue k_loads on sync
  queue v_loads on gpsimd
  queue stores on scalar
  buffer q slots 2 space(sbuf)
  buffer k slots $buffers space(sbuf)
  buffer v slots $buffers space(sbuf)
  buffer part slots $buffers space(psum)
  buffer scores slots 2 space(sbuf)
  buffer top slots 2 space(sbuf)
  buffer p slots 2 space(sbuf)
  buffer total slots 2 space(sbuf)
  buffer sums space(psum)
  buffer o slots 2 space(sbuf)
  loop b n {
    sync load_q triggers(k_loads) writes(q[b % 2]) does(dma, bytes=32768, moves=load)
    vector clear writes(top[b % 2]) does(memset, elements=1)
    loop s context[b] {
      # tiles of s
      sync load_k$tile triggers(k_loads) writes(k[$slot]) does(dma, bytes=131072, moves=load)
      tensor score$tile reads(q[b % 2], k[$slot]) writes(part[$slot])
        does(matmul, elements=512, dtype=bfloat16)
      scalar keep$tile reads(part[$slot]) writes(scores[b % 2]) does(activation, elements=512)
      vector max$tile reads(part[$slot], top[b % 2]) writes(top[b % 2])
        does(tensor_reduce, elements=512)
      # end
    }
    scalar exp reads(scores[b % 2], top[b % 2]) writes(p[b % 2], total[b % 2])
      does(activation_reduce, elements=2048)
    vector invert reads(total[b % 2]) writes(total[b % 2]) does(reciprocal, elements=1)
    loop s context[b] {
      # tiles of s
      gpsimd load_v$tile triggers(v_loads) writes(v[$slot]) does(dma, bytes=131072, moves=load)
      tensor weigh$tile reads(p[b % 2], v[$slot], sums) writes(sums)
        does(matmul, elements=128, dtype=bfloat16)
      # end
    }
    vector scale reads(sums, total[b % 2]) writes(o[b % 2]) does(tensor_scalar, elements=128)
    scalar store triggers(stores) reads(o[b % 2]) does(dma, bytes=32768, moves=store)
  }
}
"""

SOURCE = Source(
    "token_attention",
    lambda size: {
        "q": f"bfloat16[{size.n},128,128]",
        "k": f"bfloat16[{size.n},128,2048]",
        "v": f"bfloat16[{size.n},2048,128]",
        "lengths": f"int32[{size.n},1]",
    },
    {"b": "n", "s": "context"},
    "attention",
)

KERNEL = text_kernel(
    "token-attention",
    "attention of one new token; a context per sequence",
    PROGRAM,
    {"n": 8, "context": [4, 1, 0, 6, 3, 2, 5, 4]},
    source=SOURCE,
)
