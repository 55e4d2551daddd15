"""`headway trace`: an NKI kernel as a sequential program."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from headway.cli.arguments import add_command, add_output
from headway.errors import Diagnostic, InvalidInput


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "trace",
        "trace an NKI kernel and write its sequential program",
        "headway trace kernels.py:matmul --arg a=bfloat16[512,512] --arg b=bfloat16[512,2048]",
        "headway trace trntensor.nki._kernels:matmul_kernel --arg a=float32[512,512] "
        "--arg b=float32[512,2048] --dynamic-bound k=k_tiles -o matmul.hwy",
    )
    parser.add_argument(
        "kernel", metavar="FILE.py:KERNEL", help="the kernel; a module name works as a file too"
    )
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an argument of the kernel: a tensor x=float32[4096,512], or a plain value n=3",
    )
    parser.add_argument(
        "--dynamic-bound",
        action="append",
        default=[],
        metavar="LOOP=INPUT",
        help="let a run-time input say how often a loop runs; LOOP is k, or k@LINE",
    )
    parser.add_argument(
        "--grid",
        default="",
        metavar="N,M",
        help="the launch grid: kernel[4, 2](...) is --grid 4,2 (none)",
    )
    parser.add_argument(
        "--program",
        default="",
        metavar="I,J",
        help="the program of the grid that is traced, or all, one after the other (the first)",
    )
    parser.add_argument(
        "--buffers",
        type=int,
        default=None,
        metavar="N",
        help="slots of a tile that is allocated in a loop (4)",
    )
    add_output(parser)
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command."""
    from headway.cli.files import write_text
    from headway.frontends import ArgSpec, record
    from headway.frontends.nki.launch import ONE, Launch
    from headway.frontends.nki.memory import DEFAULT_BUFFERS
    from headway.ir import to_text

    source, name = _source(args.kernel)
    specs = {n: ArgSpec.parse(text) for n, text in _pairs("--arg", args.arg).items()}
    bounds = _pairs("--dynamic-bound", args.dynamic_bound)
    buffers = DEFAULT_BUFFERS if args.buffers is None else args.buffers
    launch = Launch.parse(args.grid, args.program) if args.grid else ONE
    program = record(source, name, specs, launch).program(bounds, buffers)
    write_text(args.output, to_text(program))
    return 0


def _source(text: str) -> tuple[str, str | None]:
    """Split FILE.py:KERNEL; without a kernel the file has to have exactly one."""
    source, colon, name = text.rpartition(":")
    return (source, name) if colon and source else (text, None)


def _pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise InvalidInput(Diagnostic(f"{option} {text!r} is not of the form NAME=VALUE"))
        if name.strip() in found:
            raise InvalidInput(Diagnostic(f"{option} {name.strip()!r} is given twice"))
        found[name.strip()] = value.strip()
    return found
