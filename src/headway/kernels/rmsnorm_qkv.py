"""RMSNorm fused with a projection: rows are normalized, transposed, multiplied by 3 x 512 columns.

The product sums up over four blocks of K in PSUM.
"""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @rmsnorm-qkv {
  input n
  queue loads on sync
  queue stores on gpsimd
  buffer w space(sbuf)
  buffer x slots $buffers space(sbuf)
  buffer total slots $buffers space(sbuf)
  buffer xn slots $buffers space(sbuf)
  buffer flipped slots 2 space(psum)
  buffer xt slots 4 space(sbuf)
  buffer sums slots 2 space(psum)
  buffer out slots 2 space(sbuf)
  sync load_w triggers(loads) writes(w) does(dma, bytes=1572864, moves=load)
  loop i n {
    # tiles of i
    sync load$tile triggers(loads) writes(x[$slot]) does(dma, bytes=131072, moves=load)
    scalar square$tile reads(x[$slot]) writes(total[$slot])
      does(activation_reduce, elements=512)
    scalar rsqrt$tile reads(total[$slot]) writes(total[$slot]) does(activation, elements=1)
    vector normalize$tile reads(x[$slot], total[$slot]) writes(xn[$slot])
      does(tensor_scalar, elements=512)
    loop k 4 {
      tensor flip$tile reads(xn[$slot]) writes(flipped[k % 2]) does(transpose, elements=128)
      vector keep$tile reads(flipped[k % 2]) writes(xt[k]) does(tensor_copy, elements=128)
    }
    loop part 3 {
      loop k 4 {
        tensor multiply$tile reads(xt[k], w, sums[part % 2]) writes(sums[part % 2])
          does(matmul, elements=512, dtype=bfloat16)
      }
      scalar drain$tile reads(sums[part % 2]) writes(out[part % 2])
        does(activation, elements=512)
      gpsimd store$tile triggers(stores) reads(out[part % 2]) does(dma, bytes=131072, moves=store)
    }
    # end
  }
}
"""

SOURCE = Source(
    "rmsnorm_qkv",
    lambda size: {"x": f"bfloat16[{size.n * 128},512]", "weights": "bfloat16[512,1536]"},
)

KERNEL = text_kernel(
    "rmsnorm-qkv",
    "RMSNorm fused with the projection to Q, K and V",
    PROGRAM,
    {"n": 16},
    source=SOURCE,
)
