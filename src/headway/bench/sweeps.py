"""Make one thing of a program larger and larger, and see what each strategy loses to the ideal.

`python -m headway.bench.sweeps` writes `results/sweeps.json`, `docs/sweeps.md` and its pictures.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headway import kernels, targets
from headway.bench.shapes import shape
from headway.bench.tables import Cells, table
from headway.comparison import duration
from headway.compiler import synchronize
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.sim import simulate, simulate_ideal
from headway.strategies import Strategy
from headway.strategies.flags import Flags
from headway.targets import Target
from headway.targets.limits import limited

TARGETS = ("generic", "trn2")
MANY = 1000
STRATEGIES: dict[str, str | Strategy] = {
    "counted": "counted",
    "flags, 8 ids": "flags",
    "flags, any ids": Flags(ids=MANY),
    "phase": "phase",
    "barrier": "barrier",
}
"""The columns, by title."""

INTRODUCTION = """\
# Sweeps

What each strategy loses to the ideal machine while one thing of a program grows: `make bench`
writes this page. Every instruction takes 512 ns, unless said otherwise. On `generic`
synchronization takes no time, so that a loss there is one of waiting for too much or too long; on
`trn2` the time that waits, flags, registers and loops take comes to it.

`flags` are set and taken, with 8 ids for each pair of a counter and an engine, or with any number
of them: what 8 ids lose more is lost for want of names. `phase` are barriers with one phase bit,
as many as it takes. `counted` needs one counter for each engine, whatever grows; what it may run
out of is registers. How they are modelled is written in [the strategies](../src/headway/strategies)
themselves, and is our own reading of such machines.
"""


@dataclass(frozen=True, slots=True)
class Sweep:
    """A shape, the parameter that grows, and what to say about it."""

    shape: str
    parameter: str
    values: tuple[int, ...]
    inputs: Inputs
    title: str
    text: str
    is_limit: bool = False
    """Whether the parameter is a limit of the target, and the program stays a rotation of 4."""

    def program(self, value: int) -> Program:
        """Return the program for a value of the parameter."""
        if self.is_limit:
            return shape("rotation", slots=4)
        if self.shape.startswith("chain-"):
            engines = int(self.shape.removeprefix("chain-"))
            return kernels.load("sync-chain").program(engines=engines, duration=value, buffers=2)
        return shape(self.shape, **{self.parameter: value})

    def target(self, name: str, value: int) -> Target:
        """Return the target for a value of the parameter."""
        target = targets.load(name)
        return limited(target, {self.parameter: value}) if self.is_limit else target

    def points(self, values: tuple[int, ...] = (), on: tuple[str, ...] = ()) -> Iterator[Point]:
        """Measure, with some of the values or on some of the targets only if they are given."""
        for value in values or self.values:
            for target in on or TARGETS:
                yield _point(self, value, target)


@dataclass(frozen=True, slots=True)
class Point:
    """What was measured with one value of the parameter on one target; latencies in ns."""

    sweep: Sweep
    value: int
    target: str
    ideal: float
    latencies: dict[str, float]

    def loss(self, column: str) -> float:
        """Return by what fraction a strategy takes longer than the ideal machine."""
        return self.latencies[column] / self.ideal - 1

    def cells(self) -> Cells:
        """Return the row of the table."""
        losses = (f"{self.loss(column):.1%}" for column in self.latencies)
        gain = f"{self.latencies['barrier'] / self.latencies['counted']:.2f}x"
        return (str(self.value), self.target, duration(self.ideal), *losses, gain)

    def to_json(self) -> dict[str, object]:
        """Return the documented JSON form."""
        return {
            "shape": self.sweep.shape,
            "params": {self.sweep.parameter: self.value},
            "inputs": dict(self.sweep.inputs),
            "target": self.target,
            "ideal_ns": self.ideal,
            "latency_ns": self.latencies,
        }


SWEEPS = (
    Sweep(
        "fan-out",
        "width",
        (7, 8, 9, 12, 30, 100, 300),
        {"n": 0},
        "Fan-out (T9)",
        "So many buffers are written by one engine, and then all of them are read by another one.",
    ),
    Sweep(
        "rotation",
        "slots",
        (1, 2, 3, 8, 9, 16, 32, 64),
        {"n": 256},
        "Rotation (T5)",
        "A buffer of so many slots is written and read in 256 iterations. Work is even, so that two"
        " slots are as good as 64, and who treats 64 slots as 8 loses nothing.",
    ),
    Sweep(
        "bursts",
        "slots",
        (1, 2, 3, 8, 9, 16, 32, 64),
        {"n": 512},
        "Rotation with bursts (T5)",
        "The same where the reader stops for 16 us in every 64th of 512 iterations and catches up"
        " with instructions of 128 ns: every slot is a write that need not wait. Since the stop is"
        " under an `if`, distances are not static, and `counted` keeps a register for each slot. An"
        " engine of trn2 has 64 registers: for 64 slots they are too few, and slots have to share.",
    ),
    Sweep(
        "nest",
        "depth",
        (1, 2, 3, 4, 5),
        {"n": 3},
        "Nests (T15)",
        "So many loops of three iterations inside each other. Each has a double buffer, which is in"
        " use in front of the next loop and behind it: there is work at every level. Flags lose by"
        " draining a loop whenever it ends, less for want of names; phases go on to its next run.",
    ),
    *(
        Sweep(
            f"chain-{engines}",
            "duration",
            (64, 128, 256, 512, 1024, 2048),
            {"n": 256},
            f"A chain of {engines} engines",
            "Each hands tiles on to the next through two slots; every instruction takes so many ns."
            + more,
        )
        for engines, more in (
            (2, " A barrier serializes the chain, so that the gain grows with its length."),
            (3, ""),
            (4, ""),
        )
    ),
    Sweep(
        "in-place",
        "slots",
        (2, 3, 4, 8),
        {"n": 256},
        "Change in place (T6)",
        "One engine fills a slot ahead, one changes it in place, one takes it out: two dependences"
        " on one slot, in a buffer of so many.",
    ),
    Sweep(
        "recurrence",
        "duration",
        (32, 64, 128, 256, 512, 1024),
        {"n": 256},
        "A recurrence of short instructions",
        "Six instructions of so many ns on three engines in turn, each of which needs the one"
        " before, as in a recurrent delta rule: nothing overlaps, and every hop counts.",
    ),
    Sweep(
        "semaphores",
        "width",
        (4, 6, 8, 10, 12, 16, 32),
        {"n": 2000},
        "Width of semaphores (T18)",
        "Semaphores of so many bits, with a sign, in a rotation over four slots of 2,000"
        " iterations. Where counters could run full, barriers at run-time intervals start them"
        " again.",
        is_limit=True,
    ),
)


def _point(sweep: Sweep, value: int, name: str) -> Point:
    target = sweep.target(name, value)
    program = targets.bind(sweep.program(value), target)
    ideal = simulate_ideal(program, sweep.inputs, target).latency
    latencies = {
        title: simulate(synchronize(program, target, strategy), sweep.inputs, target).latency
        for title, strategy in STRATEGIES.items()
    }
    return Point(sweep, value, name, ideal, latencies)


def section(sweep: Sweep, points: list[Point]) -> str:
    """Return the heading, the text, the picture and the table of a sweep."""
    head = (sweep.parameter, "target", "ideal", *STRATEGIES, "counted vs barrier")
    parts = [f"## {sweep.title}", sweep.text, f"![{sweep.shape}](images/sweep-{sweep.shape}.svg)"]
    return "\n\n".join([*parts, table(head, [point.cells() for point in points])]) + "\n"


def main() -> None:
    """Write the files below the current folder, and print the tables."""
    from headway.bench.pictures import draw_sweep  # it knows these points

    pages, found = [INTRODUCTION], list[Point]()
    for sweep in SWEEPS:
        points = list(sweep.points())
        found += points
        pages.append(section(sweep, points))
        draw_sweep(sweep.shape, sweep.parameter, points, Path("docs/images"))
        print(pages[-1])
    Path("results").mkdir(exist_ok=True)
    text = json.dumps([point.to_json() for point in found], indent=2)
    Path("results/sweeps.json").write_text(f"{text}\n", encoding="utf-8")
    Path("docs/sweeps.md").write_text("\n".join(pages), encoding="utf-8")


if __name__ == "__main__":
    main()
