"""Directives that ask Headway itself: what commands and plug-ins there are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from headway import kernels, passes, strategies, targets
from headway.cli.main import COMMANDS, parser

REGISTRIES: dict[str, Any] = {
    "strategies": strategies.REGISTRY,
    "targets": targets.REGISTRY,
    "passes": passes.REGISTRY,
    "kernels": kernels.REGISTRY,
}


class PluginTable(SphinxDirective):
    """`{plugins} strategies`: names and descriptions."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        rows = [f"* - `{n}`\n  - {p.description}" for n, p in self._plugins().items()]
        lines = "\n".join([":::{list-table}", *rows, ":::"])
        return self.parse_text_to_nodes(lines)

    def _plugins(self) -> dict[str, Any]:
        return REGISTRIES[self.arguments[0]].all()


class CommandHelp(SphinxDirective):
    """`{command-help}`: the help text of every command, each in a section of its own."""

    option_spec: ClassVar = {}

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return list(self._sections())

    def _sections(self) -> Iterator[nodes.Node]:
        for command, text in helps().items():
            section = nodes.section(ids=[f"headway-{command}"], names=[f"headway-{command}"])
            section += nodes.title(text=f"headway {command}")
            section += nodes.literal_block(text, text, language="text")
            self.state.document.note_explicit_target(section)
            yield section


def helps() -> dict[str, str]:
    """Return the help text of each command."""
    (commands,) = (a for a in parser()._actions if a.dest == "command")
    return {name: commands.choices[name].format_help() for name in COMMANDS}


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect with Sphinx."""
    app.add_directive("plugins", PluginTable)
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
