"""Mixture of experts for token generation: for each expert blocks as long as there are any.

Whether there is another block is loaded by a transfer at the end of each, and read by all engines.
"""

from headway.kernels import _moe
from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = f"""\
program @moe-while {{
  input experts
  input blocks[]
{_moe.QUEUES}{_moe.BUFFERS}
  buffer more space(hbm)
  buffer state space(sbuf)
  queue marks on sync
  sync load_index triggers(loads) writes(index) does(dma, bytes=4096, moves=load)
  loop e experts {{
{_moe.weights("e")}
    gpsimd first reads(index) writes(state) does(iota, elements=1)
    sync mark_first triggers(marks) reads(state) writes(more) does(dma, bytes=4, moves=store)
    while t (t < blocks[e]) load another reads(more) {{
      # tiles of t
{_moe.block("e", "$slot", "$tile")}
      # end
      gpsimd next reads(index, state) writes(state) does(iota, elements=1)
      sync mark triggers(marks) reads(state) writes(more) does(dma, bytes=4, moves=store)
    }}
  }}
}}
"""

SOURCE = Source(
    "moe_while",
    lambda size: {
        **dict.fromkeys("xy", "bfloat16[4096,512]"),
        **dict.fromkeys(("up", "down"), f"bfloat16[{size.experts},128,512]"),
        "starts": f"int32[128,{size.experts}]",
        "lengths": f"int32[{size.experts},1]",
    },
    {"e": "experts", "going": "blocks"},
    "moe",
)

KERNEL = text_kernel(
    "moe-while",
    "mixture of experts: while there are blocks; inputs: experts, and blocks of each",
    PROGRAM,
    {"experts": 6, "blocks": [2, 0, 3, 1, 0, 2]},
    source=SOURCE,
)
