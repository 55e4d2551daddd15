"""`headway sync`: write the synchronized program."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from headway.cli.arguments import (
    add_command,
    add_inputs,
    add_json,
    add_output,
    add_passes,
    add_program,
    add_strategy,
    add_target,
    chosen_passes,
)


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "sync",
        "write the synchronized program, one program per engine",
        "headway sync program.hwy --strategy counted --target trn2 -o synced.hwy",
        "headway sync calibration-loop --param tiles=4 --strategy barrier",
        "headway sync matmul --limit registers=4 --input k=16",
    )
    add_program(parser)
    add_strategy(parser)
    add_inputs(parser)
    add_target(parser)
    add_passes(parser)
    add_output(parser)
    add_json(parser)
    parser.add_argument(
        "--certificate", metavar="FILE", help="write the proof that it is safe for all inputs"
    )
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command. What was given up is said on standard error, or in the JSON object."""
    from headway.cli.all_inputs import write_certificate
    from headway.cli.files import print_json, write_text
    from headway.cli.inputs import chosen_target
    from headway.cli.programs import all_inputs, load_program
    from headway.fitting import fit
    from headway.progress import say
    from headway.sync import to_text

    passes = chosen_passes(args.passes)
    target = chosen_target(args.target, args.limit)
    source = load_program(args)
    inputs = all_inputs(source, args) if args.input else None
    synced, report = fit(source.program, target, args.strategy, passes, inputs)
    if args.certificate:
        write_certificate(synced, args.certificate)
    if args.output or not args.json:
        write_text(args.output, to_text(synced))
    if args.json:
        text = {} if args.output else {"text": to_text(synced)}
        print_json(
            {"program": synced.program.name, "target": synced.target} | report.to_json() | text
        )
        return 0
    for concession in report.concessions:
        say(f"given up: {concession}")
    return 0
