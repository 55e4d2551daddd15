"""`headway check`: judge a placement of waits, whoever made it."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from headway.cli.arguments import add_command, add_inputs, add_json, add_synced
from headway.errors import InvalidInput

CHECK_FAILED = 3


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "check",
        "judge a synchronized program: exact, early, late, deadlock or unsupported",
        "headway check synced.hwy --input n=7",
        "headway sync program.hwy | headway check - --json",
    )
    add_synced(parser)
    add_inputs(parser)
    parser.add_argument(
        "--engine",
        default="auto",
        metavar="NAME",
        help="reference, compiled (for long runs; needs the extra fast) or auto (auto)",
    )
    add_json(parser)
    parser.add_argument(
        "--all-inputs",
        action="store_true",
        help="prove for all inputs that nothing is early and nothing deadlocks (exit code 4: open)",
    )
    parser.add_argument(
        "--certificate", metavar="FILE", help="check a certificate of that, without searching"
    )
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command; the exit code is 3 unless the verdict is exact."""
    from headway.check import check
    from headway.cli.all_inputs import check_all_inputs, check_certificate
    from headway.cli.files import print_json
    from headway.cli.inputs import parse_inputs, resolve
    from headway.cli.programs import load_synced
    from headway.cli.progress import Progress

    synced = load_synced(args.synced)
    if args.input and (args.certificate or args.all_inputs):
        raise InvalidInput("a proof is for all inputs: leave out --input")
    if args.certificate:
        return check_certificate(synced, args.certificate, args.json)
    if args.all_inputs:
        return check_all_inputs(synced, args.json)
    inputs = resolve(synced.program, parse_inputs(args.input))
    verdict = check(synced, inputs, args.engine, progress=Progress())
    if args.json:
        print_json(verdict.to_json())
    else:
        print(verdict)
    return 0 if verdict.verdict == "exact" else CHECK_FAILED
