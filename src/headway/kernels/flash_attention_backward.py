"""Flash attention, backward and causal: over key tiles, inside over the queries that see them.

The gradients of K and V are sums in PSUM over the inner loop. That of Q is a sum over the outer
loop, kept on chip for all query tiles, so its dependence spans the whole inner loop.
"""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @flash-attention-backward {
  input n
  input heads
  queue kv_loads on sync
  queue q_loads on gpsimd
  queue stores on scalar
  buffer k slots 2 space(sbuf)
  buffer v slots 2 space(sbuf)
  buffer q slots $buffers space(sbuf)
  buffer do slots $buffers space(sbuf)
  buffer scores slots $buffers space(psum)
  buffer p slots $buffers space(sbuf)
  buffer dp slots $buffers space(psum)
  buffer ds slots $buffers space(sbuf)
  buffer flipped slots $buffers space(psum)
  buffer dst slots $buffers space(sbuf)
  buffer part slots $buffers space(psum)
  buffer dk_sum space(psum)
  buffer dv_sum space(psum)
  buffer dk slots 2 space(sbuf)
  buffer dv slots 2 space(sbuf)
  buffer dq slots 16 space(sbuf)
  loop h heads {
    loop clear n {
      gpsimd zero writes(dq[clear % 16]) does(memset, elements=128)
    }
    loop j n {
      sync load_k triggers(kv_loads) writes(k[j % 2]) does(dma, bytes=32768, moves=load)
      sync load_v triggers(kv_loads) writes(v[j % 2]) does(dma, bytes=32768, moves=load)
      loop i (n - j + $tiles - 1) // $tiles {
        # tiles of i
        gpsimd load_q$tile triggers(q_loads) writes(q[$slot]) does(dma, bytes=32768, moves=load)
        gpsimd load_do$tile triggers(q_loads) writes(do[$slot]) does(dma, bytes=32768, moves=load)
        tensor score$tile reads(q[$slot], k[j % 2]) writes(scores[$slot])
          does(matmul, elements=128, dtype=bfloat16)
        scalar exp$tile reads(scores[$slot]) writes(p[$slot]) does(activation, elements=128)
        tensor value$tile reads(p[$slot], do[$slot], dv_sum) writes(dv_sum)
          does(matmul, elements=128, dtype=bfloat16)
        tensor slope$tile reads(do[$slot], v[j % 2]) writes(dp[$slot])
          does(matmul, elements=128, dtype=bfloat16)
        vector delta$tile reads(dp[$slot], p[$slot]) writes(ds[$slot])
          does(scalar_tensor_tensor, elements=128)
        tensor key$tile reads(ds[$slot], q[$slot], dk_sum) writes(dk_sum)
          does(matmul, elements=128, dtype=bfloat16)
        tensor flip$tile reads(ds[$slot]) writes(flipped[$slot]) does(transpose, elements=128)
        vector keep$tile reads(flipped[$slot]) writes(dst[$slot]) does(tensor_copy, elements=128)
        tensor query$tile reads(dst[$slot], k[j % 2]) writes(part[$slot])
          does(matmul, elements=128, dtype=bfloat16)
        vector add$tile reads(part[$slot], dq[(j + $number) % 16])
          writes(dq[(j + $number) % 16]) does(tensor_tensor, elements=128)
        # end
      }
      scalar drain_k reads(dk_sum) writes(dk[j % 2]) does(activation, elements=128)
      scalar drain_v reads(dv_sum) writes(dv[j % 2]) does(activation, elements=128)
      scalar store_k triggers(stores) reads(dk[j % 2]) does(dma, bytes=32768, moves=store)
      scalar store_v triggers(stores) reads(dv[j % 2]) does(dma, bytes=32768, moves=store)
    }
    loop i n {
      scalar store_q triggers(stores) reads(dq[i % 16]) does(dma, bytes=65536, moves=store)
    }
  }
}
"""

SOURCE = Source(
    "attention_backward",
    lambda size: {
        **dict.fromkeys(("q", "dy", "k"), f"bfloat16[{size.heads},{size.n},128,256]"),
        "v": f"bfloat16[{size.heads},{size.n},128,128]",
        "stats": f"float32[{size.heads},{size.n},128,3]",
    },
    {"h": "heads"},
)

KERNEL = text_kernel(
    "flash-attention-backward",
    "flash attention, backward, causal; inputs: tiles of a sequence (up to 16), heads",
    PROGRAM,
    {"n": 8, "heads": 2},
    source=SOURCE,
)
