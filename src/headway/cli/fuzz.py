"""`headway fuzz`: random programs against the strategies, or mutants against the judge."""

from __future__ import annotations

import json
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from headway.cli.arguments import (
    add_command,
    add_json,
    add_strategies,
    chosen_names,
    chosen_strategies,
    positive,
)
from headway.cli.codes import CHECK_FAILED
from headway.errors import counted
from headway.progress import say

if TYPE_CHECKING:
    from headway.check.fuzz import Campaign, Candidate, Failure, Times
    from headway.check.trial import Tried
    from headway.ir.expr import Inputs
    from headway.ir.program import Program
    from headway.strategies import Strategy
    from headway.sync.program import SyncProgram
    from headway.targets import Target

TARGET = "generic"
ALL = "all"
SWITCHED = " with switched "
"""Between the name of a strategy and those of options."""

PATIENCE = 2.0
"""Seconds between two lines of progress."""

T = TypeVar("T")


def add_parser(subparsers: Any) -> None:
    """Add this command."""
    parser = add_command(
        subparsers,
        "fuzz",
        "judge the strategies on random programs, or the judge on mutants",
        "headway fuzz --programs 1000 --seed 1",
        "headway fuzz --programs 200 --strategies scoreboard --mutants --json",
        "headway fuzz --programs 100000 --strategies counted --options all --in-turn --jobs 8",
    )
    parser.add_argument(
        "--programs", type=positive, default=1000, metavar="N", help="how many (1000)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the first seed (0)")
    add_strategies(parser)
    parser.add_argument(
        "--options",
        metavar="A,B",
        default="",
        help="each of these options switched too, alone and together; `all` for all that there are",
    )
    parser.add_argument(
        "--jobs", type=positive, default=2, metavar="N", help="how many processes (2)"
    )
    parser.add_argument(
        "--mutants",
        action="store_true",
        help="make one mistake at a time and see whether the judge catches it",
    )
    parser.add_argument(
        "--in-turn",
        action="store_true",
        help="try each program with one strategy, another one for each seed",
    )
    parser.add_argument(
        "--list",
        metavar="FILE",
        help="with --mutants: write every mutant that makes no difference, one JSON object a line,"
        " with what in it is redundant and how that was established",
    )
    parser.add_argument(
        "-o",
        "--output",
        default=".",
        metavar="FOLDER",
        help="where small programs that fail are written (the current folder)",
    )
    add_json(parser)
    # Its processes are copies of this one, so there must be no other thread to copy.
    parser.set_defaults(run=run, is_watched=False)


def run(args: Namespace) -> int:
    """Run this command; the exit code is 3 if anything failed."""
    from headway import strategies
    from headway.errors import InvalidInput

    chosen = tuple(chosen_strategies(args.strategies) or strategies.names())
    options = chosen_names(args.options) or []
    tried = tuple(way for name in chosen for way in ways(name, options))
    if not Path(args.output).is_dir():  # better now than when something has been found
        raise InvalidInput(f"{args.output!r} is not a folder")
    if args.list and not args.mutants:
        raise InvalidInput("--list is about mutants: add --mutants")
    if args.list and not Path(args.list).parent.is_dir():  # better now than after a night
        raise InvalidInput(f"cannot write {args.list!r}: there is no such folder")
    return _mutants(args, chosen, tried) if args.mutants else _programs(args, chosen, tried)


def ways(name: str, asked: Sequence[str]) -> Iterator[str]:
    """Yield a strategy as it is, with each option switched alone, and with all of them switched.

    Raise InvalidInput on an unknown strategy, and on an option that it has not, if it has any.
    """
    from headway import strategies
    from headway.errors import InvalidInput
    from headway.registry import unknown
    from headway.strategies.options import options

    there = tuple(options(strategies.load(name)))
    yield name
    if not there:
        return
    for option in asked:
        if option not in (*there, ALL):
            raise InvalidInput(unknown("option", option, there))
    switched = there if ALL in asked else tuple(asked)
    yield from (f"{name}{SWITCHED}{option}" for option in switched)
    if len(switched) > 1:
        yield f"{name}{SWITCHED}{','.join(switched)}"


def _programs(args: Namespace, chosen: tuple[str, ...], tried: tuple[str, ...]) -> int:
    from headway.check.fuzz import KINDS, Campaign, first_of_each, spread
    from headway.cli.files import print_json

    campaign = Campaign(candidates(tried), simulated, is_in_turn=args.in_turn)
    failures: list[Failure] = []
    refused: Counter[str] = Counter()
    instances = 0
    seeds = range(args.seed, args.seed + args.programs)
    for outcome in _watched(spread(campaign.outcome, seeds, args.jobs), args.programs):
        instances += outcome.instances
        failures += outcome.failures
        for failure in outcome.failures:  # a long run need not come to its end to be of use
            say(f"seed {failure.seed}: {failure.strategy}: {failure.kind}")
        refused.update(outcome.refused)
    kinds = Counter(failure.kind for failure in failures)
    files = [_written(args.output, campaign, failure) for failure in first_of_each(failures)]
    report: dict[str, object] = {
        "programs": args.programs,
        "seed": args.seed,
        "strategies": list(chosen),
        "ways": list(tried),
        "instances": instances,
        **{kind: kinds[kind] for kind in KINDS},
        "refused": dict(refused),
        "files": files,
    }
    if args.json:
        print_json(report)
    else:
        found = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS)
        ran = f"{counted(args.programs, 'program')}, {counted(instances, 'instance')}"
        print(f"{ran}: {found}")
        if len(tried) > len(chosen):
            each = "one of" if args.in_turn else "all of"
            print(f"each with {each} {len(tried)} strategies: some with options switched")
        for name, count in refused.items():
            print(f"{name} does not support {count:,} of them")
    return CHECK_FAILED if failures else 0


def _mutants(args: Namespace, chosen: tuple[str, ...], tried: tuple[str, ...]) -> int:
    from headway.check.fuzz import spread
    from headway.check.trial import Mutation
    from headway.cli.files import print_json, write_text

    mutation = Mutation(candidates(tried), simulated, is_in_turn=args.in_turn)
    listed: list[str] = []
    fates: Counter[str] = Counter()
    by_kind: dict[str, Counter[str]] = {}
    redundant: Counter[str] = Counter()
    missed: list[Tried] = []
    seeds = range(args.seed, args.seed + args.programs)
    for mutants in _watched(spread(mutation.outcome, seeds, args.jobs), args.programs):
        for mutant in mutants:
            fates[mutant.fate] += 1
            by_kind.setdefault(mutant.kind, Counter())[mutant.fate] += 1
            if mutant.fate == "equivalent":
                redundant[mutant.message] += 1
                listed += [f"{json.dumps(_listed(mutant))}\n"] if args.list else []
            missed += [mutant] if mutant.fate == "missed" else []
    if args.list:
        write_text(args.list, "".join(listed))
    report: dict[str, object] = {
        "programs": args.programs,
        "seed": args.seed,
        "strategies": list(chosen),
        "mutants": fates.total(),
        **{fate: fates[fate] for fate in ("caught", "equivalent", "missed")},
        "kinds": {kind: dict(counts) for kind, counts in by_kind.items()},
        "redundant": dict(redundant),
    }
    if args.json:
        print_json(report)
    else:
        ran = f"{counted(args.programs, 'program')}, {counted(fates.total(), 'mutant')}"
        print(f"{ran}: {_counts(fates)}")
        for kind, counts in by_kind.items():
            print(f"  {kind}: {_counts(counts)}")
        for reason, count in redundant.items():
            print(f"  redundant: {count:,}, {reason}")
    for mutant in missed[:10]:
        where = f"seed {mutant.seed}, {mutant.strategy}, {mutant.kind} in {mutant.engine}"
        print(f"missed: {where}, {mutant.place}: {mutant.message}", file=sys.stderr)
    return CHECK_FAILED if missed else 0


def _listed(mutant: Tried) -> dict[str, object]:
    """Return a mutant that makes no difference, for the list of them."""
    facts = mutant._asdict()
    del facts["fate"]
    return {**facts, "message": f"redundant: {mutant.message}"}


def _counts(fates: Counter[str]) -> str:
    return ", ".join(f"{fates[fate]:,} {fate}" for fate in ("caught", "equivalent", "missed"))


def candidates(names: tuple[str, ...]) -> tuple[Candidate, ...]:
    """Return strategies by name, in a form that other processes can load."""
    from headway.check.fuzz import Candidate

    return tuple(Candidate(name, partial(synchronized, name)) for name in names)


def synchronized(strategy: str, program: Program) -> SyncProgram:
    """Return the engine programs of a program that is bound already."""
    return _strategy(strategy).synchronize(program, _target())


def simulated(synced: SyncProgram, inputs: Inputs) -> Times:
    """Return when each instance was issued and completed where synchronization is free."""
    from headway.sim import simulate

    timeline = simulate(synced, inputs, _target())
    return {track.counter: [(t.issue, t.done) for t in track] for track in timeline.tracks}


@cache
def _strategy(way: str) -> Strategy:
    """Return a strategy, with the options switched that its name is followed by."""
    from dataclasses import replace

    from headway import strategies

    name, _, names = way.partition(SWITCHED)
    strategy = strategies.load(name)
    if not names:
        return strategy
    changed = {option: not getattr(strategy, option) for option in names.split(",")}
    return replace(cast("Any", strategy), **changed)


@cache
def _target() -> Target:
    from headway import targets

    return targets.load(TARGET)


def _watched(outcomes: Iterable[T], total: int) -> Iterator[T]:
    """Pass outcomes on; say on standard error how far it is when that takes long."""
    last = time.monotonic()
    for done, outcome in enumerate(outcomes, 1):
        yield outcome
        if time.monotonic() - last > PATIENCE:
            last = time.monotonic()
            say(f"{done:,} of {total:,} programs")


def _written(folder: str, campaign: Campaign, failure: Failure) -> str:
    """Write a small program that fails in the same way; return the name of the file."""
    from headway.check.fuzz import to_file
    from headway.cli.files import write_text

    way = failure.strategy.replace(SWITCHED, "-").replace(",", "-")
    name = f"seed-{failure.seed}-{way}-{failure.kind}.hwy"
    path = str(Path(folder, name))
    write_text(path, to_file(campaign.shrunk(failure), failure))
    print(f"{failure.strategy}: {failure.kind}: {path}", file=sys.stderr)
    return path
