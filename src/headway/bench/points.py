"""What the benchmark measures: a kernel with parameters, on a target, with strategies.

Every point of a kernel does the same work: with U tiles per iteration, loops over tiles run the
U-th part as often.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from headway import kernels, strategies, targets
from headway.bench.remainder import parts
from headway.comparison import Measured
from headway.compiler import compare
from headway.fitting import fit
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.ir.walk import instructions
from headway.kernels import manual
from headway.passes.report import report
from headway.sim import simulate
from headway.strategies import Strategy
from headway.strategies.options import options
from headway.targets import Target
from headway.targets.spread import COSTS, spread

SIZE = 4
"""How many times the usual work of a kernel is measured."""

ALL = ("barrier", "barrier-always", "counted", "flags", "phase", "scoreboard")
TWO = ("barrier", "counted")
TARGETS = ("trn1", "trn2", "trn3")
TILES, BUFFERS = (1, 2, 4, 8), (1, 2, 4)
CHAINS, DURATIONS = (2, 3, 4), (64, 128, 256, 512, 1024, 2048)


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement. `costs` is of `spread`; each option in `without` is switched off alone."""

    table: str
    kernel: str
    target: str
    params: tuple[tuple[str, int], ...] = ()
    strategies: tuple[str, ...] = TWO
    costs: str = "default"
    without: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What is measured, in words."""
        words = [f"{name}={value}" for name, value in self.params]
        words += [self.costs] if self.costs != "default" else []
        words += [f"without {option}" for option in self.without]
        return f"{self.kernel} on {self.target}" + (f" ({', '.join(words)})" if words else "")

    def measure(self) -> dict[str, Any]:
        """Synchronize and simulate; return the documented JSON form."""
        kernel = kernels.load(self.kernel)
        params = dict(self.params)
        program = kernel.program(**params)
        inputs = kernel.usual(program, params.get("tiles", 1), SIZE)
        on = spread(targets.load(self.target), self.costs)
        begin = time.process_time()
        found = compare(program, inputs, on, self.strategies)
        measured = dict(found.strategies)
        for option in self.without:
            measured[option] = _without(option, program, on, inputs)
        if self.table == "manual":
            measured["manual"] = _manual(self.kernel, on, inputs)
        lost = {"parts": parts(program, inputs, on)} if self.table == "suite" else {}
        return {
            **found.to_json(),
            **lost,
            **asdict(self),
            "params": params,
            "instructions": sum(1 for _ in instructions(program.body)),
            "without": list(self.without),
            "strategies": {name: one.to_json() for name, one in measured.items()},
            "seconds": time.process_time() - begin,
        }


def points(only: tuple[str, ...] = (), quick: bool = False) -> Iterator[Point]:
    """Return what to measure, for some kernels only if they are named.

    `quick` leaves out what takes longest: other targets, other costs and most numbers of tiles.
    """
    for name in only or kernels.names():
        yield from _of_kernel(name, quick)
    if not only or "sync-chain" in only:
        yield from _chains(quick)


def _of_kernel(name: str, quick: bool) -> Iterator[Point]:
    for target in ("trn2",) if quick else TARGETS:
        yield Point("suite", name, target, strategies=ALL)
        if name in manual.names():
            yield Point("manual", name, target)
        if kernels.load(name).source:
            yield Point("nki", name, target, (("nki", 1),))
    if not any(parameter.name == "tiles" for parameter in kernels.load(name).parameters):
        return
    for tiles in (1, 4) if quick else TILES:
        for buffers in (2,) if quick else BUFFERS:
            yield Point("tiles", name, "trn2", (("tiles", tiles), ("buffers", buffers)))
    if not quick:
        usual = (("tiles", 4), ("buffers", 2))
        yield from (Point("costs", name, "trn2", usual, costs=each) for each in COSTS)
        without = tuple(options(strategies.load("counted")))
        yield Point("options", name, "trn2", strategies=("counted",), without=without)


def _chains(quick: bool) -> Iterator[Point]:
    for engines in (3,) if quick else CHAINS:
        for duration in (128,) if quick else DURATIONS:
            for buffers in (2,) if quick else BUFFERS:
                params = {"engines": engines, "duration": duration, "buffers": buffers}
                yield Point("chain", "sync-chain", "trn2", tuple(params.items()), ALL)


def _without(option: str, program: Program, on: Target, inputs: Inputs) -> Measured:
    counted: Any = strategies.load("counted")
    strategy: Strategy = replace(counted, **{option: False})
    synced, needs = fit(program, on, strategy)
    return Measured.of(simulate(synced, inputs, on), needs)


def _manual(name: str, on: Target, inputs: Inputs) -> Measured:
    synced = manual.load(name, on)
    return Measured.of(simulate(synced, inputs, on), report(synced, ()))
