"""A gated MLP (SwiGLU) with weights on chip: the first phase writes what the second sums up.

Every tile of tokens makes four blocks of hidden values; each of two blocks of the result is the sum
over all four in PSUM.
"""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @mlp {
  input n
  queue loads on sync
  queue stores on gpsimd
  buffer w slots 3 space(sbuf)
  buffer x slots $buffers space(sbuf)
  buffer gates slots 2 space(psum)
  buffer ups slots 2 space(psum)
  buffer silu slots 2 space(sbuf)
  buffer hidden slots 4 space(sbuf)
  buffer sums slots 2 space(psum)
  buffer y slots 2 space(sbuf)
  sync load_gate triggers(loads) writes(w[0]) does(dma, bytes=524288, moves=load)
  sync load_up triggers(loads) writes(w[1]) does(dma, bytes=524288, moves=load)
  sync load_down triggers(loads) writes(w[2]) does(dma, bytes=524288, moves=load)
  loop i n {
    # tiles of i
    sync load$tile triggers(loads) writes(x[$slot]) does(dma, bytes=131072, moves=load)
    loop f 4 {
      tensor gate$tile reads(x[$slot], w[0]) writes(gates[f % 2])
        does(matmul, elements=512, dtype=bfloat16)
      tensor up$tile reads(x[$slot], w[1]) writes(ups[f % 2])
        does(matmul, elements=512, dtype=bfloat16)
      scalar silu$tile reads(gates[f % 2]) writes(silu[f % 2]) does(activation, elements=512)
      vector product$tile reads(silu[f % 2], ups[f % 2]) writes(hidden[f])
        does(tensor_tensor, elements=512, dtype=bfloat16)
    }
    loop d 2 {
      loop f 4 {
        tensor down$tile reads(hidden[f], w[2], sums[d]) writes(sums[d])
          does(matmul, elements=512, dtype=bfloat16)
      }
      vector drain$tile reads(sums[d]) writes(y[d]) does(tensor_copy, elements=512)
      gpsimd store$tile triggers(stores) reads(y[d]) does(dma, bytes=131072, moves=store)
    }
    # end
  }
}
"""

SOURCE = Source(
    "mlp",
    lambda size: {
        "x": f"bfloat16[128,{size.n * 512}]",
        "gate": "bfloat16[128,512]",
        "up": "bfloat16[128,512]",
        "down": "bfloat16[512,256]",
    },
)

KERNEL = text_kernel(
    "mlp", "gated MLP (SwiGLU), weights on chip", PROGRAM, {"n": 16}, source=SOURCE
)
