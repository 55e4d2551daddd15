"""`headway completion`: let a shell complete commands, options and names."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import Any

from headway.cli.arguments import add_command
from headway.errors import Diagnostic, InvalidInput

SHELLS = ("bash", "zsh", "fish")
ASKED = "_ARGCOMPLETE"
"""A variable that is set when a shell asks for completions."""


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "completion",
        "print what a shell has to run to complete commands, options and names",
        'eval "$(headway completion bash)"',
        "headway completion zsh > _headway",
        "headway completion fish > ~/.config/fish/completions/headway.fish",
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command."""
    print(_argcomplete().shellcode(["headway"], shell=args.shell))
    return 0


def answer(parser: Callable[[], ArgumentParser]) -> None:
    """If a shell asks for completions, give them and exit; else do nothing."""
    if ASKED in os.environ:
        _argcomplete().autocomplete(parser())


def _argcomplete() -> Any:
    try:
        import argcomplete
    except ImportError:
        raise InvalidInput(
            Diagnostic(
                "completion needs the package argcomplete",
                help="install Headway with it: pip install 'headway[completion]'",
            )
        ) from None
    return argcomplete
