"""`headway list`: what strategies, targets and kernels there are."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from headway.cli.arguments import add_command, add_json

KINDS = ("strategies", "targets", "kernels")


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "list",
        "list strategies, targets and kernels",
        "headway list",
        "headway list kernels --json",
    )
    parser.add_argument("kind", nargs="?", choices=KINDS, help="only these")
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command."""
    from headway.cli.files import print_json

    kinds = [args.kind] if args.kind else list(KINDS)
    listed = {kind: _described(kind) for kind in kinds}
    if args.json:
        print_json(listed)
        return 0
    for kind, described in listed.items():
        width = max(map(len, described), default=0)
        lines = [f"  {name:{width}}  {text}" for name, text in described.items()]
        print("\n".join([f"{kind}:", *lines]))
    return 0


def _described(kind: str) -> dict[str, str]:
    from headway import kernels, strategies, targets

    if kind == "strategies":
        return {name: strategies.load(name).description for name in strategies.names()}
    if kind == "targets":
        return {name: targets.load(name).description for name in targets.names()}
    return {name: _kernel(kernels.load(name)) for name in kernels.names()}


def _kernel(kernel: Any) -> str:
    parameters = [f"{p.name}={p.default}" for p in kernel.parameters]
    inputs = [f"{name}={value}" for name, value in kernel.inputs.items()]
    return f"{kernel.description} ({'; '.join([*parameters, 'inputs ' + ', '.join(inputs)])})"
