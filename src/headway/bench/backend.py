"""The back end on the suite and on random programs: the tables of docs/isa.md.

`python -m headway.bench.backend` prints them; `--page docs/isa.md` writes them between its marks;
`--programs N` sends N random programs through assembler, machines and threads instead.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from headway import isa, kernels, native, sim
from headway.bench.tables import Cells, put, table
from headway.check import check
from headway.check.generate import Shape, generate
from headway.compiler import synchronize
from headway.errors import UnsupportedByTarget
from headway.ir.expr import Inputs
from headway.isa.execute import execute
from headway.isa.timing import simulate
from headway.isa.values import SymbolicMemory, run_sequentially
from headway.sync.program import SyncProgram

TARGET = "trn2"
STRATEGIES = ("counted", "barrier")
RANDOM = ("counted", "scoreboard", "barrier", "flags", "phase")
BATCH = 50
"""Random programs in one C program."""


@dataclass(frozen=True, slots=True)
class Row:
    """What became of a kernel synchronized by one strategy.

    `instructions` and `most_registers` are of all engines and of the one that uses most; `counting`
    are its registers that count. `slower` is by how much if folded instructions take time too.
    """

    kernel: str
    strategy: str
    instructions: int
    bytes: int
    most_registers: int
    counting: int
    is_same_text: bool
    is_same_time: bool
    verdict: str
    slower: float
    is_equal: bool
    races: int

    @property
    def is_good(self) -> bool:
        """Tell whether nothing is wrong."""
        is_fine = self.verdict in ("exact", "late")
        return (
            self.is_same_text and self.is_same_time and is_fine and self.is_equal and not self.races
        )


def measure(kernel: str, strategy: str) -> Row:
    """Assemble, disassemble, simulate, judge, run natively and under ThreadSanitizer."""
    known = kernels.load(kernel)
    synced = synchronize(known.program(), TARGET, strategy)
    module = isa.lower(synced)
    data = isa.to_binary(module)
    read = isa.from_binary(data)
    timeline = simulate(read, known.inputs)
    verdict = isa.check(read, known.inputs).verdict
    paid = simulate(read, known.inputs, pays_all=True).latency
    plain = native.run(read, known.inputs)
    sanitized = native.run(read, known.inputs, "thread")
    most = max(read.streams, key=lambda stream: stream.registers)
    return Row(
        kernel,
        strategy,
        sum(len(stream.instructions) for stream in read.streams),
        len(data),
        most.registers,
        sum(register.size for register in synced.engine(most.engine).registers),
        isa.to_binary(isa.assemble(isa.disassemble(read))) == data,
        is_same_run(synced, timeline, known.inputs)
        and verdict == check(synced, known.inputs).verdict,
        verdict,
        paid / timeline.latency - 1,
        plain.equal and sanitized.equal,
        sanitized.races,
    )


def is_same_run(synced: SyncProgram, timeline: sim.Timeline, inputs: Inputs) -> bool:
    """Tell whether the simulator of engine programs finds the same for every instance."""
    expected = sim.simulate(synced, inputs, implementation="reference")
    tracks = [[list(track) for track in found.tracks] for found in (timeline, expected)]
    return timeline.latency == expected.latency and tracks[0] == tracks[1]


HEAD = (
    "kernel",
    "instructions",
    "registers",
    "bytes",
    "all paid",
    "text",
    "time",
    "verdict",
    "values",
    "races",
)


def cells(rows: Iterable[Row]) -> Iterator[Cells]:
    """Yield the rows of the table: each figure for `counted` and `barrier`."""
    pairs: dict[str, list[Row]] = {}
    for row in rows:
        pairs.setdefault(row.kernel, []).append(row)
    for kernel, pair in pairs.items():
        yield (
            kernel,
            _both(pair, "instructions"),
            " / ".join(f"{row.most_registers} ({row.counting})" for row in pair),
            _both(pair, "bytes"),
            " / ".join(f"{row.slower:+.1%}" for row in pair),
            _same([row.is_same_text for row in pair]),
            _same([row.is_same_time for row in pair]),
            _both(pair, "verdict"),
            _same([row.is_equal for row in pair]),
            _both(pair, "races"),
        )


def _both(pair: list[Row], field: str) -> str:
    values = (getattr(row, field) for row in pair)
    return " / ".join(f"{value:,}" if isinstance(value, int) else str(value) for value in values)


def _same(facts: list[bool]) -> str:
    return "equal" if all(facts) else "DIFFERENT"


def random_programs(count: int) -> str:
    """Send random programs through everything; return what came out, in one line."""
    tried = wrong = 0
    batch: list[tuple[isa.Module, Inputs]] = []
    for seed in range(count):
        case = generate(seed, Shape(control_in_memory=seed % 3 == 0))
        try:
            synced = synchronize(case.program, "generic", RANDOM[seed % len(RANDOM)])
        except UnsupportedByTarget:
            synced = synchronize(case.program, "generic", "counted")
        module = isa.lower(synced)
        read = isa.from_binary(isa.to_binary(isa.assemble(isa.disassemble(module))))
        good = read == module and is_same_run(synced, simulate(read, case.inputs), case.inputs)
        good = good and _is_equal(read, case.inputs, seed)
        batch.append((read, case.inputs))
        tried += 1
        wrong += not good
        if not good:
            print(f"seed {seed}, {synced.strategy}: different", file=sys.stderr)
        if len(batch) == BATCH or seed == count - 1:
            wrong += native.run_all(batch).count(False)
            batch = []
            print(f"{tried} programs, {wrong} different", file=sys.stderr, flush=True)
    return f"{tried:,} programs: {tried - wrong:,} equal, {wrong} different"


def _is_equal(module: isa.Module, inputs: Inputs, seed: int) -> bool:
    wanted = SymbolicMemory(module.program, inputs)
    run_sequentially(module, inputs, wanted)
    found = SymbolicMemory(module.program, inputs)
    execute(module, inputs, found, Random(seed))
    return wanted.contents() == found.contents()


def main() -> None:
    """Measure, print, and write the page."""
    parser = ArgumentParser(prog="python -m headway.bench.backend")
    parser.add_argument("--page", type=Path, metavar="FILE")
    parser.add_argument("--programs", type=int, default=0, metavar="N")
    args = parser.parse_args()
    if args.programs:
        print(random_programs(args.programs))
        return
    rows: list[Row] = []
    for kernel in kernels.names():
        print(f"{kernel} ...", file=sys.stderr, flush=True)
        rows += [measure(kernel, strategy) for strategy in STRATEGIES]
    text = table(HEAD, cells(rows))
    print(text)
    if args.page:
        put(args.page, "suite", text)
    if not all(row.is_good for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
