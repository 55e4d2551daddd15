"""Programs of one shape each, to be made as large as one likes.

They show what runs out first: names for dependences (`fan-out`), slots (`rotation`, `bursts`,
`in-place`), levels (`nest`), time between instructions (`recurrence`), and time to synchronize at
all (`line`). They use the engines `scalar` and `vector`, some of them `gpsimd` too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from headway.errors import Diagnostic, InvalidInput
from headway.ir import parse
from headway.ir.program import Program
from headway.registry import unknown

DURATION = 512
"""ns that an instruction takes, unless said otherwise: about as long as one on a small tile."""


def shape(name: str, **params: int) -> Program:
    """Return a program of that shape. Raise InvalidInput on an unknown name or parameter."""
    if name not in SHAPES:
        raise InvalidInput(unknown("shape", name, tuple(SHAPES)))
    parameter, lines = SHAPES[name]
    if list(params) != [parameter]:
        raise InvalidInput(Diagnostic(f"shape {name!r} has the parameter {parameter!r}"))
    head = (f"program @{name} {{", "input n", "engine scalar", "engine vector")
    body = list(lines(params[parameter]))
    more = ["engine gpsimd"] if any(line.lstrip().startswith("gpsimd") for line in body) else []
    return parse("\n".join([*head, *more, *body, "}"]), name)


def _rotation(slots: int) -> Iterator[str]:
    """One buffer of `slots` slots, filled and read in turn (T5)."""
    yield f"buffer x slots {slots}"
    yield "loop i n {"
    yield f"  scalar fill writes(x[i % {slots}]) takes({DURATION})"
    yield f"  vector use reads(x[i % {slots}]) takes({DURATION})"
    yield "}"


def _bursts(slots: int) -> Iterator[str]:
    """A rotation whose reader stops for a while in every 64th iteration, and catches up then."""
    yield f"buffer x slots {slots}"
    yield "loop i n {"
    yield f"  scalar fill writes(x[i % {slots}]) takes({DURATION})"
    yield f"  if i % 64 == 0 {{ vector pause takes({32 * DURATION}) }}"
    yield f"  vector use reads(x[i % {slots}]) takes({DURATION // 4})"
    yield "}"


def _fan_out(width: int) -> Iterator[str]:
    """First `width` buffers are written, then all of them are read (T9)."""
    yield from (f"buffer x{k}" for k in range(width))
    yield from (f"scalar fill{k} writes(x{k}) takes({DURATION})" for k in range(width))
    yield from (f"vector use{k} reads(x{k}) takes({DURATION})" for k in range(width))


def _nest(depth: int) -> Iterator[str]:
    """Loops inside each other; each has a double buffer, in use around the next one (T15)."""
    yield from (f"buffer x{level} slots 2" for level in range(depth))
    yield from _level(0, depth)


def _level(level: int, depth: int) -> Iterator[str]:
    if level == depth:
        return
    place = f"x{level}[i{level} % 2]"
    yield f"loop i{level} n {{"
    yield f"  scalar fill{level} writes({place}) takes({DURATION})"
    yield f"  vector use{level} reads({place}) takes({DURATION})"
    yield from _level(level + 1, depth)
    yield f"  scalar more{level} writes({place}) takes({DURATION})"
    yield f"  vector last{level} reads({place}) takes({DURATION})"
    yield "}"


def _in_place(slots: int) -> Iterator[str]:
    """Fill a slot, change it in place, take it out: three engines on one buffer (T6)."""
    ahead = slots - 1
    yield f"buffer x slots {slots}"
    yield from (f"scalar first{k} writes(x[{k}]) takes({DURATION})" for k in range(ahead))
    yield "loop i n {"
    yield f"  scalar fill writes(x[(i + {ahead}) % {slots}]) takes({DURATION})"
    yield f"  vector change reads(x[i % {slots}]) writes(x[i % {slots}]) takes({DURATION})"
    yield f"  gpsimd take reads(x[i % {slots}]) takes({DURATION})"
    yield "}"


def _recurrence(duration: int) -> Iterator[str]:
    """Six instructions, each of which needs the one before on another engine, round and round."""
    yield "buffer state"
    yield "buffer part"
    yield "loop i n {"
    for k in range(6):
        reads, writes = ("state", "part") if k % 2 == 0 else ("part", "state")
        engine = ("scalar", "vector", "gpsimd")[k % 3]
        yield f"  {engine} step{k} reads({reads}) writes({writes}) takes({duration})"
    yield "}"


def _line(size: int) -> Iterator[str]:
    """A straight line: the two engines take turns on 17 buffers, in an order without a period."""
    yield from (f"buffer x{k}" for k in range(17))
    for k in range(size):
        engine = ("scalar", "vector")[k * k // 3 % 2]
        accesses = f"reads(x{(7 * k + 3) % 17}) writes(x{k * k % 17})"
        yield f"{engine} step{k} {accesses} takes({DURATION})"


SHAPES: dict[str, tuple[str, Callable[[int], Iterator[str]]]] = {
    "rotation": ("slots", _rotation),
    "bursts": ("slots", _bursts),
    "fan-out": ("width", _fan_out),
    "nest": ("depth", _nest),
    "in-place": ("slots", _in_place),
    "recurrence": ("duration", _recurrence),
    "line": ("size", _line),
}
"""By name: the parameter, and what yields the lines behind the declaration of the engines."""
