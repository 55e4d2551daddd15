"""Blocked matrix multiplication with run-time bounds: C[m, n] += A[m, k] B[k, n].

Blocks of A are [128, 128], of B and C [128, 512], in bfloat16; a block of C gathers its products
in one slot of PSUM, is copied to SBUF and stored. A and B are only read, and each block of C is
stored once, so HBM orders nothing here.
"""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @matmul {
  input m
  input n
  input k
  queue a_loads on sync
  queue b_loads on gpsimd
  queue stores on scalar
  buffer a slots $buffers space(sbuf)
  buffer b slots $buffers space(sbuf)
  buffer sums slots $buffers space(psum)
  buffer c slots $buffers space(sbuf)
  loop row m {
    loop column n {
      loop step k {
        # tiles of step
        sync load_a$tile triggers(a_loads) writes(a[$slot])
          does(dma, bytes=32768, dtype=bfloat16, moves=load)
        gpsimd load_b$tile triggers(b_loads) writes(b[$slot])
          does(dma, bytes=131072, dtype=bfloat16, moves=load)
        tensor multiply$tile reads(a[$slot], b[$slot], sums[column % $buffers])
          writes(sums[column % $buffers]) does(matmul, elements=512, dtype=bfloat16)
        # end
      }
      vector drain reads(sums[column % $buffers]) writes(c[column % $buffers])
          does(tensor_copy, elements=512, dtype=float32)
      scalar store triggers(stores) reads(c[column % $buffers])
          does(dma, bytes=131072, dtype=bfloat16, moves=store)
    }
  }
}
"""

SOURCE = Source(
    "matmul",
    lambda size: {
        "a": f"bfloat16[{size.k * 128},{size.m * 128}]",
        "b": f"bfloat16[{size.k * 128},{size.n * 512}]",
    },
    {"row": "m", "column": "n"},
)

KERNEL = text_kernel(
    "matmul",
    "blocked matrix multiplication; inputs: its bounds, m and n in blocks, k in iterations",
    PROGRAM,
    {"m": 4, "n": 2, "k": 8},
    source=SOURCE,
)
