"""Headway's strategies beside the synchronization passes of a shipping compiler.

`python -m headway.bench.peers` prints the tables; `--programs N` sets the number of random programs
(500), `--page FILE` writes the page, `--json FILE` the figures. What was measured is kept as
that of `headway bench` is. Without the package `ascendnpu-ir` it says so and ends.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from headway import compiler, targets
from headway.bench.peer_shapes import INPUTS, randomly, shapes, straight
from headway.bench.run import executor, measured
from headway.bench.tables import geometric, table
from headway.check import check
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.ir.walk import instructions
from headway.peers import bisheng
from headway.peers.export import exported
from headway.peers.replay import printed, replayed
from headway.sim import simulate, simulate_ideal
from headway.sync.program import SyncProgram
from headway.targets import Target

THEIRS = tuple(bisheng.PASSES)
OURS = ("counted", "flags", "phase", "barrier")
COLUMNS = (*THEIRS, *OURS)
SOME_INPUTS: tuple[Inputs, ...] = (
    {"n": 0, "m": 2, "p": 1},
    {"n": 1, "m": 3, "p": 0},
    {"n": 5, "m": 4, "p": 1},
)
OPERATIONS = 1200
"""Instructions of the program that compile times are measured with."""


@dataclass(frozen=True, slots=True)
class Row:
    """One program: by column its verdict, and its time over the ideal machine's on each target."""

    title: str
    verdicts: dict[str, str] = field(default_factory=dict[str, str])
    ratios: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])


@dataclass(frozen=True, slots=True)
class Case:
    """What is measured at a time: a named shape, or if it has a seed a random program."""

    title: str
    seed: int | None = None

    def measure(self) -> dict[str, Any]:
        """Return the rows. Raise HeadwayError as `measure` does."""
        if self.seed is None:
            rows = measure(self.title, dict(shapes())[self.title], INPUTS)
        else:
            rows = measure(self.title, randomly(self.seed), *SOME_INPUTS)
        return {"rows": [asdict(row) for row in rows]}


def cases(programs: int) -> Iterator[Case]:
    """Yield the named shapes, and so many random programs."""
    yield from (Case(title) for title, _ in shapes())
    yield from (Case(f"random-{seed}", seed) for seed in range(programs))


@cache
def machines() -> dict[str, Target]:
    """Return the targets: one on which synchronization is free, one on which it is as on trn2."""
    free = targets.load("generic")
    trn2 = targets.load("trn2")
    costly = replace(free, sequencer=trn2.sequencer, barrier=trn2.barrier, has_register_sums=False)
    return {"free": free, "trn2 costs": costly}


def measure(title: str, program: Program, *runs: Inputs) -> Iterator[Row]:
    """Synchronize in every way, judge and simulate each run in which something is executed.

    Raise HeadwayError as these do.
    """
    free = machines()["free"]
    ours = {column: compiler.synchronize(program, free, column) for column in OURS}
    theirs = {column: printed(program, column) for column in THEIRS}
    for inputs in runs:
        synced: dict[str, tuple[SyncProgram, Inputs]] = {}
        for column, module in theirs.items():
            synced[column] = replayed(program, module, inputs, column), {}
        if not any(any(instructions(one.program.body)) for one, _ in synced.values()):
            continue
        synced |= {column: (ours[column], inputs) for column in OURS}
        yield _row(title, program, inputs, synced)


def _row(
    title: str, program: Program, inputs: Inputs, synced: Mapping[str, tuple[SyncProgram, Inputs]]
) -> Row:
    row = Row(title, {column: check(*one).verdict for column, one in synced.items()})
    for machine, target in machines().items():
        ideal = simulate_ideal(targets.bind(program, target), inputs, target).latency
        latencies = {c: simulate(one, given, target).latency for c, (one, given) in synced.items()}
        row.ratios[machine] = {c: ns / ideal if ideal else 1.0 for c, ns in latencies.items()}
    return row


def compile_times(size: int = OPERATIONS) -> dict[str, float]:
    """Return seconds of the processor that it takes to synchronize a straight line of `size`.

    For their passes they are those of a process that reads, synchronizes and prints; for ours
    those of a call.
    """
    program = straight(size // 3)
    text = exported(program)
    steps: dict[str, Callable[[], object]] = {
        **{name: lambda name=name: bisheng.synchronized(text, name) for name in THEIRS},
        **{name: lambda name=name: compiler.synchronize(program, "generic", name) for name in OURS},
    }
    return {name: _seconds(step) for name, step in steps.items()}


def _seconds(step: Callable[[], object]) -> float:
    begin = sum(os.times()[:4])  # of this process and of those that it has waited for
    step()
    return sum(os.times()[:4]) - begin


def page(named: list[Row], random_rows: list[Row], seconds: dict[str, float]) -> str:
    """Return the page in Markdown."""
    parts = [INTRODUCTION]
    for machine in machines():
        cells = ([row.title, *(f"{row.ratios[machine][c]:.2f}" for c in COLUMNS)] for row in named)
        parts += [
            f"## Named shapes, synchronization: {machine}",
            table(["shape", *COLUMNS], cells),
        ]
    parts += ["## Verdicts on the named shapes", table(["shape", *COLUMNS], map(_verdicts, named))]
    if random_rows:
        parts += [f"## {len(random_rows)} runs of random programs", _random(random_rows)]
    head = ["", *seconds]
    times = ["seconds", *(f"{value:.2f}" for value in seconds.values())]
    parts += [f"## Compile time, {OPERATIONS:,} instructions in a straight line"]
    parts += [
        "Time of the processor: for their passes that of a process, for ours that of a call.",
        table(head, [times]),
    ]
    return "\n\n".join(parts) + "\n"


def _verdicts(row: Row) -> list[str]:
    return [row.title, *(row.verdicts[column] for column in COLUMNS)]


def _random(rows: list[Row]) -> str:
    lines: list[list[str]] = []
    for machine in machines():
        ratios = {c: [row.ratios[machine][c] for row in rows] for c in COLUMNS}
        means = (f"{geometric(ratios[c]):.3f}" for c in COLUMNS)
        lines.append([f"geometric mean, {machine}", *means])
        lines.append([f"worst, {machine}", *(f"{max(ratios[c]):.2f}" for c in COLUMNS)])
    found = {column: Counter(row.verdicts[column] for row in rows) for column in COLUMNS}
    for verdict in sorted({verdict for counts in found.values() for verdict in counts}):
        lines.append([verdict, *(str(found[column][verdict]) for column in COLUMNS)])
    pairs = ((row.title, c) for row in rows for c in COLUMNS if row.verdicts[c] == "early")
    early = ", ".join(f"{title} by {column}" for title, column in dict.fromkeys(pairs))
    parts = [table(["", *COLUMNS], lines), *([f"Early: {early}."] if early else [])]
    return "\n\n".join(parts)


INTRODUCTION = """\
# Beside a shipping compiler

AscendNPU-IR is the open compiler of an accelerator whose engines, its *pipes*, are synchronized by
tokens that are set and taken, with eight names for each pair of pipes. Its passes InjectSync and
GraphSyncSolver place them; `barrier-all` is a mode for debugging with a barrier of all pipes at
every instruction. `python -m headway.bench.peers --page docs/peers.md` writes this page: it exports
programs of loads, additions and stores to that compiler, runs its passes as they come in the PyPI
package `ascendnpu-ir` 1.2.0, replays what they print for given trip counts, and gives the result to
the same judge and the same simulator as our own.

Figures are times over that of the ideal machine. *Free* is a machine on which synchronization takes
no time, so that only waiting for too much or too long counts; *trn2 costs* has the waits, flags,
registers, loops and barriers of the trn2 model, so it is not the machine that those passes are made
for. Replays are straight lines, without the time of loop control. How tokens work is our reading of
the public sources. That a placement is *late* means that some wait is stricter than it has to be;
it need not cost time. *Early* means that, by that reading, an order is missing: it is for a program
in which two branches of an `if` load into buffers that rotate with different loops, and tokens take
turns as if both rotated with the inner one."""


def main() -> None:
    """Measure, print and write down."""
    parser = ArgumentParser(prog="python -m headway.bench.peers")
    parser.add_argument("--programs", type=int, default=500, metavar="N")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes (default: one per core)")
    parser.add_argument("--results", type=Path, default=Path("results"), metavar="FOLDER")
    parser.add_argument("--page", type=Path, metavar="FILE")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    if bisheng.tool() is None:
        print("skipped: ascendnpu-ir is not installed (the extra `peers`)", file=sys.stderr)
        return
    wanted = list(cases(args.programs))
    with executor(args.jobs, None) as pool:
        found = measured(wanted, args.results / "points", pool, _say)
    named, rows = list[Row](), list[Row]()
    for case, result in zip(wanted, found, strict=True):
        (named if case.seed is None else rows).extend(Row(**row) for row in result["rows"])
    seconds = compile_times()
    text = page(named, rows, seconds)
    print(text)
    if args.page:
        args.page.write_text(text, encoding="utf-8")
    if args.json:
        figures: dict[str, Any] = {
            "rows": [asdict(row) for row in (*named, *rows)],
            "seconds": seconds,
        }
        args.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def _say(words: str) -> None:
    print(words, file=sys.stderr)


if __name__ == "__main__":
    main()
