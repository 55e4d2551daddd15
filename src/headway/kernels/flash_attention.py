"""Flash attention, forward and causal: key tile by key tile with running maximum, sum and output.

The trip count of the inner loop grows with the query tile. The running state is carried by the
vector engine from key tile to key tile.
"""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @flash-attention {
  input n
  queue q_loads on sync
  queue kv_loads on gpsimd
  queue stores on scalar
  buffer q slots 2 space(sbuf)
  buffer k slots $buffers space(sbuf)
  buffer v slots $buffers space(sbuf)
  buffer scores slots $buffers space(psum)
  buffer top slots $buffers space(sbuf)
  buffer p slots $buffers space(sbuf)
  buffer total slots $buffers space(sbuf)
  buffer flipped slots $buffers space(psum)
  buffer pt slots $buffers space(sbuf)
  buffer part slots $buffers space(psum)
  buffer state space(sbuf)
  buffer o slots 2 space(sbuf)
  loop q n {
    sync load_q triggers(q_loads) writes(q[q % 2]) does(dma, bytes=32768, moves=load)
    vector clear writes(state) does(memset, elements=130)
    loop j (q + $tiles) // $tiles {
      # tiles of j
      gpsimd load_k$tile triggers(kv_loads) writes(k[$slot]) does(dma, bytes=131072, moves=load)
      gpsimd load_v$tile triggers(kv_loads) writes(v[$slot]) does(dma, bytes=131072, moves=load)
      tensor score$tile reads(q[q % 2], k[$slot]) writes(scores[$slot])
        does(matmul, elements=512, dtype=bfloat16)
      vector max$tile reads(scores[$slot], state) writes(top[$slot], state)
        does(tensor_reduce, elements=512)
      scalar exp$tile reads(scores[$slot], top[$slot]) writes(p[$slot], total[$slot])
        does(activation_reduce, elements=512)
      loop b 4 {
        tensor flip$tile reads(p[$slot]) writes(flipped[$slot]) does(transpose, elements=128)
      }
      vector keep$tile reads(flipped[$slot]) writes(pt[$slot]) does(tensor_copy, elements=512)
      loop b 4 {
        tensor weigh$tile reads(pt[$slot], v[$slot], part[$slot]) writes(part[$slot])
          does(matmul, elements=128, dtype=bfloat16)
      }
      vector rescale$tile reads(part[$slot], total[$slot], top[$slot], state) writes(state)
        does(scalar_tensor_tensor, elements=128)
      # end
    }
    vector divide reads(state) writes(o[q % 2]) does(tensor_scalar, elements=128)
    scalar store triggers(stores) reads(o[q % 2]) does(dma, bytes=32768, moves=store)
  }
}
"""

SOURCE = Source(
    "flash_attention",
    lambda size: {
        **dict.fromkeys("qk", f"bfloat16[128,{size.n * size.tiles * 128}]"),
        "v": f"bfloat16[{size.n * size.tiles * 128},128]",
    },
    {"row": "n"},
    "attention",
)

KERNEL = text_kernel(
    "flash-attention",
    "flash attention, forward, causal; n query tiles",
    PROGRAM,
    {"n": 16},
    source=SOURCE,
)
