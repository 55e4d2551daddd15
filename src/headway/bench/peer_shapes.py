"""Programs of three engines for the comparison with other compilers: named shapes, random ones.

Loads take 300 ns, additions 200 ns, stores 300 ns; all engines are in order, and instructions of
one may overlap (`pipelined`), so that dependences inside an engine need synchronization too.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from headway.ir import parse
from headway.ir.program import Program

INPUTS = {"n": 5, "m": 4, "p": 1}
COSTS = {"mte2": 300, "vector": 200, "mte3": 300}


class _Lines:
    """The text of a program in the making."""

    def __init__(self) -> None:
        self.buffers: list[str] = []
        self.body: list[str] = []
        self.count = 0

    def buffer(self, slots: int = 1) -> str:
        name = f"b{len(self.buffers)}"
        self.buffers.append(f"buffer {name} slots {slots}")
        return name

    def add(self, engine: str, reads: tuple[str, ...], writes: tuple[str, ...]) -> None:
        clauses = [f"reads({', '.join(dict.fromkeys(reads))})"] if reads else []
        clauses += [f"writes({', '.join(writes)})"] if writes else []
        words = (engine, f"i{self.count}", *clauses, f"takes({COSTS[engine]})")
        self.body.append(" ".join(words))
        self.count += 1

    def load(self, tile: str) -> None:
        self.add("mte2", (), (tile,))

    def store(self, tile: str) -> None:
        self.add("mte3", (tile,), ())

    def vadd(self, left: str, right: str, out: str) -> None:
        self.add("vector", (left, right), (out,))

    def program(self, name: str) -> Program:
        head = [f"program @{name} {{", *(f"input {name}" for name in INPUTS)]
        head += [f"engine {engine} pipelined" for engine in COSTS]
        return parse("\n".join([*head, *self.buffers, *self.body, "}"]), name)


def straight(size: int) -> Program:
    """Load, add, store, so many times in a straight line, in tiles of their own."""
    lines = _Lines()
    for _ in range(size):
        x, y = lines.buffer(), lines.buffer()
        lines.load(x)
        lines.vadd(x, x, y)
        lines.store(y)
    return lines.program("straight")


def fan(size: int) -> Program:
    """First so many loads, then so many additions of what was loaded."""
    lines = _Lines()
    tiles = [lines.buffer() for _ in range(size)]
    for tile in tiles:
        lines.load(tile)
    for tile in tiles:
        lines.vadd(tile, tile, lines.buffer())
    return lines.program("fan")


def loop_fan(size: int) -> Program:
    """So many loads, additions and stores in each iteration of a loop."""
    lines = _Lines()
    pairs = [(lines.buffer(), lines.buffer()) for _ in range(size)]
    lines.body.append("loop i n {")
    for x, _ in pairs:
        lines.load(x)
    for x, y in pairs:
        lines.vadd(x, x, y)
    for _, y in pairs:
        lines.store(y)
    lines.body.append("}")
    return lines.program("loop-fan")


def rotation(slots: int) -> Program:
    """Load, add, store in a loop, through tiles of so many slots."""
    lines = _Lines()
    x, y = (f"{lines.buffer(slots)}[i % {slots}]" for _ in range(2))
    lines.body.append("loop i n {")
    lines.load(x)
    lines.vadd(x, x, y)
    lines.store(y)
    lines.body.append("}")
    return lines.program("rotation")


def accumulate(slots: int) -> Program:
    """A sum over an inner loop whose loads rotate; the outer one stores it."""
    lines = _Lines()
    total, x = lines.buffer(), f"{lines.buffer(slots)}[(i * m + j) % {slots}]"
    lines.body += ["loop i n {", "loop j m {"]
    lines.load(x)
    lines.vadd(x, total, total)
    lines.body.append("}")
    lines.store(total)
    lines.body.append("}")
    return lines.program("accumulate")


def nest(depth: int) -> Program:
    """So many loops inside each other, four tiles in use at every level, before and behind."""
    lines = _Lines()

    def level(number: int) -> None:
        pairs = [(lines.buffer(), lines.buffer()) for _ in range(4)]
        for x, y in pairs:
            lines.load(x)
            lines.vadd(x, x, y)
        if number < depth:
            lines.body.append(f"loop i{number} {'nm'[number % 2]} {{")
            level(number + 1)
            lines.body.append("}")
        for _, y in pairs:
            lines.vadd(y, y, y)
            lines.store(y)

    level(0)
    return lines.program("nest")


def shapes() -> Iterator[tuple[str, Program]]:
    """Yield the named shapes with their parameters."""
    makers = (
        (straight, (20,)),
        (fan, (12, 30)),
        (loop_fan, (6, 20)),
        (rotation, (2, 3, 8, 9)),
        (accumulate, (2,)),
        (nest, (2, 4)),
    )
    for maker, sizes in makers:
        for size in sizes:
            program = maker(size)
            yield f"{program.name}({size})", program


def randomly(seed: int, size: int = 24, depth: int = 3) -> Program:
    """Return a random program with loops, ifs and rotating tiles."""
    dice = random.Random(seed)
    lines = _Lines()
    plain = [lines.buffer() for _ in range(5)]
    lines_left = [size]

    def block(trips: tuple[str, ...], tiles: list[str]) -> None:
        tiles = list(tiles)
        if trips and dice.random() < 0.5:
            slots = dice.choice((2, 2, 3, 4))
            tiles.append(f"{lines.buffer(slots)}[{_turn(trips)} % {slots}]")
        while lines_left[0] > 0:
            kind = dice.random()
            if len(trips) < depth and kind < 0.22:
                trip = dice.choice("nm")
                lines.body.append(f"loop i{len(trips)} {trip} {{")
                block((*trips, trip), tiles)
                lines.body.append("}")
            elif len(trips) < depth and kind < 0.32:
                lines.body.append("if p {")
                _instruction(lines, dice, tiles)
                lines.body.append("} else {")
                _instruction(lines, dice, tiles)
                lines.body.append("}")
                lines_left[0] -= 2
            else:
                _instruction(lines, dice, tiles)
                lines_left[0] -= 1
            if trips and dice.random() < 0.25:
                return

    while lines_left[0] > 0:
        block((), plain)
    return lines.program(f"random-{seed}")


def _turn(trips: tuple[str, ...]) -> str:
    """Return the number of the run of the innermost of some loops, counted through all of them."""
    turn = "i0"
    for number, trip in enumerate(trips[1:], 1):
        turn = f"({turn} * {trip} + i{number})"
    return turn


def _instruction(lines: _Lines, dice: random.Random, tiles: list[str]) -> None:
    kind = dice.choice(("load", "vadd", "vadd", "store"))
    if kind == "load":
        lines.load(dice.choice(tiles))
    elif kind == "store":
        lines.store(dice.choice(tiles))
    else:
        lines.vadd(dice.choice(tiles), dice.choice(tiles), dice.choice(tiles))
