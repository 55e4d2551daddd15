"""`headway report`: one page that shows how strategies run a program, and why engines wait."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from headway.cli.arguments import (
    add_command,
    add_inputs,
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
        "report",
        "write a page with the timelines of strategies and the reason of every wait",
        "headway report matmul -o report.html",
        "headway report program.hwy --strategies ideal,barrier,counted --input n=7 -o report.html",
    )
    add_program(parser)
    add_target(parser)
    add_inputs(parser)
    parser.add_argument(
        "--strategies", metavar="A,B", help="these, in this order (barrier,counted; also: ideal)"
    )
    add_passes(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="report.html", help="the page (report.html)"
    )
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command."""
    from headway.cli.files import write_text
    from headway.cli.inputs import chosen_target
    from headway.cli.programs import all_inputs, load_program
    from headway.progress import Progress
    from headway.report.collect import collect
    from headway.report.html import page

    source = load_program(args)
    names, passes = chosen_names(args.strategies), chosen_passes(args.passes)
    inputs = all_inputs(source, args)
    target = chosen_target(args.target, args.limit)
    progress = Progress()
    collected = collect(source.program, inputs, target, names, progress, passes)
    progress("the page")
    write_text(args.output, page(collected))
    return 0
