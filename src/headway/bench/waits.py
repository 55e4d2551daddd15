"""Waits that a strategy executes, beside the fewest with which a run is not early.

`python -m headway.bench.waits` prints the table for the kernels of the suite and the packaged NKI
kernels, on trn2; `--json FILE` writes it down, `--strategy NAME` takes another strategy than
`counted`, `--switch OPTION` switches one of its options off, and `--without PASS` leaves out a
pass. `--why` says of the suite what the waits beyond the fewest are, and how many no program with
waits at these places could leave out.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import chain
from math import exp, log
from pathlib import Path
from typing import Any, cast

from headway import kernels, strategies, targets
from headway.bench.surplus import CLASSES, least, surplus
from headway.check.minimum import fewest_waits
from headway.comparison import aligned
from headway.compiler import synchronize
from headway.errors import InvalidInput
from headway.frontends.nki.packaged import KERNELS
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.passes.pipeline import ORDER
from headway.registry import unknown
from headway.sim import simulate, simulate_ideal
from headway.strategies import Strategy
from headway.strategies.options import options
from headway.targets import bind

TARGET = "trn2"
VARIANTS: dict[str, tuple[dict[str, int], ...]] = {
    "calibration-loop": ({"tiles": 1}, {"tiles": 4}),
    "sync-chain": ({"engines": 3}, {"engines": 3, "buffers": 4}),
}
"""Kernels whose figures with other parameters than the usual ones are told too."""
HEADER = ["program", "waits", "fewest", "ratio", "over ideal", "registers"]


@dataclass(frozen=True, slots=True)
class Row:
    """One program. `registers` are those of engines that have some; `excess` 0.1 is 10% late."""

    program: str
    waits: int
    fewest: int
    registers: Mapping[str, int]
    excess: float

    @property
    def ratio(self) -> float:
        """How many times the fewest waits are executed; 1 where none is needed or executed."""
        return self.waits / self.fewest if self.fewest else 1.0 + self.waits


Made = tuple[str, Program, Inputs]


def suite() -> Iterator[Made]:
    """Yield the programs of the suite, with a title and inputs."""
    for name in kernels.names():
        kernel = kernels.load(name)
        for params in VARIANTS.get(name, ({},)):
            title = name + "".join(f" {key}={value}" for key, value in params.items())
            yield title, kernel.program(**params), kernel.inputs


def packaged() -> Iterator[Made]:
    """Yield the packaged NKI kernels that are installed."""
    for kernel in KERNELS:
        if kernel.is_installed():
            yield f"{kernel.package} {kernel.name}", kernel.record().program(), {}


def row(
    title: str,
    program: Program,
    inputs: Inputs,
    strategy: Strategy,
    passes: tuple[str, ...] | None = None,
) -> Row:
    """Synchronize, simulate and count. Raise HeadwayError as these do."""
    target = targets.load(TARGET)
    synced = synchronize(program, target, strategy, passes)
    run = simulate(synced, inputs, target)
    bound = bind(program, target)
    ideal = simulate_ideal(bound, inputs, target)
    sizes = {e.engine: sum(register.size for register in e.registers) for e in synced.engines}
    registers = {engine: size for engine, size in sizes.items() if size}
    fewest = fewest_waits(bound, inputs)
    return Row(title, run.waits, fewest, registers, run.latency / ideal.latency - 1)


def switched(strategy: Strategy, names: Iterable[str]) -> Strategy:
    """Return a strategy with options switched off. Raise InvalidInput on an unknown one."""
    for name in names:
        if name not in options(strategy):
            raise InvalidInput(unknown("option", name, tuple(options(strategy))))
    changed = {name: not getattr(strategy, name) for name in names}
    return replace(cast(Any, strategy), **changed) if changed else strategy


def passes_without(names: Iterable[str]) -> tuple[str, ...]:
    """Return the passes but some. Raise InvalidInput on an unknown one."""
    left_out = tuple(names)
    for name in left_out:
        if name not in ORDER:
            raise InvalidInput(unknown("pass", name, ORDER))
    return tuple(name for name in ORDER if name not in left_out)


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the table, and the worst and the mean of the ratios."""
    done = list(rows)
    yield from aligned(
        [
            HEADER,
            *(
                [
                    r.program,
                    f"{r.waits:,}",
                    f"{r.fewest:,}",
                    f"{r.ratio:.3f}",
                    f"{r.excess:+.1%}",
                    ", ".join(f"{engine} {size}" for engine, size in r.registers.items()),
                ]
                for r in done
            ),
        ]
    )
    mean = exp(sum(log(r.ratio) for r in done) / len(done))
    yield f"worst {max(r.ratio for r in done):.3f}, geometric mean {mean:.3f}"


WHY = ["program", "waits", *CLASSES, "places", "idle", "least", "ratio"]


def _why(
    title: str, program: Program, inputs: Inputs, strategy: Strategy, passes: tuple[str, ...]
) -> list[str]:
    print(f"measuring {title}", file=sys.stderr)
    synced = synchronize(program, TARGET, strategy, passes)
    found, fewer = surplus(synced, inputs), least(synced, inputs)
    waits = sum(found.values())
    numbers = (waits, *(found[each] for each in CLASSES), fewer.places, fewer.idle, fewer.waits)
    return [title, *(f"{number:,}" for number in numbers), f"{waits / fewer.waits:.3f}"]


def main() -> None:
    """Print the table."""
    parser = ArgumentParser(prog="python -m headway.bench.waits")
    parser.add_argument("--strategy", default="counted", choices=strategies.names())
    parser.add_argument(
        "--switch", metavar="OPTION", action="append", default=[], help="an option of the strategy"
    )
    parser.add_argument("--without", metavar="PASS", action="append", default=[], help="a pass")
    parser.add_argument("--why", action="store_true", help="what the waits of the suite are")
    parser.add_argument("--json", type=Path, metavar="FILE")
    args = parser.parse_args()
    strategy = switched(strategies.load(args.strategy), args.switch)
    passes = passes_without(args.without)
    if args.why:
        print("\n".join(aligned([WHY, *(_why(*program, strategy, passes) for program in suite())])))
        return
    rows: list[Row] = []
    for program in chain(suite(), packaged()):
        print(f"measuring {program[0]}", file=sys.stderr)
        rows.append(row(*program, strategy, passes))
    print("\n".join(lines(rows)))
    if args.json:
        found = [{**asdict(row), "ratio": row.ratio} for row in rows]
        args.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
