"""How long strategies take over the size and the depth of a program.

`python -m headway.bench.compile_time` prints a table: seconds of the processor for `synchronize`
alone, and the waits that are written. `--quick` skips the largest programs, `--json FILE` writes
the figures down, `--plot FILE` draws them with matplotlib, of the extra `docs`.

The programs are random and hostile: every instruction reads two buffers and writes one, of plain
and of rotating ones that all loops of a nest use, each with its own iteration.
"""

from __future__ import annotations

import gc
import json
import random
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headway import strategies
from headway.comparison import aligned
from headway.ir.expr import Binary, Input, Iteration
from headway.ir.program import (
    Access,
    Buffer,
    Engine,
    InputDecl,
    Instr,
    Loop,
    Node,
    Program,
    Takes,
)
from headway.sync.program import Exec, SyncProgram, walk_sync
from headway.targets.generic import TARGET

STRATEGIES = ("counted", "scoreboard")
LARGEST = {"scoreboard": 10_000}
"""Instructions up to which a strategy is measured that takes long; others are at all sizes."""

ENGINES = ("tensor", "vector", "scalar", "gpsimd", "sync")
SIZES = (1_000, 10_000, 100_000)
DEPTHS = range(1, 13)
INSTRUCTIONS = 1_200
"""Of a nest whose depth varies."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One strategy on one program. `seconds` are those of the processor."""

    shape: str
    depth: int
    instructions: int
    strategy: str
    seconds: float
    waits: int


class _Maker:
    """Makes random instructions, always the same ones."""

    def __init__(self, buffers: int) -> None:
        self._dice = random.Random(0)
        self._buffers = buffers
        self._names = 0

    def instr(self, loop: str | None = None) -> Instr:
        engine = self._dice.choice(ENGINES)
        reads = (self._access(loop), self._access(loop))
        return Instr(self._name("x"), engine, None, reads, (self._access(loop),), Takes(10, 10))

    def nest(self, depth: int, instructions: int) -> Loop:
        """Return loops inside each other, with instructions before and behind the inner one."""
        loop = self._name("i")
        body: list[Node] = [self.instr(loop) for _ in range(instructions)]
        if depth > 1:
            body.insert(instructions // 2, self.nest(depth - 1, instructions))
        return Loop(loop, Input("n"), tuple(body))

    def program(self, body: Iterable[Node]) -> Program:
        plain = (Buffer(f"plain{i}") for i in range(self._buffers))
        rotating = (Buffer(f"rotating{i}", 2) for i in range(self._buffers))
        engines = tuple(map(Engine, ENGINES))
        inputs = (InputDecl("n"),)
        return Program("p", tuple(body), inputs, engines, (), (*plain, *rotating))

    def _access(self, loop: str | None) -> Access:
        number = self._dice.randrange(self._buffers)
        if loop is None or self._dice.random() < 0.3:
            return Access(f"plain{number}")
        slot = Binary("%", Binary("+", Iteration(loop), self._dice.randrange(2)), 2)
        return Access(f"rotating{number}", slot)

    def _name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"


def straight(size: int) -> Program:
    """Return straight-line code."""
    maker = _Maker(50)
    return maker.program(maker.instr() for _ in range(size))


def nests(number: int, depth: int, instructions: int, buffers: int = 20) -> Program:
    """Return nests, one after the other, with so many instructions in each loop."""
    maker = _Maker(buffers)
    return maker.program(maker.nest(depth, instructions) for _ in range(number))


Made = tuple[str, int, int, Callable[[], Program]]


def programs(is_quick: bool) -> Iterator[Made]:
    """Yield shape, depth, size and how to make each program."""
    sizes = SIZES[:-1] if is_quick else SIZES
    for size in sizes:
        yield "straight line", 0, size, lambda size=size: straight(size)
    for size in sizes:
        yield "one loop", 1, size, lambda size=size: nests(1, 1, size, 50)
    for depth in DEPTHS:
        each = INSTRUCTIONS // depth
        yield "one nest", depth, each * depth, lambda d=depth, e=each: nests(1, d, e)
    for size in sizes:
        yield "triple nests", 3, size // 100 * 99, lambda n=size // 100: nests(n, 3, 33)


def measure(made: Made, strategy: str) -> Figure:
    """Synchronize once."""
    shape, depth, size, make = made
    program = make()
    chosen = strategies.load(strategy)
    gc.collect()
    start = time.process_time()
    synced = chosen.synchronize(program, TARGET)
    seconds = time.process_time() - start
    return Figure(shape, depth, size, strategy, round(seconds, 3), _waits(synced))


def measured(made: Iterable[Made]) -> Iterator[Figure]:
    """Measure programs with each strategy, and say on standard error how far it is."""
    for one in made:
        for name in STRATEGIES:
            if one[2] <= LARGEST.get(name, one[2]):
                figure = measure(one, name)
                what = f"{figure.shape}, depth {figure.depth}, {figure.instructions:,} instructions"
                print(f"{what}: {name} {figure.seconds:.2f} s", file=sys.stderr)
                yield figure


def _waits(synced: SyncProgram) -> int:
    nodes = (node for engine in synced.engines for node in walk_sync(engine.body))
    return sum(len(node.waits) for node in nodes if isinstance(node, Exec))


def lines(figures: Iterable[Figure]) -> list[str]:
    """Return the table."""
    found: dict[tuple[str, int, int], dict[str, Figure]] = {}
    for figure in figures:
        key = (figure.shape, figure.depth, figure.instructions)
        found.setdefault(key, {})[figure.strategy] = figure
    head = ["program", "depth", "instructions"]
    for name in STRATEGIES:
        head += [f"{name}: s", "us/instruction", "waits"]
    rows = [head]
    for (shape, depth, size), by in found.items():
        row = [shape, str(depth), f"{size:,}"]
        for name in STRATEGIES:
            row += _row(by.get(name))
        rows.append(row)
    return aligned(rows)


def _row(figure: Figure | None) -> list[str]:
    if figure is None:
        return ["-", "-", "-"]
    each = 1e6 * figure.seconds / figure.instructions
    return [f"{figure.seconds:.2f}", f"{each:.0f}", f"{figure.waits:,}"]


def plot(figures: list[Figure], path: Path) -> None:
    """Draw seconds over size and over depth."""
    from matplotlib import pyplot  # slow to import, and an extra

    axes: Any
    figure: Any
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
    for shape in ("straight line", "one loop", "triple nests"):
        some = [f for f in figures if f.shape == shape and f.strategy == "counted"]
        axes[0].loglog([f.instructions for f in some], [f.seconds for f in some], "o-", label=shape)
    for name in STRATEGIES:
        some = [f for f in figures if f.shape == "one nest" and f.strategy == name]
        axes[1].plot([f.depth for f in some], [f.seconds for f in some], "o-", label=name)
    labels = ("instructions (counted)", f"depth, at {INSTRUCTIONS:,} instructions")
    for axis, label in zip(axes, labels, strict=True):
        axis.set(xlabel=label, ylabel="s")
        axis.legend()
    figure.savefig(path)


def main() -> None:
    """Measure, print and write down."""
    parser = ArgumentParser(prog="python -m headway.bench.compile_time")
    parser.add_argument("--quick", action="store_true", help="skip the largest programs")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--plot", type=Path, metavar="FILE")
    args = parser.parse_args()
    figures = list(measured(programs(args.quick)))
    print("\n".join(lines(figures)))
    if args.json:
        args.json.write_text(json.dumps([asdict(f) for f in figures], indent=2) + "\n")
    if args.plot:
        plot(figures, args.plot)


if __name__ == "__main__":
    main()
