"""`headway show`: print a program, or each of its instances with what it waits for."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from headway.cli.arguments import add_command, add_inputs, add_program

if TYPE_CHECKING:
    from headway.ir.expr import Inputs
    from headway.ir.program import Program
    from headway.sync.program import SyncProgram


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "show",
        "print a program; --expand prints each instance with its concrete waits",
        "headway show calibration-loop --param tiles=2",
        "headway sync program.hwy | headway show - --expand --input n=3",
    )
    add_program(parser)
    add_inputs(parser)
    parser.add_argument(
        "--expand",
        action="store_true",
        help="print instances: of a synchronized program with what they wait for, "
        "of a sequential one with what they require",
    )
    parser.set_defaults(run=run, is_watched=False)  # what it prints shows how far it is


def run(args: Namespace) -> int:
    """Run this command."""
    from headway import ir, sync
    from headway.cli.programs import all_inputs, load_any
    from headway.ir.program import Program

    source = load_any(args)
    shown = source.program
    if not args.expand:
        print(ir.to_text(shown) if isinstance(shown, Program) else sync.to_text(shown), end="")
        return 0
    inputs = all_inputs(source, args)
    for line in _required(shown, inputs) if isinstance(shown, Program) else _waits(shown, inputs):
        print(line)
    return 0


def _required(program: Program, inputs: Inputs) -> Iterator[str]:
    from headway.spec import required

    for instance, needed in required(program, inputs):
        terms = ", ".join(f"{q} >= {position}" for q, position in sorted(needed.items()))
        yield f"{instance.engine} {instance}" + (f" requires {terms}" if terms else "")


def _waits(synced: SyncProgram, inputs: Inputs) -> Iterator[str]:
    from headway.sync.expand import expand

    for engine, events in expand(synced, inputs).items():
        for event in events:
            terms = ", ".join(str(wait) for wait in event.waits if wait.threshold > 0)
            if terms or event.kind != "end":
                yield f"{engine} {event}" + (f" waits {terms}" if terms else "")
