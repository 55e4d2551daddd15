"""Mixture of experts, block by block: an expert's weights once, then its blocks of tokens."""

from headway.kernels import _moe
from headway.kernels._text import text_kernel

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

KERNEL = text_kernel(
    "moe",
    "mixture of experts; inputs: experts, and blocks of tokens of each",
    PROGRAM,
    {"experts": 8, "blocks": [2, 0, 3, 1, 4, 0, 2, 1]},
)
