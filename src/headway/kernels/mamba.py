"""Selective scan (Mamba): the state of each channel group is carried from sequence tile to tile."""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @mamba {
  input groups
  input n
  queue loads on sync
  queue inputs on gpsimd
  queue stores on scalar
  buffer a slots 2 space(sbuf)
  buffer dt slots $buffers space(sbuf)
  buffer u slots $buffers space(sbuf)
  buffer bc slots $buffers space(sbuf)
  buffer decay slots $buffers space(sbuf)
  buffer gain slots $buffers space(sbuf)
  buffer scan slots $buffers space(sbuf)
  buffer state space(sbuf)
  buffer y slots $buffers space(sbuf)
  loop c groups {
    sync load_a triggers(loads) writes(a[c % 2]) does(dma, bytes=8192, moves=load)
    vector clear writes(state) does(memset, elements=1)
    loop i n {
      # tiles of i
      sync load_dt$tile triggers(loads) writes(dt[$slot]) does(dma, bytes=131072, moves=load)
      sync load_u$tile triggers(loads) writes(u[$slot]) does(dma, bytes=131072, moves=load)
      gpsimd load_bc$tile triggers(inputs) writes(bc[$slot]) does(dma, bytes=262144, moves=load)
      scalar decay$tile reads(dt[$slot], a[c % 2]) writes(decay[$slot])
        does(activation, elements=512)
      gpsimd gain$tile reads(dt[$slot], u[$slot], bc[$slot]) writes(gain[$slot])
        does(tensor_tensor, elements=512, dtype=bfloat16)
      vector scan$tile reads(decay[$slot], gain[$slot], state) writes(scan[$slot], state)
        does(tensor_tensor_scan, elements=512)
      vector out$tile reads(scan[$slot], bc[$slot]) writes(y[$slot])
        does(tensor_tensor, elements=512, dtype=bfloat16)
      scalar store$tile triggers(stores) reads(y[$slot]) does(dma, bytes=131072, moves=store)
      # end
    }
  }
}
"""

SOURCE = Source(
    "selective_scan",
    lambda size: {
        **dict.fromkeys(("delta", "u"), f"float32[{size.groups * 128},{size.n * 512}]"),
        "a": f"float32[{size.groups * 128},1]",
        **dict.fromkeys(("b", "c"), f"float32[1,{size.n * 512}]"),
    },
    {"g": "groups", "i": "n"},
)

KERNEL = text_kernel(
    "mamba",
    "selective scan; inputs: groups of channels, and iterations over the sequence",
    PROGRAM,
    {"groups": 3, "n": 8},
    source=SOURCE,
)
