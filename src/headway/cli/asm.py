"""`headway asm`: lower engine programs to instructions, and write a binary."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from headway.cli.arguments import add_command, add_json

if TYPE_CHECKING:
    from headway.isa import Module


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "asm",
        "write engine programs as a binary",
        "headway sync matmul | headway asm - -o matmul.hwb",
        "headway disasm matmul.hwb | headway asm - -o same.hwb",
    )
    parser.add_argument(
        "synced",
        metavar="SYNCED",
        help="a synchronized .hwy file or assembly text, or - for standard input",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="write that file (.hwb)"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command."""
    from headway.cli.binaries import load_module
    from headway.cli.files import print_json, write_bytes
    from headway.isa import to_binary

    module = load_module(args.synced)
    data = to_binary(module)
    write_bytes(args.output, data)
    if args.json:
        print_json(facts(module, len(data)))
    else:
        print(said(module, len(data)))
    return 0


def facts(module: Module, size: int) -> dict[str, object]:
    """Return what there is to say of a binary, as JSON."""
    semaphores = len(module.semaphores) + len(module.tokens) + len(module.meets)
    return {
        "program": module.program.name,
        "target": module.target,
        "bytes": size,
        "semaphores": semaphores,
        "engines": {
            s.engine: {"instructions": len(s.instructions), "registers": s.registers}
            for s in module.streams
        },
    }


def said(module: Module, size: int) -> str:
    """Return the same as text."""
    semaphores = len(module.semaphores) + len(module.tokens) + len(module.meets)
    lines = [f"{module.program.name} for {module.target}: {size:,} bytes, {semaphores} semaphores"]
    lines += [
        f"  {s.engine}: {len(s.instructions)} instructions, {s.registers} registers"
        for s in module.streams
    ]
    return "\n".join(lines)
