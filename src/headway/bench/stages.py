"""Where `headway sync` spends its time: seconds of the processor for each stage, end to end.

`python -m headway.bench.stages` prints a table for programs of `headway.bench.compile_time`, as
text that is read, checked, bound to a target, synchronized, fitted by each pass, checked again and
printed. `--most N` leaves larger programs out, `--target NAME` asks for another target.
"""

from __future__ import annotations

import gc
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from headway import passes, strategies, targets
from headway.bench.compile_time import nests, straight
from headway.comparison import aligned
from headway.fitting import prepared
from headway.ir import parse, to_text, verify
from headway.ir.program import Program
from headway.sync import to_text as sync_text
from headway.sync import verify_sync
from headway.targets.target import Target

SHAPES: dict[str, Callable[[int], Program]] = {
    "straight line": straight,
    "one loop": lambda size: nests(1, 1, size, 50),
    "triple nests": lambda size: nests(size // 99, 3, 33),
}
PROGRAMS = (
    ("straight line", 10_000),
    ("straight line", 100_000),
    ("one loop", 10_000),
    ("one loop", 100_000),
    ("triple nests", 297),
    ("triple nests", 990),
    ("triple nests", 2_970),
)
"""Shapes and instructions. Engines of triple nests want hundreds of registers, which takes time."""

_Result = TypeVar("_Result")


class Stages:
    """Seconds of each stage, in the order in which they came."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def run(self, name: str, stage: Callable[[], _Result]) -> _Result:
        """Run a stage and note how long it took."""
        gc.collect()
        start = time.process_time()
        result = stage()
        self.seconds[name] = time.process_time() - start
        return result


def measured(program: Program, target: Target) -> dict[str, float]:
    """Return the seconds of each stage of `headway sync`. Raise as `synchronize` does."""
    text, stages = to_text(program), Stages()
    parsed = stages.run("read", lambda: parse(text))
    stages.run("verify", lambda: verify(parsed))
    bound, _ = stages.run("bind", lambda: prepared(parsed, target))
    strategy = strategies.load("counted")
    synced = stages.run("counted", lambda: strategy.synchronize(bound, target))
    for step in passes.chosen(None, passes.REGISTRY, strategy.synchronize):
        synced, _ = stages.run(step.name, lambda step=step, s=synced: passes.run(s, target, [step]))
    stages.run("verify the result", lambda: verify_sync(synced))
    stages.run("print", lambda: sync_text(synced))
    return stages.seconds


def lines(found: Mapping[tuple[str, int], Mapping[str, float]]) -> list[str]:
    """Return the table: a row for each stage, a column for each program."""
    names = dict.fromkeys(name for seconds in found.values() for name in seconds)
    rows = [["stage", *(f"{shape}, {size:,}" for shape, size in found)]]
    for name in names:
        rows.append([name, *(f"{seconds.get(name, 0):.2f}" for seconds in found.values())])
    rows.append(["all", *(f"{sum(seconds.values()):.2f}" for seconds in found.values())])
    return aligned(rows)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print; say on standard error how far it is."""
    parser = ArgumentParser(prog="python -m headway.bench.stages")
    parser.add_argument("--most", type=int, default=100_000, help="leave larger programs out")
    parser.add_argument("--target", default="trn2")
    args = parser.parse_args(arguments)
    target = targets.load(args.target)
    found: dict[tuple[str, int], dict[str, float]] = {}
    for shape, size in PROGRAMS:
        if size <= args.most:
            print(f"{shape}, {size:,} instructions", file=sys.stderr)
            found[shape, size] = measured(SHAPES[shape](size), target)
    print("\n".join(lines(found)))


if __name__ == "__main__":
    main()
