"""RMSNorm and quantisation of wide rows: chunks stay on chip between the two passes over a row.

The first pass carries the sum of squares from chunk to chunk, the second needs all of it.
"""

from headway.kernels._text import text_kernel

PROGRAM = """\
program @rmsnorm-quant {
  input n
  input chunks
  queue loads on sync
  queue stores on gpsimd
  buffer x slots 8 space(sbuf)
  buffer squares slots 2 space(sbuf)
  buffer total slots $buffers space(sbuf)
  buffer scale slots $buffers space(sbuf)
  buffer y slots $buffers space(sbuf)
  loop i n {
    vector clear writes(total[i % $buffers]) does(memset, elements=1)
    loop c chunks {
      # tiles of c
      sync load$tile triggers(loads) writes(x[$number % 8])
        does(dma, bytes=262144, moves=load)
      scalar square$tile reads(x[$number % 8])
        writes(squares[$number % 2]) does(activation_reduce, elements=1024)
      vector add$tile reads(squares[$number % 2], total[i % $buffers])
        writes(total[i % $buffers]) does(tensor_tensor, elements=1)
      # end
    }
    scalar rsqrt reads(total[i % $buffers]) writes(scale[i % $buffers])
      does(activation, elements=1)
    loop c chunks {
      # tiles of c
      vector quantise$tile reads(x[$number % 8], scale[i % $buffers])
        writes(y[$slot]) does(tensor_scalar, elements=1024)
      gpsimd store$tile triggers(stores) reads(y[$slot]) does(dma, bytes=131072, moves=store)
      # end
    }
  }
}
"""

KERNEL = text_kernel(
    "rmsnorm-quant",
    "RMSNorm and quantisation of wide rows; inputs: row tiles, and iterations over a row's chunks",
    PROGRAM,
    {"n": 12, "chunks": 4},
)
