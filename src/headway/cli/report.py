"""`headway report`: one page that shows how strategies run a program, and why engines wait."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from headway.cli.arguments import (
    add_command,
    add_inputs,
    add_passes,
    add_program,
    add_strategies,
    add_target,
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
    add_strategies(parser, "these, in this order (barrier,counted; also: ideal)")
    add_passes(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", default="report.html", help="the page (report.html)"
    )
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command."""
    from headway.cli.files import write_text
    from headway.cli.programs import setting
    from headway.progress import Progress
    from headway.report.collect import collect
    from headway.report.html import page

    given, progress = setting(args), Progress()
    collected = collect(
        given.program,
        given.inputs,
        given.target,
        given.strategies,
        progress=progress,
        passes=given.passes,
    )
    progress("the page")
    write_text(args.output, page(collected))
    return 0
