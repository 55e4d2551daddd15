"""The recorded trace: a tree of operations and loops, and the recorder that grows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

from headway.errors import Location
from headway.frontends.nki.affine import Number, iteration
from headway.frontends.nki.launch import Running
from headway.frontends.nki.layout import WHOLE, Layout
from headway.frontends.nki.means import UNKNOWN, Means
from headway.frontends.nki.places import assigned_name, here, problem
from headway.frontends.nki.types import DType, Memory
from headway.ir.program import Work

Box = tuple[tuple[Number, Number], ...]


@dataclass(slots=True, eq=False)
class Storage:
    """Memory of one tensor. Those allocated at one place, turn after turn, share a `site`.

    `index` holds the iteration of each loop around the allocation; `loops` the sites of these. A
    tile of a tensor with block dimensions has its block in `index` too; `blocks` are their extents.
    `place` is where the kernel puts it by hand: its first partition, and its first byte there.
    """

    site: int
    name: str
    shape: tuple[int, ...]
    dtype: DType
    memory: Memory
    index: tuple[Number, ...]
    loops: tuple[int, ...]
    at: Location
    contents: Any = None  # of a constant: a numpy array
    blocks: tuple[int, ...] = ()
    place: tuple[int, int] | None = None

    @property
    def is_moving(self) -> bool:
        """Whether it is another block in each iteration of a loop of the device."""
        return any(type(number) is not int for number in self.index[len(self.loops) :])

    @property
    def row(self) -> int:
        """Bytes that it takes in each partition."""
        return prod(self.shape[1:]) * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class Operand:
    """What an operation touches: the box of `storage`, whose shape is read as `root`.

    Its elements, in order, lie `offset` bytes into the memory and on from there as `layout` says.
    """

    storage: Storage
    root: tuple[int, ...]
    box: Box
    offset: Number = 0
    layout: Layout = WHOLE


def numbers_of(operands: Iterable[Operand]) -> tuple[Number, ...]:
    """Return all that says where operands lie and may change from one iteration to the next."""
    found: list[Number] = []
    for operand in operands:
        found += operand.storage.index
        for span in operand.box:
            found += span
        found.append(operand.offset)
    return tuple(found)


class Kind(NamedTuple):
    """What does not change from one iteration to the next, with the engine that the call names."""

    operation: str
    work: Work
    at: Location
    engine: str
    flags: tuple[str, ...]
    reads: int
    means: Means = UNKNOWN


@dataclass(slots=True, eq=False)
class Op:
    """One recorded operation; the first `kind.reads` operands are read, the others written.

    `literals` are the numbers that it computes with, as `kind.means` names them; `numbers` all that
    may change from one iteration to the next and says where its operands lie.
    """

    kind: Kind
    operands: tuple[Operand, ...]
    literals: tuple[Any, ...] = ()
    numbers: tuple[Number, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.numbers = numbers_of(self.operands)

    @property
    def reads(self) -> tuple[Operand, ...]:
        """The operands that are read."""
        return self.operands[: self.kind.reads]

    @property
    def writes(self) -> tuple[Operand, ...]:
        """The operands that are written."""
        return self.operands[self.kind.reads :]


@dataclass(slots=True, eq=False)
class PythonLoop:
    """A loop that Python ran: each iteration has its own body."""

    site: int
    level: int
    name: str
    at: Location
    iterations: list[list[TraceNode]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class DeviceLoop:
    """A loop that the device runs: its body was traced once.

    `trip` is None for a `while`. `reads` is the memory that the bound or condition was loaded from.
    """

    site: int
    level: int
    name: str
    at: Location
    trip: int | None
    is_while: bool
    reads: tuple[Operand, ...]
    body: list[TraceNode] = field(default_factory=list)


TraceNode = Op | PythonLoop | DeviceLoop


@dataclass(slots=True)
class _Frame:
    loop: PythonLoop | DeviceLoop | None
    body: list[TraceNode]
    sites: tuple[int, ...] = ()  # of the loops around what is recorded here, with this one
    index: tuple[Number, ...] = ()  # and their iterations
    seen: Counter[Hashable] = field(default_factory=Counter)


class Recorder:
    """Grows the trace of one kernel, or of a function of the host that launches some.

    `running` is the program of the launch grid that is being traced. Around it there may be
    `program_levels` loops, which run all programs of the grid.
    """

    def __init__(self, running: Running | None = None, is_host: bool = False) -> None:
        self.running = running or Running((), ())
        self.is_host = is_host
        self.program_levels = 0
        self.body: list[TraceNode] = []
        self.skipped: set[Storage] = set()
        self._shared: dict[Hashable, Storage] = {}
        self._is_muted = False
        self.mask: Any = None
        self._frames = [_Frame(None, self.body)]
        self._sites: dict[Hashable, int] = {}
        self._kinds: dict[Hashable, Kind] = {}
        self.groups: dict[Storage, dict[Box, None]] = {}
        """For each PSUM tile the boxes that matmuls have written: see `accumulation`."""

    # ---- operations and memory

    def add(
        self,
        operation: str,
        reads: Sequence[Operand],
        writes: Sequence[Operand],
        work: Work,
        engine: str = "",
        flags: tuple[str, ...] = (),
        means: Means = UNKNOWN,
        literals: tuple[Any, ...] = (),
    ) -> None:
        """Record an operation at the kernel's current line."""
        if self._is_muted:
            return
        at = here()
        key = (operation, id(work), id(at), engine, flags, len(reads), id(means))
        kind = self._kinds.get(key)
        if kind is None:  # it keeps alive what the key names by identity
            kind = self._kinds[key] = Kind(operation, work, at, engine, flags, len(reads), means)
        self._frames[-1].body.append(Op(kind, (*reads, *writes), literals))

    def allocate(
        self,
        shape: tuple[int, ...],
        dtype: DType,
        memory: Memory,
        name: str = "",
        blocks: tuple[int, ...] = (),
        place: tuple[int, int] | None = None,
    ) -> Storage:
        """Return new memory that belongs to the kernel's current line and iteration.

        Memory that the programs of a grid share is new in the first of them only.
        """
        at = here()
        site = self._site("tile", at.file, at.line, shape, dtype.name, memory.name, blocks)
        frame = self._frames[-1]
        outside = self.program_levels if memory.is_shared else 0
        storage = Storage(
            site,
            name or assigned_name(at, "tile"),
            shape,
            dtype,
            memory,
            frame.index[outside:],
            frame.sites[outside:],
            at,
            blocks=blocks,
            place=place,
        )
        if self._is_muted:
            self.skipped.add(storage)
        if memory.is_shared and self.program_levels:
            return self._shared.setdefault((site, storage.index), storage)
        return storage

    @contextmanager
    def muted(self) -> Generator[None]:
        """Record nothing: what is called here is masked out. Tiles made here are `skipped`."""
        before, self._is_muted = self._is_muted, True
        try:
            yield
        finally:
            self._is_muted = before

    @contextmanager
    def under(self, mask: Any) -> Generator[None]:
        """Let what is recorded here write only where a mask holds; None: everywhere."""
        before, self.mask = self.mask, mask
        try:
            yield
        finally:
            self.mask = before

    def _site(self, *key: Hashable) -> int:
        """Number the n-th thing of this key in this iteration; equal in every iteration."""
        frame = self._frames[-1]
        ordinal = frame.seen[key]
        frame.seen[key] = ordinal + 1
        around = frame.loop.site if frame.loop else -1
        return self._sites.setdefault((around, *key, ordinal), len(self._sites))

    # ---- loops

    @property
    def level(self) -> int:
        """The number of loops around the current line."""
        return len(self._frames) - 1

    def device_levels(self, storage: Storage) -> Iterator[int]:
        """Yield the levels of the device loops around here that `storage` outlives."""
        for frame in self._frames[1:]:
            if isinstance(frame.loop, DeviceLoop) and frame.loop.site not in storage.loops:
                yield frame.loop.level

    def open_python_loop(self, name: str, at: Location) -> PythonLoop:
        """Begin a loop that Python runs."""
        loop = PythonLoop(self._site("loop", at.file, at.line), self.level, name, at)
        self._open(loop, [])
        return loop

    def next_iteration(self, loop: PythonLoop) -> None:
        """Begin the next iteration of a loop; loops left open inside it by `break` end here."""
        frame = self._unwound(loop)
        frame.index = (*self._frames[-2].index, len(loop.iterations))
        frame.body = []
        frame.seen = Counter()
        loop.iterations.append(frame.body)

    def open_device_loop(
        self,
        name: str,
        at: Location,
        trip: int | None,
        reads: Sequence[Operand] = (),
        is_while: bool = False,
    ) -> DeviceLoop:
        """Begin a loop that the device runs."""
        site = self._site("loop", at.file, at.line)
        loop = DeviceLoop(site, self.level, name, at, trip, is_while, tuple(reads))
        self._open(loop, loop.body)
        self._frames[-1].index = (*self._frames[-2].index, iteration(loop.level))
        return loop

    def close(self, loop: PythonLoop | DeviceLoop) -> None:
        """End a loop, and those left open inside it."""
        if any(frame.loop is loop for frame in self._frames):
            self._unwound(loop)
            self._frames.pop()

    def _open(self, loop: PythonLoop | DeviceLoop, body: list[TraceNode]) -> None:
        around = self._frames[-1]
        around.body.append(loop)
        self._frames.append(_Frame(loop, body, (*around.sites, loop.site), (*around.index, 0)))

    def _unwound(self, loop: PythonLoop | DeviceLoop) -> _Frame:
        while self._frames[-1].loop is not loop:
            self._frames.pop()
        return self._frames[-1]


_active: list[Recorder] = []


@contextmanager
def recording(recorder: Recorder) -> Generator[Recorder]:
    """Let operations be recorded there."""
    _active.append(recorder)
    try:
        yield recorder
    finally:
        _active.pop()


def recorder() -> Recorder:
    """Return the recorder at work. Raise HeadwayError outside a kernel."""
    if not _active:
        raise problem("an NKI operation outside a kernel that is being traced")
    return _active[-1]


def is_recording() -> bool:
    """Tell whether a kernel is being traced."""
    return bool(_active)
