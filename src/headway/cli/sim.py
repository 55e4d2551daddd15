"""`headway sim`: run a synchronized program on the simulated target."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from headway.cli.arguments import add_command, add_inputs, add_json, add_synced

if TYPE_CHECKING:
    from headway.sim import Timeline


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "sim",
        "simulate a synchronized program on its target",
        "headway sim synced.hwy --input n=7 --trace timeline.json",
        "headway sync calibration-loop | headway sim - --input n=64 --json",
        "headway sim synced.hwb --input n=7",
    )
    add_synced(parser)
    add_inputs(parser)
    parser.add_argument("--trace", metavar="FILE", help="write a Chrome/Perfetto trace")
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command."""
    from headway import isa
    from headway.cli.binaries import load
    from headway.cli.files import print_json, write_text
    from headway.cli.inputs import parse_inputs, resolve
    from headway.sim import simulate

    loaded = load(args.synced)
    inputs = resolve(loaded.program, parse_inputs(args.input))
    if isinstance(loaded, isa.Module):
        timeline = isa.simulate(loaded, inputs, file=args.synced, detail=bool(args.trace))
    else:
        timeline = simulate(loaded, inputs, detail=bool(args.trace))
    if args.trace:
        from headway.sim.perfetto import perfetto

        write_text(args.trace, perfetto(timeline))
    if args.json:
        print_json(_facts(timeline))
    else:
        print(timeline)
    return 0


def _facts(timeline: Timeline) -> dict[str, object]:
    return {
        "program": timeline.program,
        "strategy": timeline.strategy,
        "target": timeline.target,
        "latency_ns": timeline.latency,
        "instances": len(timeline),
        "waits": timeline.waits,
        "barriers": timeline.barriers,
        "engines": {
            e.engine: {
                "busy_ns": e.busy,
                "waiting_ns": e.waiting,
                "synchronization_ns": e.synchronization,
            }
            for e in timeline.engines
        },
    }
