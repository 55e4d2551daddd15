"""`headway compare`: all strategies side by side on one program."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headway.cli.arguments import (
    add_command,
    add_inputs,
    add_json,
    add_passes,
    add_program,
    add_strategies,
    add_target,
)

if TYPE_CHECKING:
    from headway.cli.variants import Variant


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "compare",
        "synchronize with every strategy, simulate, print latencies side by side",
        "headway compare calibration-loop --target trn1 --param tiles=4 --input n=64",
        "headway compare program.hwy --strategies barrier,scoreboard --json",
        "headway compare matmul --limit registers=6 --limit width=8 --cost",
        "headway compare sync-chain --why --strategies barrier,counted",
        "headway compare kernels.py:matmul --arg a=bfloat16[512,512] --arg b=bfloat16[512,2048] "
        "--buffers as-written,automatic,4",
    )
    add_program(parser)
    add_target(parser)
    add_inputs(parser)
    add_strategies(parser)
    add_passes(parser)
    parser.add_argument(
        "--cost", action="store_true", help="say what the limits of the target cost, where they do"
    )
    parser.add_argument(
        "--why", action="store_true", help="say where the time of each strategy goes"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command."""
    from headway import terminal
    from headway.cli.files import print_json
    from headway.cli.kernel_arguments import is_nki
    from headway.cli.programs import setting
    from headway.cli.variants import variants
    from headway.compiler import compare
    from headway.progress import Progress

    if is_nki(args.program) and "," in (args.buffers or ""):
        return _side_by_side(args, variants(args))
    given = setting(args)
    comparison = compare(
        given.program,
        given.inputs,
        given.target,
        given.strategies,
        progress=Progress(),
        passes=given.passes,
        cost=args.cost,
        why=args.why,
    )
    if args.json:
        print_json(comparison.to_json())
    else:
        terminal.show(comparison.to_text(terminal.width()))
        if args.why:
            from headway.report.why import why_text

            print(f"\n{why_text(comparison)}")
    return 0


def _side_by_side(args: Namespace, found: Mapping[str, Variant]) -> int:
    from headway import terminal
    from headway.cli.files import print_json
    from headway.cli.variants import text

    if args.json:
        print_json({"buffers": {name: variant.to_json() for name, variant in found.items()}})
        return 0
    terminal.show(text(found))
    if args.why:
        from headway.report.why import why_text

        for name, variant in found.items():
            print(f"\n{name}: {why_text(variant.comparison)}")
    return 0
