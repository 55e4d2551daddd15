"""Mixture of experts with a part known before and a tail whose length is computed on the chip.

The number of blocks in the tail is counted by gpsimd and stored; all engines read it there.
"""

from headway.kernels import _moe
from headway.kernels._text import text_kernel
from headway.kernels._traced import Source

PROGRAM = f"""\
program @moe-hybrid {{
  input blocks
  input tail
{_moe.QUEUES}{_moe.BUFFERS}
  buffer count space(hbm)
  buffer counted space(sbuf)
  queue counts on sync
  sync load_index triggers(loads) writes(index) does(dma, bytes=4096, moves=load)
  gpsimd count reads(index) writes(counted) does(tensor_reduce, elements=512)
  sync store_count triggers(counts) reads(counted) writes(count) does(dma, bytes=4, moves=store)
  loop t blocks {{
{_moe.weights("t")}
    # tiles of t
{_moe.block("t", "$slot", "$tile")}
    # end
  }}
  loop t tail load length reads(count) {{
{_moe.weights("t", "_tail")}
    # tiles of t
{_moe.block("t", "$slot", "_tail$tile")}
    # end
  }}
}}
"""

SOURCE = Source(
    "moe_hybrid",
    lambda size: {
        **dict.fromkeys("xy", "bfloat16[4096,512]"),
        **dict.fromkeys(("up", "down"), f"bfloat16[{size.blocks + size.tail},128,512]"),
        "order": f"int32[128,{size.blocks + size.tail}]",
        "used": f"int32[1,{size.tail}]",
        "blocks": str(size.blocks),
    },
    {"t": "blocks", "rest": "tail"},
    "moe",
    in_memory=("tail",),
)

KERNEL = text_kernel(
    "moe-hybrid",
    "mixture of experts: known blocks, then a tail whose length lies in memory",
    PROGRAM,
    {"blocks": 8, "tail": 5},
    source=SOURCE,
)
