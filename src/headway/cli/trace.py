"""`headway trace`: an NKI kernel as a sequential program."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from headway.cli.arguments import add_command, add_output
from headway.cli.kernel_arguments import add_kernel


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "trace",
        "trace an NKI kernel and write its sequential program",
        "headway trace kernels.py:matmul --arg a=bfloat16[512,512] --arg b=bfloat16[512,2048]",
        "headway trace trntensor.nki._kernels:matmul_kernel --arg a=float32[512,512] "
        "--arg b=float32[512,2048] --dynamic-bound k=k_tiles -o matmul.hwy",
        "headway trace attention.py:forward --grid 2,8 --program 0,3 --arg q=bfloat16[2,8,128,512]",
        "headway trace kernels.py:softmax --arg x=float32[4096,512] --dma-triggers one "
        "--engine tensor_copy=scalar --loops as-written",
    )
    add_kernel(parser)
    add_output(parser)
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command."""
    from headway.cli.files import write_text
    from headway.cli.kernel_arguments import assumptions, recorded, traced
    from headway.ir import to_text
    from headway.progress import say

    trace = recorded(args)
    found = traced(args, trace)
    write_text(args.output, to_text(found.program))
    for note in assumptions(trace, args):
        say(note)
    for space in ("sbuf", "psum"):
        if found.values.bytes_used(space) is None:
            say(f"{space}: its tiles have no addresses, as they do not fit side by side")
    return 0
