"""Top k of router logits: eight values per round, each round after the one before."""

from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = """\
program @topk {
  input n
  input rounds
  queue loads on sync
  queue stores on gpsimd
  buffer logits slots $buffers space(sbuf)
  buffer top slots $buffers space(sbuf)
  buffer places slots $buffers space(sbuf)
  loop i n {
    # tiles of i
    sync load$tile triggers(loads) writes(logits[$slot]) does(dma, bytes=65536, moves=load)
    loop r rounds {
      vector max$tile reads(logits[$slot]) writes(top[$slot]) does(max8, elements=128)
      vector find$tile reads(logits[$slot], top[$slot]) writes(places[$slot])
        does(nc_find_index8, elements=128)
      vector replace$tile reads(logits[$slot], top[$slot]) writes(logits[$slot])
        does(nc_match_replace8, elements=128)
    }
    gpsimd store_top$tile triggers(stores) reads(top[$slot]) does(dma, bytes=4096, moves=store)
    gpsimd store_places$tile triggers(stores) reads(places[$slot])
      does(dma, bytes=4096, moves=store)
    # end
  }
}
"""

SOURCE = Source(
    "topk",
    lambda size: {"logits": f"float32[{size.n * 128},128]", "rounds": str(size.rounds)},
    {"i": "n", "r": "rounds"},
)

KERNEL = text_kernel(
    "topk",
    "top k; inputs: row tiles, and rounds of eight",
    PROGRAM,
    {"n": 24, "rounds": 2},
    source=SOURCE,
)
