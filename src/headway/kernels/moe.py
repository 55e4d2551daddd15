"""Mixture of experts, block by block: an expert's weights once, then its blocks of tokens."""

from headway.kernels import _moe
from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = f"""\
program @moe {{
  input experts
  input blocks[]
{_moe.QUEUES}{_moe.BUFFERS}
  sync load_index triggers(loads) writes(index) does(dma, bytes=4096, moves=load)
  loop e experts {{
{_moe.weights("e")}
    loop t blocks[e] {{
      # tiles of t
{_moe.block("e", "$slot", "$tile")}
      # end
    }}
  }}
}}
"""

SOURCE = Source(
    "moe",
    lambda size: {
        **dict.fromkeys("xy", "bfloat16[4096,512]"),
        **dict.fromkeys(("up", "down"), f"bfloat16[{size.experts},128,512]"),
        "order": f"int32[128,{size.experts * 8}]",
        "lengths": f"int32[{size.experts},1]",
    },
    {"e": "experts", "t": "blocks"},
)

KERNEL = text_kernel(
    "moe",
    "mixture of experts; inputs: experts, and blocks of tokens of each",
    PROGRAM,
    {"experts": 8, "blocks": [2, 0, 3, 1, 4, 0, 2, 1]},
    source=SOURCE,
)
