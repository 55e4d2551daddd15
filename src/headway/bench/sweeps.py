"""Make one thing of a program larger and larger, and see what each strategy loses to the ideal.

`python -m headway.bench.sweeps` writes `results/sweeps.json` and `docs/sweeps.md`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headway import targets
from headway.bench.shapes import shape
from headway.compiler import duration, synchronize
from headway.ir.expr import Inputs
from headway.sim import simulate, simulate_ideal
from headway.strategies import Strategy
from headway.strategies.flags import Flags

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

    def __str__(self) -> str:
        """Return the row of the table."""
        losses = (f"{self.loss(column):.1%}" for column in self.latencies)
        cells = (str(self.value), self.target, duration(self.ideal), *losses)
        return f"| {' | '.join(cells)} |"

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
)


def _point(sweep: Sweep, value: int, name: str) -> Point:
    target = targets.load(name)
    program = targets.bind(shape(sweep.shape, **{sweep.parameter: value}), target)
    ideal = simulate_ideal(program, sweep.inputs, target).latency
    latencies = {
        title: simulate(synchronize(program, target, strategy), sweep.inputs, target).latency
        for title, strategy in STRATEGIES.items()
    }
    return Point(sweep, value, name, ideal, latencies)


def section(sweep: Sweep, points: list[Point]) -> str:
    """Return the heading, the text and the table of a sweep."""
    columns = (sweep.parameter, "target", "ideal", *STRATEGIES)
    head = f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"
    return "\n".join([f"## {sweep.title}\n\n{sweep.text}\n\n{head}", *map(str, points)]) + "\n"


def main() -> None:
    """Write both files below the current folder, and print the tables."""
    pages, found = [INTRODUCTION], list[Point]()
    for sweep in SWEEPS:
        points = list(sweep.points())
        found += points
        pages.append(section(sweep, points))
        print(pages[-1])
    Path("results").mkdir(exist_ok=True)
    text = json.dumps([point.to_json() for point in found], indent=2)
    Path("results/sweeps.json").write_text(f"{text}\n", encoding="utf-8")
    Path("docs/sweeps.md").write_text("\n".join(pages), encoding="utf-8")


if __name__ == "__main__":
    main()
