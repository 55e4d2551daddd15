"""The arguments that commands about an NKI kernel share."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headway.errors import Diagnostic, InvalidInput

if TYPE_CHECKING:
    from headway.frontends import Trace
    from headway.frontends.nki.memory import Buffers
    from headway.values import Traced


ROLLED, AS_WRITTEN = "rolled", "as-written"
SPLIT = "split"


def add_kernel(parser: ArgumentParser) -> None:
    """Add the kernel and how to trace it."""
    parser.add_argument(
        "kernel", metavar="FILE.py:KERNEL", help="the kernel; a module name works as a file too"
    )
    add_tracing(parser)


def add_tracing(parser: Any) -> None:
    """Add how to trace a kernel to a parser, or to a group of one."""
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an argument of the kernel: a tensor x=float32[4096,512], or a plain value n=3",
    )
    parser.add_argument(
        "--dynamic-bound",
        action="append",
        default=[],
        metavar="LOOP=INPUT",
        help="let a run-time input say how often a loop runs; LOOP is k, or k@LINE",
    )
    parser.add_argument(
        "--grid",
        default="",
        metavar="N,M",
        help="the launch grid: kernel[4, 2](...) is --grid 4,2 (none)",
    )
    parser.add_argument(
        "--program",
        dest="of_grid",
        default="",
        metavar="I,J",
        help="the program of the grid that is traced, or all, one after the other (the first)",
    )
    parser.add_argument(
        "--loops",
        default=ROLLED,
        choices=(ROLLED, AS_WRITTEN),
        help=f"roll the loops that Python ran, or keep only those of the device ({ROLLED})",
    )
    parser.add_argument(
        "--engine",
        action="append",
        default=[],
        metavar="OPERATION=ENGINE",
        help="the engine of calls that name none, such as tensor_copy=scalar",
    )
    parser.add_argument(
        "--dma-triggers",
        default=SPLIT,
        metavar="WAY",
        help="who triggers transfers: split (loads sync, others gpsimd), one (sync), or spread "
        "(loads sync and scalar in turn, others gpsimd)",
    )
    parser.add_argument(
        "--buffers",
        default=None,
        metavar="N",
        help="slots of a tile that is allocated in a loop (4), automatic: what the memory holds, "
        "or as-written: where the kernel places its tiles",
    )


def recorded(args: Namespace) -> Trace:
    """Trace the kernel. Raise HeadwayError."""
    from headway.frontends import ArgSpec, record
    from headway.frontends.nki.launch import ONE, Launch

    source, name = _source(kernel_of(args))
    specs = {n: ArgSpec.parse(text) for n, text in pairs("--arg", args.arg).items()}
    launch = Launch.parse(args.grid, args.of_grid) if args.grid else ONE
    return record(source, name, specs, launch, args.loops)


def traced(args: Namespace, trace: Trace | None = None, buffers: str | None = None) -> Traced:
    """Trace the kernel and return its program with what it computes. Raise HeadwayError.

    `trace` is what was recorded already, and `buffers` comes before the option of that name.
    """
    from headway.frontends.nki.engines import Policy
    from headway.frontends.nki.memory import DEFAULT_BUFFERS

    policy = Policy(pairs("--engine", args.engine), args.dma_triggers)
    bounds = pairs("--dynamic-bound", args.dynamic_bound)
    text = buffers or args.buffers
    wanted = DEFAULT_BUFFERS if text is None else _buffers(text)
    return (recorded(args) if trace is None else trace).traced(bounds, wanted, policy)


def assumptions(trace: Trace, args: Namespace) -> Iterator[str]:
    """Yield what the kernel leaves open and how it was decided, and what was left out."""
    from headway.frontends.nki.engines import left_open

    yield (
        f"{trace.name}: {trace.recorded_operations} operations recorded, "
        f"{trace.rolled_operations} left in the program ({args.loops})"
    )
    if args.grid:
        yield f"grid {args.grid}: program {args.of_grid or 'the first'}"
    chosen = left_open(trace.recorded, pairs("--engine", args.engine))
    if chosen:
        yield f"engines of calls that name none: {chosen} (--engine)"
    yield f"DMA triggers: {args.dma_triggers} (--dma-triggers)"
    if trace.missing:
        yield f"not installed and stood in for: {', '.join(trace.missing)}"
    if trace.stopped:
        yield f"the file was executed as far as {trace.stopped}"


def _buffers(text: str) -> Buffers:
    from headway.frontends.nki.memory import AS_WRITTEN, AUTOMATIC

    for known in (AUTOMATIC, AS_WRITTEN):
        if text == known:
            return known
    if not text.isdecimal():
        raise InvalidInput(
            Diagnostic(f"--buffers {text!r}", help=f"a whole number, {AUTOMATIC} or {AS_WRITTEN}")
        )
    return int(text)


def kernel_of(args: Namespace) -> str:
    """Return FILE.py:KERNEL, which some commands take as their PROGRAM."""
    return args.kernel if "kernel" in args else args.program


def is_nki(name: str) -> bool:
    """Tell whether PROGRAM is a kernel to be traced: FILE.py, FILE.py:KERNEL or MODULE:KERNEL."""
    return name.endswith(".py") or (":" in name and not Path(name).exists())


def tracing_options(args: Namespace) -> str:
    """Return the first option for tracing that was given, or ""."""
    given = {
        "--arg": args.arg,
        "--dynamic-bound": args.dynamic_bound,
        "--grid": args.grid,
        "--program": args.of_grid,
        "--loops": args.loops != ROLLED,
        "--engine": args.engine,
        "--dma-triggers": args.dma_triggers != SPLIT,
        "--buffers": args.buffers,
    }
    return next((option for option, value in given.items() if value), "")


def _source(text: str) -> tuple[str, str | None]:
    """Split FILE.py:KERNEL; without a kernel the file has to have exactly one."""
    source, colon, name = text.rpartition(":")
    return (source, name) if colon and source else (text, None)


def pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    """Return the NAME=VALUE arguments of an option. Raise InvalidInput."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise InvalidInput(Diagnostic(f"{option} {text!r} is not of the form NAME=VALUE"))
        if name.strip() in found:
            raise InvalidInput(Diagnostic(f"{option} {name.strip()!r} is given twice"))
        found[name.strip()] = value.strip()
    return found
