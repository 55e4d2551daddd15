"""`headway sync`: write the synchronized program."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from headway.cli.arguments import add_command, add_output, add_program, add_target


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "sync",
        "write the synchronized program, one program per engine",
        "headway sync program.hwy --strategy counted --target trn2 -o synced.hwy",
        "headway sync calibration-loop --param tiles=4 --strategy barrier",
    )
    add_program(parser)
    parser.add_argument(
        "--strategy",
        default="counted",
        metavar="NAME",
        help="see: headway list strategies (counted)",
    )
    add_target(parser)
    add_output(parser)
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command."""
    from headway.cli.files import write_text
    from headway.cli.programs import load_program
    from headway.compiler import synchronize
    from headway.sync import to_text

    synced = synchronize(load_program(args).program, args.target, args.strategy)
    write_text(args.output, to_text(synced))
    return 0
