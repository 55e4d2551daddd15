"""`headway compare`: all strategies side by side on one program."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from headway.cli.arguments import (
    add_command,
    add_inputs,
    add_json,
    add_passes,
    add_program,
    add_target,
    chosen_names,
    chosen_passes,
)


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "compare",
        "synchronize with every strategy, simulate, print latencies side by side",
        "headway compare calibration-loop --target trn1 --param tiles=4 --input n=64",
        "headway compare program.hwy --strategies barrier,scoreboard --json",
    )
    add_program(parser)
    add_target(parser)
    add_inputs(parser)
    parser.add_argument(
        "--strategies", metavar="A,B", help="only these (see: headway list strategies)"
    )
    add_passes(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command."""
    from headway.cli.files import print_json
    from headway.cli.programs import all_inputs, load_program
    from headway.cli.progress import Progress
    from headway.compiler import compare

    source = load_program(args)
    names, passes = chosen_names(args.strategies), chosen_passes(args.passes)
    inputs = all_inputs(source, args)
    comparison = compare(source.program, inputs, args.target, names, Progress(), passes)
    if args.json:
        print_json(comparison.to_json())
    else:
        print(comparison)
    return 0
