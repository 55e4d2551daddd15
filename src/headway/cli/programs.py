"""Find the program that a command is about: a file, standard input, or a kernel of the suite."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from headway import kernels
from headway.cli.arguments import chosen_passes, chosen_strategies
from headway.cli.files import STANDARD_INPUT, display_name, read_text
from headway.cli.inputs import Value, chosen_target, parse_inputs, parse_params, resolve
from headway.cli.kernel_arguments import is_nki, traced, tracing_options
from headway.errors import Diagnostic, InvalidInput
from headway.ir.program import Program
from headway.registry import unknown
from headway.sync import parse_any
from headway.sync.program import SyncProgram
from headway.targets import Target

if TYPE_CHECKING:
    from headway.frontends import FrontEnd

SUFFIX = ".hwy"

P = TypeVar("P", covariant=True)


class Source(NamedTuple, Generic[P]):
    """What PROGRAM names, and the inputs that it runs with if no others are given."""

    program: P
    inputs: Mapping[str, Value]


class Setting(NamedTuple):
    """What several strategies are run on: None = all strategies, all passes that are needed."""

    program: Program
    inputs: Mapping[str, Value]
    target: Target
    strategies: list[str] | None
    passes: list[str] | None


def is_kernel(name: str) -> bool:
    """Tell whether PROGRAM is no file, or the name of a kernel."""
    is_path = name == STANDARD_INPUT or "/" in name or "." in name
    return name in kernels.names() or not (is_path or Path(name).exists())


def load_any(args: Namespace) -> Source[Program | SyncProgram]:
    """Return what PROGRAM names. Raise HeadwayError."""
    return load_with(read_file, args)


def load_with(read: Callable[[str], P], args: Namespace) -> Source[Program | P]:
    """Return what PROGRAM names, if it is a file what `read` finds there. Raise HeadwayError."""
    name: str = args.program
    if name in kernels.names() and not tracing_options(args):
        kernel = kernels.load(name)
        program = kernel.program(**parse_params(args.param))
        return Source(program, kernel.usual(program))
    if is_nki(name):
        return Source(traced(args).program, {})
    if option := tracing_options(args):
        raise InvalidInput(
            Diagnostic(
                f"{option} is for NKI kernels, which {display_name(name)} is not",
                help="write the kernel as FILE.py:KERNEL",
            )
        )
    if args.param:
        raise InvalidInput(
            Diagnostic(
                f"{display_name(name)} has no parameters",
                rule="--param shapes a kernel of the suite",
                help=f"kernels: {', '.join(kernels.names())}",
            )
        )
    return Source(read(name), {})


def load_program(args: Namespace) -> Source[Program]:
    """Return the sequential program that PROGRAM names or implements. Raise HeadwayError."""
    loaded, inputs = load_any(args)
    return Source(loaded.program if isinstance(loaded, SyncProgram) else loaded, inputs)


def setting(args: Namespace) -> Setting:
    """Return what the arguments of `compare` and `report` say. Raise HeadwayError."""
    source = load_program(args)
    return Setting(
        source.program,
        all_inputs(source, args),
        chosen_target(args.target, args.limit),
        chosen_strategies(args.strategies),
        chosen_passes(args.passes),
    )


def load_synced(name: str) -> SyncProgram:
    """Return the synchronized program in a file. Raise HeadwayError."""
    return parsed_synced(read_file(name), name)


def parsed_synced(loaded: Program | SyncProgram, name: str) -> SyncProgram:
    """Return what was read from a file if it is synchronized. Raise InvalidInput."""
    if isinstance(loaded, SyncProgram):
        return loaded
    raise InvalidInput(
        Diagnostic(
            f"{display_name(name)} holds a sequential program and no engine programs",
            help=f"headway sync {name} -o synced{SUFFIX}",
        )
    )


def all_inputs(source: Source[Program | SyncProgram], args: Namespace) -> dict[str, Value]:
    """Return a value for every input. Raise InvalidInput if one is missing or unknown."""
    program = source.program
    declared = program.program if isinstance(program, SyncProgram) else program
    return resolve(declared, {**source.inputs, **parse_inputs(args.input)})


def read_file(name: str) -> Program | SyncProgram:
    """Return the program in a file of text, by its front end. Raise HeadwayError."""
    if is_kernel(name):
        raise InvalidInput(unknown("file or kernel", name, kernels.names()))
    text = read_text(name)
    front_end = front_end_for(name)
    return front_end.read(text, name) if front_end else parse_any(text, display_name(name))


def front_end_for(name: str) -> FrontEnd | None:
    """Return the front end of a file, None if there is none or it is one of Headway's own."""
    if Path(name).suffix in ("", SUFFIX):
        return None
    from headway.frontends import front_end_of

    return front_end_of(name)
