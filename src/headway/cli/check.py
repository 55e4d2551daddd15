"""`headway check`: judge a placement of waits, whoever made it."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from headway.cli.arguments import add_command, add_inputs, add_json, add_synced
from headway.cli.codes import CHECK_FAILED
from headway.errors import Diagnostic, InvalidInput

if TYPE_CHECKING:
    from headway.check.late import Cost
    from headway.ir.expr import Inputs
    from headway.isa import Module
    from headway.sync.program import SyncProgram


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "check",
        "judge a synchronized program: exact, early, late, deadlock or unsupported",
        "headway check synced.hwy --input n=7",
        "headway sync program.hwy | headway check - --json",
        "headway check synced.hwb --input n=7",
    )
    add_synced(parser)
    add_inputs(parser)
    parser.add_argument(
        "--implementation",
        default="auto",
        metavar="NAME",
        help="reference, compiled (for long runs; needs the extra fast) or auto (auto)",
    )
    parser.add_argument(
        "--target", metavar="NAME", help="where to simulate --cost (the target of the program)"
    )
    add_json(parser)
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--cost", action="store_true", help="simulate what each late wait costs")
    one.add_argument(
        "--all-inputs",
        action="store_true",
        help="prove for all inputs that nothing is early and nothing deadlocks",
    )
    one.add_argument(
        "--certificate", metavar="FILE", help="check a certificate of that, without searching"
    )
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command; the exit code is 3 unless the verdict is exact."""
    from headway import terminal
    from headway.check import check
    from headway.cli.all_inputs import check_all_inputs, check_certificate
    from headway.cli.binaries import load
    from headway.cli.files import print_json
    from headway.cli.inputs import parse_inputs, resolve
    from headway.progress import Progress
    from headway.sync.program import SyncProgram

    synced = load(args.synced)
    if not isinstance(synced, SyncProgram):
        return _check_binary(synced, args)
    if args.input and (args.certificate or args.all_inputs):
        raise InvalidInput("a proof is for all inputs: leave out --input")
    if args.certificate:
        return check_certificate(synced, args.certificate, args.json)
    if args.all_inputs:
        return check_all_inputs(synced, args.json)
    inputs = resolve(synced.program, parse_inputs(args.input))
    verdict = check(synced, inputs, args.implementation, progress=Progress())
    costs = _costs(synced, inputs, args) if args.cost and verdict.verdict == "late" else []
    if args.json:
        told = {"costs": list(map(_cost_facts, costs))} if args.cost else {}
        print_json({**verdict.to_json(), **told})
    else:
        terminal.show("\n".join([str(verdict), *map(_cost_line, costs)]))
    return 0 if verdict.verdict == "exact" else CHECK_FAILED


def _check_binary(module: Module, args: Namespace) -> int:
    from headway import isa
    from headway.cli.files import print_json
    from headway.cli.inputs import parse_inputs, resolve

    if args.certificate or args.all_inputs or args.cost or args.implementation != "auto":
        raise InvalidInput(
            Diagnostic(
                "a binary is judged for given inputs, by the one judge for it",
                help="leave out --certificate, --all-inputs, --cost and --implementation",
            )
        )
    inputs = resolve(module.program, parse_inputs(args.input))
    verdict = isa.check(module, inputs, file=args.synced)
    if args.json:
        print_json(verdict.to_json())
    else:
        print(verdict)
    return 0 if verdict.verdict == "exact" else CHECK_FAILED


def _costs(synced: SyncProgram, inputs: Inputs, args: Namespace) -> list[Cost]:
    from headway import targets
    from headway.check.late import costs
    from headway.progress import Progress
    from headway.sim import simulate

    target = targets.load(args.target or synced.target)

    def latency(program: SyncProgram, inputs: Inputs) -> float:
        return simulate(program, inputs, target).latency

    return costs(synced, inputs, latency, Progress())


def _cost_line(cost: Cost) -> str:
    late = cost.late
    place = f"{late.wait.at}: " if late.wait.at else ""
    said = f"{place}cost: {late.engine} waits for {late.wait}: late"
    said += f" {late.times:,} times of {len(late.given):,}, by {late.most:,} at most; it"
    if cost.ns is None:
        return f"{said} stands at a load, where the cost cannot be tried"
    return f"{said} costs {cost.ns:,.1f} ns of {cost.latency:,.1f} ns"


def _cost_facts(cost: Cost) -> dict[str, object]:
    late = cost.late
    return {
        "engine": late.engine,
        "wait": str(late.wait),
        "location": str(late.wait.at) if late.wait.at else "",
        "late": late.times,
        "executed": len(late.given),
        "most": late.most,
        "cost_ns": cost.ns,
        "latency_ns": cost.latency,
    }
