"""Arguments that several commands share, and the form of every help text."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Iterable
from importlib import import_module
from typing import Any, TypedDict

from headway.cli.kernel_arguments import add_tracing
from headway.errors import InvalidInput


class HelpTexts(TypedDict):
    """Keyword arguments of an ArgumentParser."""

    description: str
    epilog: str
    formatter_class: type[RawDescriptionHelpFormatter]


def help_of(description: str, *examples: str) -> HelpTexts:
    """Return the texts of a parser's help: what it does, and examples to copy."""
    epilog = "\n".join(["examples:", *(f"  {example}" for example in examples)])
    return HelpTexts(
        description=description, epilog=epilog, formatter_class=RawDescriptionHelpFormatter
    )


def add_command(subparsers: Any, name: str, summary: str, *examples: str) -> ArgumentParser:
    """Add the parser of a subcommand, with what every command has."""
    parser = subparsers.add_parser(name, help=summary, **help_of(f"{summary}.", *examples))
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="no progress and no notes, errors only"
    )
    parser.set_defaults(is_watched=True)
    return parser


def completed(
    action: Any, package: str, also: Iterable[str] = (), with_files: bool = False
) -> None:
    """Let the shell complete an argument with the names of plug-ins, such as `targets`."""

    def names(prefix: str, **_: Any) -> list[str]:
        known = (*import_module(f"headway.{package}").names(), *also)
        before, comma, last = prefix.rpartition(",")
        return [before + comma + name for name in known if name.startswith(last)]

    def names_and_files(prefix: str, **_: Any) -> list[str]:
        from argcomplete.completers import FilesCompleter

        return names(prefix) + list(FilesCompleter()(prefix))

    action.completer = names_and_files if with_files else names


def add_program(parser: ArgumentParser) -> None:
    """Add PROGRAM, with the parameters that kernels have."""
    program = parser.add_argument(
        "program",
        metavar="PROGRAM",
        help="a file .hwy or of a front end, - for standard input, a kernel's name, or an NKI "
        "kernel FILE.py:KERNEL",
    )
    completed(program, "kernels", with_files=True)
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="parameter of a kernel (see: headway list kernels)",
    )
    add_tracing(parser.add_argument_group("where PROGRAM is an NKI kernel"))


def add_synced(parser: ArgumentParser) -> None:
    """Add SYNCED."""
    parser.add_argument(
        "synced",
        metavar="SYNCED",
        help="a synchronized .hwy file or a .hwb binary, or - for standard input",
    )


def add_inputs(parser: ArgumentParser) -> None:
    """Add the run-time inputs."""
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="run-time input: n=7, a list m=2,0,1, or @FILE with a JSON object of inputs",
    )


def add_target(parser: ArgumentParser) -> None:
    """Add the target, and what to change of its limits."""
    target = parser.add_argument(
        "--target", default="trn2", metavar="NAME", help="see: headway list targets (trn2)"
    )
    completed(target, "targets")
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="another limit of the target: registers=4, semaphores=8, width=6, signed=0, waits=1,"
        " updates=0",
    )


def add_strategy(
    parser: ArgumentParser,
    default: str | None = "counted",
    help: str = "see: headway list strategies (counted)",
) -> None:
    """Add the one strategy that synchronizes."""
    strategy = parser.add_argument("--strategy", default=default, metavar="NAME", help=help)
    completed(strategy, "strategies")


def add_strategies(
    parser: ArgumentParser, help: str = "only these (see: headway list strategies)"
) -> None:
    """Add a list of strategies."""
    strategies = parser.add_argument("--strategies", metavar="A,B", help=help)
    completed(strategies, "strategies")


def add_passes(parser: ArgumentParser) -> None:
    """Add the passes that fit engine programs to the target."""
    passes = parser.add_argument(
        "--passes",
        metavar="A,B",
        help="only these of: headway list passes; none = as the strategy leaves it (all needed)",
    )
    completed(passes, "passes", also=["none"])


def positive(text: str) -> int:
    """Return a number above 0, as the `type` of an argument."""
    if text.isascii() and text.isdigit() and int(text) > 0:
        return int(text)
    raise ArgumentTypeError(f"{text!r} is not a number above 0")


def natural(text: str) -> int:
    """Return a number of at least 0, as the `type` of an argument."""
    if text.isascii() and text.isdigit():
        return int(text)
    raise ArgumentTypeError(f"{text!r} is not a number of at least 0")


def chosen_strategies(text: str | None) -> list[str] | None:
    """Return the names of --strategies, at least one; None if nothing is said."""
    return _some(chosen_names(text), "--strategies names no strategy")


def chosen_kernels(text: str | None) -> list[str] | None:
    """Return the names of --kernels, at least one; None if nothing is said."""
    return _some(chosen_names(text), "--kernels names no kernel")


def _some(names: list[str] | None, message: str) -> list[str] | None:
    if names == []:
        raise InvalidInput(message)
    return names


def chosen_names(text: str | None) -> list[str] | None:
    """Return the names of a list with commas, each once; None if nothing is said."""
    if text is None:
        return None
    return list(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))


def chosen_passes(text: str | None) -> list[str] | None:
    """Return the passes that are named; `none` names none, None stands for all that are needed."""
    return [] if text == "none" else chosen_names(text)


def add_json(parser: ArgumentParser) -> None:
    """Add the switch that makes standard output one JSON object."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def add_output(parser: ArgumentParser) -> None:
    """Add the output file."""
    parser.add_argument("-o", "--output", metavar="FILE", help="write that file")
