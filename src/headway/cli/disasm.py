"""`headway disasm`: write a binary as assembly text."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from headway.cli.arguments import add_command, add_json, add_output


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "disasm",
        "write a binary as assembly text",
        "headway disasm matmul.hwb",
        "headway disasm matmul.hwb -o matmul.s",
    )
    parser.add_argument("binary", metavar="FILE", help="a .hwb file, or - for standard input")
    add_output(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command."""
    from headway.cli.asm import facts
    from headway.cli.binaries import load_binary
    from headway.cli.files import print_json, write_text
    from headway.isa import disassemble, to_binary

    module = load_binary(args.binary)
    text = disassemble(module)
    if args.output or not args.json:
        write_text(args.output, text)
    if args.json:
        shown = {} if args.output else {"text": text}
        print_json(facts(module, len(to_binary(module))) | shown)
    return 0
