"""`headway native`: run engine programs on real threads."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from headway.cli.arguments import (
    add_command,
    add_inputs,
    add_json,
    add_program,
    add_strategy,
    add_target,
)
from headway.cli.codes import CHECK_FAILED

if TYPE_CHECKING:
    from headway.ir.expr import Inputs
    from headway.ir.program import Program
    from headway.isa import Module
    from headway.native import Outcome
    from headway.sync.program import SyncProgram


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "native",
        "run a program as C, with a thread for each engine and queue",
        "headway native matmul --strategy counted --sanitize thread",
        "headway native synced.hwb --input n=7 --json",
        "headway native calibration-loop --source calibration.c",
    )
    add_program(parser)
    add_strategy(
        parser,
        default=None,
        help="see: headway list strategies (counted; a synchronized file or a binary: as it is)",
    )
    add_target(parser)
    add_inputs(parser)
    parser.add_argument(
        "--sanitize",
        choices=("thread",),
        help="build it with ThreadSanitizer, which reports data races",
    )
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="where threads give way (1)"
    )
    parser.add_argument("--source", metavar="FILE", help="write the C program, and do not run it")
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command; the exit code is 3 if anything is wrong."""
    from headway import native
    from headway.cli.files import print_json, write_text

    module, inputs = _module(args)
    if args.source:
        write_text(args.source, native.to_c(module, inputs))
        return 0
    outcome = native.run(module, inputs, args.sanitize, args.seed)
    if args.json:
        print_json(outcome.to_json())
    else:
        print(_said(module, outcome, bool(args.sanitize)))
    return 0 if outcome.is_good else CHECK_FAILED


def _module(args: Namespace) -> tuple[Module, Inputs]:
    """Return the module that PROGRAM names: as it is, or synchronized first."""
    from headway import isa
    from headway.cli.inputs import chosen_target, parse_inputs, resolve
    from headway.cli.programs import load_with
    from headway.compiler import synchronize
    from headway.sync.program import SyncProgram

    loaded, usual = load_with(_read, args)
    declared = loaded.program if isinstance(loaded, isa.Module | SyncProgram) else loaded
    inputs = resolve(declared, {**usual, **parse_inputs(args.input)})
    if args.strategy is None and isinstance(loaded, isa.Module):
        return loaded, inputs
    if args.strategy is None and isinstance(loaded, SyncProgram):
        return isa.lower(loaded), inputs
    target = chosen_target(args.target, args.limit)
    return isa.lower(synchronize(declared, target, args.strategy or "counted"), target), inputs


def _read(name: str) -> Module | SyncProgram | Program:
    """Return what is in a file: a program of any kind, or a binary."""
    from headway.cli.binaries import load_bytes
    from headway.cli.files import read_bytes
    from headway.cli.programs import front_end_for, is_kernel, read_file

    is_text = is_kernel(name) or front_end_for(name)
    return read_file(name) if is_text else load_bytes(read_bytes(name), name)


def _said(module: Module, outcome: Outcome, is_sanitized: bool) -> str:
    name = f"{module.program.name}, {module.strategy} on {module.target}"
    if outcome.standing:
        lines = [f"{name}: deadlock", *(f"  {line}" for line in outcome.standing)]
        return "\n".join(lines)
    memory = "equal to" if outcome.equal else "different from"
    races = f"{outcome.races} data races, " if is_sanitized else ""
    return f"{name}: {races}memory {memory} that of the sequential program"
