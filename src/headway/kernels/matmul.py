"""Blocked matrix multiplication with run-time bounds: C[m, n] += A[m, k] B[k, n].

Blocks of A are [128, 128], of B and C [128, 512], in bfloat16; a block of C gathers its k products
in one slot of PSUM, is copied to SBUF and stored. A and B are only read, and each block of C is
stored once, so HBM orders nothing here.
"""

from __future__ import annotations

from string import Template

from headway.ir import parse
from headway.ir.program import Program
from headway.kernels.kernel import Kernel, Parameter

PROGRAM = Template("""\
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
        sync load_a triggers(a_loads) writes(a[step % $buffers]) \
does(dma, bytes=32768, dtype=bfloat16, moves=load)
        gpsimd load_b triggers(b_loads) writes(b[step % $buffers]) \
does(dma, bytes=131072, dtype=bfloat16, moves=load)
        tensor multiply reads(a[step % $buffers], b[step % $buffers], sums[column % $buffers]) \
writes(sums[column % $buffers]) does(matmul, elements=512, dtype=bfloat16)
      }
      vector drain reads(sums[column % $buffers]) writes(c[column % $buffers]) \
does(tensor_copy, elements=512, dtype=float32)
      scalar store triggers(stores) reads(c[column % $buffers]) \
does(dma, bytes=131072, dtype=bfloat16, moves=store)
    }
  }
}
""")


def build(buffers: int) -> Program:
    """Return the blocked multiplication with `buffers` slots for every kind of block."""
    return parse(PROGRAM.substitute(buffers=buffers), "matmul")


KERNEL = Kernel(
    "matmul",
    "blocked matrix multiplication; inputs m, n, k are its bounds in blocks",
    (Parameter("buffers", 2, "slots per kind of block"),),
    {"m": 4, "n": 2, "k": 8},
    build,
)
