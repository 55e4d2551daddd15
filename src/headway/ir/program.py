"""The sequential program: the whole language on one screen. It knows nothing of synchronization.

A program is a list of nodes. Its meaning is the sequential one: instructions take effect one after
the other. Synchronization has to keep that meaning while engines and queues run in parallel.

    program @double_buffer {
      input n
      queue q on sync
      buffer x slots 2
      loop i n {
        sync load triggers(q) writes(x[i % 2])     # instruction `load`, run by queue q
        vector add reads(x[i % 2]) takes(50)       # instruction `add`, run by engine vector
      }
    }
"""

from __future__ import annotations

from dataclasses import dataclass, field

from headway.errors import Location
from headway.ir.expr import Expr


def _place() -> Location | None:
    return field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Engine:
    """An in-order sequencer. It hosts its own instructions and those of its queues.

    `pipelined`: an instruction may start before the previous one has completed, so that dependences
    inside the engine need waits too. Not pipelined = serial: program order alone orders them.
    """

    name: str
    pipelined: bool = False
    at: Location | None = _place()


@dataclass(frozen=True, slots=True)
class Queue:
    """A DMA FIFO without a sequencer; exactly one engine, its host, triggers its transfers."""

    name: str
    host: str
    pipelined: bool = False
    at: Location | None = _place()


@dataclass(frozen=True, slots=True)
class Buffer:
    """Named memory of `slots` equal, disjoint slots; buffers are disjoint from each other.

    `shape` is the extent of one slot in each addressed dimension: `(bytes,)`, or
    `(partitions, bytes per partition)`. Without it a slot can only be accessed whole.
    `space` is the memory it lives in (sbuf, psum, hbm); it counts for capacity only.
    """

    name: str
    slots: int = 1
    shape: tuple[int, ...] = ()
    space: str = ""
    at: Location | None = _place()


@dataclass(frozen=True, slots=True)
class InputDecl:
    """A run-time input: a number, or with `is_list` a list of numbers that is read by index."""

    name: str
    is_list: bool = False
    at: Location | None = _place()


@dataclass(frozen=True, slots=True)
class Access:
    """A read or write of one slot of a buffer: whole, or a box inside it.

    `box` has one half-open interval `[low, high)` for each dimension of the buffer's shape.
    """

    buffer: str
    slot: Expr = 0
    box: tuple[tuple[Expr, Expr], ...] | None = None


@dataclass(frozen=True, slots=True)
class Takes:
    """A duration in ns: from start to completion, and until the next one may start."""

    latency: float
    occupancy: float


@dataclass(frozen=True, slots=True)
class Work:
    """What an instruction computes, for targets that know its duration.

    `elements` are elements per partition; `bytes` is what a transfer moves in all; `moves` says
    where a transfer goes: load, store or copy.
    """

    operation: str
    elements: int = 0
    bytes: int = 0
    dtype: str = "float32"
    moves: str = ""


@dataclass(frozen=True, slots=True)
class Instr:
    """A static instruction: issued by `engine`, run by `queue` if given, else by `engine`.

    `silent`: its completion is no signal, and shows with the next signal of its counter.
    `fused`: it belongs to one region with the instruction before it on its engine. The hardware
    runs a region in order, and no wait may stand in between.
    """

    name: str
    engine: str
    queue: str | None = None
    reads: tuple[Access, ...] = ()
    writes: tuple[Access, ...] = ()
    cost: Takes | Work | None = None
    silent: bool = False
    fused: bool = False
    at: Location | None = _place()

    @property
    def counter(self) -> str:
        """The engine or queue whose completions this instruction adds to."""
        return self.queue or self.engine


@dataclass(frozen=True, slots=True)
class ControlRead:
    """A trip count or condition that lies in memory: each engine that needs it loads it itself.

    The load is executed by the engine's sequencer, which stands still until it is done. It is an
    access like any other: it comes after the write of the value and before the next one.
    """

    name: str
    reads: tuple[Access, ...]
    at: Location | None = _place()


@dataclass(frozen=True, slots=True)
class Loop:
    """Run `body` `trip` times. `trip` is computed once, before the first iteration; it may be 0."""

    iteration: str
    trip: Expr
    body: tuple[Node, ...]
    control: ControlRead | None = None
    at: Location | None = _place()


@dataclass(frozen=True, slots=True)
class While:
    """Run `body` while `condition` is not 0. It is computed again before every iteration."""

    iteration: str
    condition: Expr
    body: tuple[Node, ...]
    control: ControlRead | None = None
    at: Location | None = _place()


@dataclass(frozen=True, slots=True)
class If:
    """Run `then` if `condition` is not 0, else `orelse`."""

    condition: Expr
    then: tuple[Node, ...]
    orelse: tuple[Node, ...] = ()
    control: ControlRead | None = None
    at: Location | None = _place()


Node = Instr | Loop | While | If


@dataclass(frozen=True, slots=True)
class Program:
    """A sequential program. Engines and queues, buffers, inputs, instructions have unique names."""

    name: str
    body: tuple[Node, ...]
    inputs: tuple[InputDecl, ...] = ()
    engines: tuple[Engine, ...] = ()
    queues: tuple[Queue, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    at: Location | None = _place()

    def _repr_html_(self) -> str:
        """Show the program in a notebook."""
        from headway import html
        from headway.ir.printer import to_text

        return html.program(to_text(self))

    @property
    def hosts(self) -> tuple[str, ...]:
        """Every engine, in the order of declaration."""
        return tuple(engine.name for engine in self.engines)

    @property
    def serial(self) -> frozenset[str]:
        """The counters whose own order needs no wait."""
        return frozenset(x.name for x in (*self.engines, *self.queues) if not x.pipelined)


def control_counter(engine: str) -> str:
    """Return the name of the counter of an engine's control reads."""
    return f"{engine}.control"
