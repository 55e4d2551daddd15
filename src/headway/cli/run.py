"""`headway run`: execute an NKI kernel with values, in its own order and on engines at once."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from headway.cli.arguments import (
    add_command,
    add_inputs,
    add_json,
    add_strategy,
    add_target,
    natural,
)
from headway.cli.codes import CHECK_FAILED
from headway.cli.kernel_arguments import add_kernel
from headway.errors import Diagnostic, InvalidInput, InvalidProgram, counted

if TYPE_CHECKING:
    from headway.execution import Outcome
    from headway.ir.expr import Inputs
    from headway.sync.program import SyncProgram
    from headway.values import Traced


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "run",
        "execute an NKI kernel with values, sequentially and on engines at once; compare bits",
        "headway run kernels.py:matmul --arg a=bfloat16[256,256] --arg b=bfloat16[256,512]",
        "headway run trntensor.nki._kernels:matmul_kernel --arg a=float32[256,256] "
        "--arg b=float32[256,512] --strategy barrier --orders 10 --json",
        "headway run kernels.py:matmul --arg a=bfloat16[256,256] --arg b=bfloat16[256,512] --plant",
    )
    add_kernel(parser)
    add_inputs(parser)
    add_target(parser)
    add_strategy(parser)
    parser.add_argument(
        "--synced", metavar="FILE", help="engine programs of this kernel, placed by somebody else"
    )
    parser.add_argument(
        "--orders", type=int, default=3, metavar="N", help="so many concurrent orders (3)"
    )
    parser.add_argument(
        "--seed", type=natural, default=0, metavar="N", help="of the values and latencies (0)"
    )
    parser.add_argument(
        "--binary",
        action="store_true",
        help="execute the instructions that the engine programs are assembled to",
    )
    parser.add_argument(
        "--plant", action="store_true", help="let one wait end too early, to see that it is noticed"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Run this command; the exit code is 3 if some order gives other values."""
    from headway.cli.inputs import parse_inputs, resolve
    from headway.cli.kernel_arguments import traced

    if not (find_spec("numpy") and find_spec("ml_dtypes")):
        raise InvalidInput(
            Diagnostic("values need numpy and ml_dtypes", help="pip install 'headway[nki]'")
        )
    found = traced(args)
    inputs = resolve(found.program, parse_inputs(args.input))
    sync = _synced(args, found)
    planted = ""
    if args.plant:
        outcome, planted = _planted(args, found, sync, inputs)
    else:
        outcome = _run(args, found, sync, inputs)
    _print(args, sync, outcome, planted)
    return 0 if outcome.is_equal else CHECK_FAILED


def _run(args: Namespace, found: Traced, sync: SyncProgram, inputs: Inputs) -> Outcome:
    from headway.execution import concurrent, from_instructions
    from headway.execution import run as compare
    from headway.progress import Progress

    return compare(
        found,
        sync,
        inputs,
        orders=args.orders,
        seed=args.seed,
        execute=from_instructions if args.binary else concurrent,
        progress=Progress(),
    )


def _synced(args: Namespace, found: Traced) -> SyncProgram:
    """Return the engine programs to run. Raise HeadwayError."""
    from headway import targets
    from headway.cli.inputs import chosen_target
    from headway.cli.programs import load_synced
    from headway.fitting import fit
    from headway.ir import to_text

    if args.synced is None:
        return fit(found.program, chosen_target(args.target, args.limit), args.strategy)[0]
    sync = load_synced(args.synced)
    bound = targets.bind(found.program, targets.load(sync.target))
    if to_text(sync.program) != to_text(bound):
        raise InvalidInput(
            Diagnostic(
                f"{args.synced} does not implement the program that this kernel is traced to",
                help="trace with the same arguments, synchronize that, and change waits only",
            )
        )
    return sync


def _planted(
    args: Namespace, found: Traced, sync: SyncProgram, inputs: Inputs
) -> tuple[Outcome, str]:
    """Let waits end one signal early, one after the other, until one gives other values."""
    outcome: Outcome | None = None
    planted = ""
    for engine, changed in _early(sync, inputs):
        outcome = _run(args, found, changed, inputs)
        planted = f"a wait of engine {engine} ends one signal early"
        if not outcome.is_equal:
            break
    if outcome is None:
        raise InvalidInput("no wait of this program can end too early: nothing to plant")
    return outcome, planted


def _early(sync: SyncProgram, inputs: Inputs) -> Iterator[tuple[str, SyncProgram]]:
    from headway.check import check
    from headway.check.mutate import mutants

    for mutant in mutants(sync, ["threshold-lowered"]):
        try:
            is_early = check(mutant.program, inputs).verdict == "early"
        except InvalidProgram:
            continue  # it would wait for nothing
        if is_early:
            yield mutant.engine, mutant.program


def _print(args: Namespace, sync: SyncProgram, outcome: Outcome, planted: str) -> None:
    from headway.cli.files import print_json

    if args.json:
        facts: dict[str, object] = {
            "program": sync.program.name,
            "strategy": sync.strategy,
            "target": sync.target,
            "instructions": outcome.instructions,
            "orders": outcome.orders,
            "equal": outcome.is_equal,
            "different": list(outcome.different),
        }
        print_json({**facts, **({"planted": planted} if planted else {})})
        return
    print(f"{sync.program.name} on {sync.target}, synchronized by {sync.strategy}")
    if planted:
        print(f"planted: {planted}")
    print(f"{outcome.instructions:,} instructions in sequential order")
    for name, value in _shown(outcome):
        print(f"{name}: {value}")
    if outcome.is_equal:
        print(_equal(outcome.orders))
    else:
        names = ", ".join(outcome.different)
        print(f"concurrent order {outcome.order}: other bytes in {names}")


def _equal(orders: int) -> str:
    if orders == 0:
        return "no concurrent order was tried"
    return f"{counted(orders, 'concurrent order')}: every buffer holds the same bytes"


def _shown(outcome: Outcome) -> Iterator[tuple[str, str]]:
    """Yield a line for each result: its type, its shape and the mean of its elements."""
    for number, result in enumerate(outcome.results, 1):
        shape = ",".join(map(str, result.shape))
        mean = float(result.astype("float64").mean()) if result.size else 0.0
        yield f"result {number}", f"{result.dtype}[{shape}], mean {mean:.6g}"
