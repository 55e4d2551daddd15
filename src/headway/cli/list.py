"""`headway list`: what strategies, targets, kernels and passes there are."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from headway.cli.arguments import add_command, add_json

if TYPE_CHECKING:
    from headway.registry import Registry

KINDS = ("strategies", "targets", "kernels", "passes", "frontends")


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "list",
        "list strategies, targets, kernels, passes and front ends of other packages",
        "headway list",
        "headway list kernels --json",
    )
    parser.add_argument(
        "kind", nargs="?", choices=KINDS, help="only these, with their parameters and options"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command."""
    from headway import terminal
    from headway.cli.files import print_json

    kinds = [args.kind] if args.kind else list(KINDS)
    listed = {kind: _plugins(kind) for kind in kinds}
    if args.json:
        print_json(listed)
        return 0
    for kind, plugins in listed.items():
        if not plugins and not args.kind:
            continue
        lines = _lines(plugins, with_details=bool(args.kind))
        terminal.show("\n".join([f"{kind}:", *(f"  {line}" for line in lines)]))
    return 0


def _plugins(kind: str) -> dict[str, dict[str, Any]]:
    from headway import frontends, kernels, passes, strategies, targets

    registry: Registry[Any] = {
        "strategies": strategies.REGISTRY,
        "targets": targets.REGISTRY,
        "kernels": kernels.REGISTRY,
        "passes": passes.REGISTRY,
        "frontends": frontends.REGISTRY,
    }[kind]
    return {name: _facts(plugin) for name, plugin in registry.all().items()}


def _facts(plugin: Any) -> dict[str, Any]:
    """Return the description of any plug-in, how to shape and run a kernel, what can be off."""
    from headway.strategies.options import options

    facts: dict[str, Any] = {"description": plugin.description}
    if hasattr(plugin, "parameters"):
        facts["parameters"] = {
            p.name: {"default": p.default, "description": p.description} for p in plugin.parameters
        }
        facts["inputs"] = dict(plugin.inputs)
    if found := options(plugin):
        facts["options"] = found
    return facts


def _lines(plugins: dict[str, dict[str, Any]], with_details: bool) -> Iterator[str]:
    width = max(map(len, plugins), default=0)
    for name, facts in plugins.items():
        yield f"{name:{width}}  {facts['description']}"
        if not with_details:
            continue
        for parameter, of in facts.get("parameters", {}).items():
            yield f"{'':{width}}    --param {parameter}={of['default']}: {of['description']}"
        for option, text in facts.get("options", {}).items():
            yield f"{'':{width}}    {option}: {text}"
        for given, value in facts.get("inputs", {}).items():
            yield f"{'':{width}}    --input {given}={value}"
