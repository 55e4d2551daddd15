"""The command line: one file of this folder per subcommand.

Exit codes: 0 ok, 1 invalid input, 2 usage, 3 check failed. A problem that the user can mend is one
text on standard error; nobody meets a traceback unless HEADWAY_DEBUG=1.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from errno import ENOSPC
from importlib import import_module

from headway import __version__, terminal
from headway.cli.arguments import help_of
from headway.cli.codes import CHECK_FAILED, INTERRUPTED, INVALID
from headway.cli.completion import answer
from headway.errors import CheckFailed, HeadwayError
from headway.progress import speaking

COMMANDS = (
    "sync",
    "sim",
    "compare",
    "report",
    "check",
    "explore",
    "show",
    "list",
    "trace",
    "run",
    "fuzz",
    "explain",
    "asm",
    "disasm",
    "native",
    "bench",
    "completion",
)


def parser() -> ArgumentParser:
    """Return the parser of the whole command line."""
    top = ArgumentParser(
        "headway",
        **help_of(
            "Synchronize programs for multi-engine accelerators without barriers.",
            "headway compare calibration-loop --target trn1",
            "headway sync program.hwy --strategy counted -o synced.hwy",
            "headway check synced.hwy --input n=7",
        ),
    )
    top.add_argument("--version", action="version", version=f"headway {__version__}")
    subparsers = top.add_subparsers(
        title="commands", metavar="COMMAND", dest="command", required=True
    )
    for command in COMMANDS:
        import_module(f"headway.cli.{command}").add_parser(subparsers)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    try:
        code = _run(argv)
        if sys.stdout:
            sys.stdout.flush()
        return code
    except HeadwayError as error:
        return _fail(str(error), CHECK_FAILED if isinstance(error, CheckFailed) else INVALID)
    except KeyboardInterrupt:
        return _fail("interrupted", INTERRUPTED)
    except BrokenPipeError:
        _forget_output()
        return 0
    except Exception as error:
        if os.environ.get("HEADWAY_DEBUG") == "1":
            raise
        return _fail(_unexpected(error), INVALID)


def _run(argv: Sequence[str] | None) -> int:
    answer(parser)
    args = parser().parse_args(argv)
    with speaking(args.command, args.quiet, args.is_watched):
        return args.run(args)


def _fail(message: str, code: int) -> int:
    if sys.stderr:
        terminal.show(message, sys.stderr)
    return code


def _unexpected(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == ENOSPC:
        _forget_output()
        return "error: cannot write: no space left on device"
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return f"error: internal error, please report it (HEADWAY_DEBUG=1 shows more): {text}"


def _forget_output() -> None:
    """Drop what Python would try once more to write when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
