"""A program prepared for the data flow: names are numbers, and slots are cells.

In     a program, and for each control read the engines that load it
Out    a tree of steps: who touches which cell, and for each loop and if all that it may change
Cost   linear in the accesses, times the depth of the nest for what loops touch
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from headway.analysis.frames import Frame, Frames
from headway.analysis.shown import shown
from headway.analysis.slots import Shapes
from headway.analysis.touches import Place, Spot, Touch, Touches
from headway.ir.program import If, Instr, Loop, Node, Program, While, control_counter
from headway.ir.walk import branches, engines_inside

WRITE, ACCESS = 0, 1
"""What is waited for: the last write of a cell (by a reader), or its last access (by a writer)."""

Readers = Mapping[str, frozenset[str]]
"""For each control read the engines that load it."""


@dataclass(slots=True, eq=False)  # not frozen: these are made and read more often than others
class Step:
    """An instruction, or the control read of one engine. Engines and counters are numbers.

    `at` numbers steps in textual order. `ordered` are counters that need no wait: its own if that
    is serial, and its engine's loads. `is_kept`: the sequencer stands still until the one before on
    this counter has completed. It gives so many `signals`: one, or none if it is silent; that shows
    `shown_reads` and `shown_writes`, besides its own those of silent ones before it.
    """

    at: int
    name: str
    engine: int
    counter: int
    ordered: tuple[int, ...]
    is_kept: bool
    is_load: bool
    is_idle: bool  # a load by an engine that has no work inside
    reads: tuple[Touch, ...]
    writes: tuple[Touch, ...]
    signals: int
    shown_reads: tuple[Touch, ...]
    shown_writes: tuple[Touch, ...]

    @property
    def cells(self) -> tuple[int, ...]:
        """All that it may touch."""
        own, shown = (self.reads, self.writes), (self.shown_reads, self.shown_writes)
        every = own if own == shown else own + shown
        return tuple([n for touches in every for touch in touches for n in touch.cells])


@dataclass(frozen=True, slots=True)
class Rotation:
    """A place whose slots turn with a loop: behind the back edge number r is what r + turn was."""

    cells: tuple[int, ...]
    turn: int


@dataclass(frozen=True, slots=True)
class LoopStep:
    """A loop or while. `trip` is None if not static; `loads` precede every test of a while."""

    zone: int
    iteration: str
    trip: int | None
    is_while: bool
    loads: tuple[Step, ...]
    body: tuple[AnyStep, ...]
    counters: tuple[int, ...]
    cells: Touched
    rotations: tuple[Rotation, ...]


@dataclass(frozen=True, slots=True)
class IfStep:
    """An if. `loads` come first; `counters` and `cells` are those of the branches."""

    zone: int
    loads: tuple[Step, ...]
    then: tuple[AnyStep, ...]
    orelse: tuple[AnyStep, ...]
    counters: tuple[int, ...]
    cells: Touched


AnyStep = Step | LoopStep | IfStep
Touched = dict[int, tuple[int, int]]
"""By cell, the counters (one bit for each) that may write and that may access it."""


class Users(NamedTuple):
    """The engines that may have to wait for an access; `mask` has one bit for each."""

    engines: tuple[int, ...]
    mask: int


class _Waiting(NamedTuple):
    """Where an engine may have to wait: the places that it reads and those that it writes."""

    reads: set[int]
    writes: set[int]


class _Host(NamedTuple):
    """What instructions of one engine and queue have in common."""

    engine: int
    counter: int
    ordered: tuple[int, ...]
    is_kept: bool
    waiting: _Waiting


class Steps:
    """A prepared program: its steps, and the names behind the numbers."""

    def __init__(self, program: Program, readers: Readers) -> None:
        loading = dict.fromkeys(
            e for e in program.hosts for found in readers.values() if e in found
        )
        queues = (queue.name for queue in program.queues)
        self.engines = program.hosts
        self.counters = (*self.engines, *queues, *map(control_counter, loading))
        self.readers = readers
        self._serial = program.serial
        self._number = {name: i for i, name in enumerate(self.counters)}
        self._hosts: dict[tuple[str, str | None], _Host] = {}
        shapes = Shapes()
        self._frames = Frames(program, shapes)
        self._touches = Touches(program, self._frames, shapes, self.sites_per_spot)
        self._waiting: dict[tuple[int, tuple[int, ...]], _Waiting] = {}  # by engine and order
        self._users: dict[tuple[int, int], Sequence[Users]] = {}
        self._shown = shown(program)
        self._zone = self._at = 0
        self.body = self._body(program.body, {})
        self.sort_of_place: list[int] = []
        self._sorts = self._sorted()

    @property
    def places(self) -> list[Place]:
        """All places."""
        return self._touches.places

    @property
    def spots(self) -> list[Spot]:
        """All places with the expressions that name slots of them."""
        return self._touches.spots

    @property
    def sites_per_spot(self) -> int:
        """How many sites a spot has: accesses and writes of each counter."""
        return 2 * len(self.counters)

    @property
    def cell_count(self) -> int:
        """The number of cells of all places."""
        return len(self._touches.place_of)

    @property
    def size(self) -> int:
        """The number of steps."""
        return self._at

    @property
    def has_atoms(self) -> bool:
        """Tell whether some buffer has several atoms, which may always be touched together."""
        return self._touches.has_atoms

    def place_of(self, cell: int) -> int:
        """Return the number of the place that a cell belongs to."""
        return self._touches.place_of[cell]

    def sort_of(self, cell: int) -> int:
        """Return the sort of a cell's place: places of one sort have equal users."""
        return self.sort_of_place[self._touches.place_of[cell]]

    def users(self, kind: int, sort: int) -> Sequence[Users]:
        """Return by counter who may have to wait for its last write or access of a place."""
        users = self._users.get((kind, sort))
        if users is None:
            counters = range(len(self.counters))
            users = self._users[kind, sort] = [self._waiting_for(kind, sort, q) for q in counters]
        return users

    def _waiting_for(self, kind: int, sort: int, counter: int) -> Users:
        waiting = self._sorts[sort][kind]
        found = {
            engine
            for number, (engine, ordered) in enumerate(self._waiting)
            if waiting >> number & 1 and counter not in ordered
        }
        return Users(tuple(sorted(found)), sum(1 << engine for engine in found))

    def awaited(self, kind: int) -> list[int]:
        """Return for each place a bit for each counter whose writes or accesses are waited for."""
        every = (1 << len(self.counters)) - 1
        masks: list[int] = []
        for waiting in self._sorts:
            mask = 0
            for number, (_, ordered) in enumerate(self._waiting):
                if waiting[kind] >> number & 1:
                    mask |= every & ~sum(1 << q for q in ordered)
            masks.append(mask)
        return [masks[sort] for sort in self.sort_of_place]

    def _sorted(self) -> list[tuple[int, int]]:
        """Number the places by who waits there, so that equal ones can be treated as one."""
        numbers: dict[tuple[int, int], int] = {}
        reads = [0] * len(self.places)
        writes = [0] * len(self.places)
        for number, waiting in enumerate(self._waiting.values()):
            for place in waiting.reads:
                reads[place] |= 1 << number
            for place in waiting.writes:
                writes[place] |= 1 << number
        for both in zip(reads, writes, strict=True):
            self.sort_of_place.append(numbers.setdefault(both, len(numbers)))
        return list(numbers)

    def _body(self, body: tuple[Node, ...], frame: Frame) -> tuple[AnyStep, ...]:
        instr, node = self._instr, self._node
        return tuple([instr(n, frame) if type(n) is Instr else node(n, frame) for n in body])

    def _node(self, node: Node, frame: Frame) -> AnyStep:
        match node:
            case Instr():
                return self._instr(node, frame)
            case If():
                return self._if(node, frame)
            case _:
                return self._loop(node, frame)

    def _instr(self, node: Instr, frame: Frame) -> Step:
        host = self._hosts.get((node.engine, node.queue)) or self._new_host(node)
        reads = self._touches.of(node.reads, frame)
        writes = self._touches.of(node.writes, frame)
        step = self._step(node.name, host, reads, writes)
        if node.name in self._shown:
            return self._special(step, node, frame)
        return step

    def _special(self, step: Step, node: Instr, frame: Frame) -> Step:
        """Return a step that is silent, or has silent ones before it."""
        reads, writes = (self._touches.of(a, frame) for a in self._shown[node.name])
        signals = 0 if node.silent else 1
        return replace(step, signals=signals, shown_reads=reads, shown_writes=writes)

    def _new_host(self, node: Instr) -> _Host:
        host = self._hosts[node.engine, node.queue] = self._host(node.engine, node.counter)
        return host

    def _host(self, engine: str, counter: str) -> _Host:
        """Return what its instructions wait for without being told, and number it."""
        own = self._number[counter]
        is_serial = counter in self._serial
        ordered = [own] if is_serial else []
        own_loads = self._number.get(control_counter(engine))
        if own_loads is not None and own_loads != own:
            ordered.append(own_loads)
        number, order = self._number[engine], tuple(ordered)
        is_kept = is_serial and engine == counter
        return _Host(number, own, order, is_kept, self._waiting_of(number, order))

    def _waiting_of(self, engine: int, ordered: tuple[int, ...]) -> _Waiting:
        return self._waiting.setdefault((engine, ordered), _Waiting(set(), set()))

    def _step(
        self,
        name: str,
        host: _Host,
        reads: tuple[Touch, ...],
        writes: tuple[Touch, ...],
        is_load: bool = False,
        is_idle: bool = False,
    ) -> Step:
        """Number a step, and note who waits: readers for writes, writers for accesses."""
        engine, counter, ordered, is_kept, (reading, writing) = host
        for touch in reads:
            reading.add(touch.place)
        for touch in writes:
            writing.add(touch.place)
        at = self._at
        self._at = at + 1
        flags = is_kept, is_load, is_idle
        return Step(at, name, engine, counter, ordered, *flags, reads, writes, 1, reads, writes)

    def _loads(self, node: Loop | While | If, frame: Frame) -> tuple[Step, ...]:
        if node.control is None:
            return ()
        working = frozenset[str]().union(*map(engines_inside, branches(node)))
        loading = self.readers.get(node.control.name, frozenset())
        reads = self._touches.of(node.control.reads, frame)
        steps: list[Step] = []
        for name in (name for name in self.engines if name in loading):
            counter = self._number[control_counter(name)]
            number = self._number[name]
            waiting = self._waiting_of(number, (counter,))
            host = _Host(number, counter, (counter,), True, waiting)
            is_idle = name not in working
            steps.append(self._step(node.control.name, host, reads, (), True, is_idle))
        return tuple(steps)

    def _loop(self, node: Loop | While, frame: Frame) -> LoopStep:
        self._zone += 1
        zone = self._zone
        turns = self._frames.turns(node, frame)
        inner = self._frames.inside(node, frame, turns) if turns else frame
        is_while = isinstance(node, While)
        loads = self._loads(node, inner if is_while else frame)
        body = self._body(node.body, inner)
        inside = (*loads, *body) if is_while else body
        cells = _cells(inside)
        rotating = [place for place in self._touched(cells) if place.buffer in turns]
        rotations = tuple(Rotation(place.cells, turns[place.buffer]) for place in rotating)
        for place in rotating:
            _spread(cells, place.cells)
        trip = node.trip if isinstance(node, Loop) and isinstance(node.trip, int) else None
        return LoopStep(
            zone,
            node.iteration,
            trip,
            is_while,
            loads,
            body,
            tuple(_counters(inside)),
            cells,
            rotations,
        )

    def _if(self, node: If, frame: Frame) -> IfStep:
        loads = self._loads(node, frame)
        then, orelse = self._body(node.then, frame), self._body(node.orelse, frame)
        self._zone += 1  # behind those of the branches: it is opened where they meet
        inside = (*then, *orelse)
        return IfStep(self._zone, loads, then, orelse, tuple(_counters(inside)), _cells(inside))

    def _touched(self, cells: Iterable[int]) -> list[Place]:
        return [self.places[number] for number in dict.fromkeys(map(self.place_of, cells))]


def _cells(steps: Iterable[AnyStep]) -> Touched:
    """Return the cells that may be touched."""
    found: Touched = {}
    for step in steps:
        if type(step) is Step:
            bit = 1 << step.counter
            _touch(found, step.reads, 0, bit)
            _touch(found, step.writes, bit, bit)
            continue
        assert not isinstance(step, Step)
        for cell, (writers, accessors) in step.cells.items():
            _add(found, cell, writers, accessors)
        for load in step.loads:
            _touch(found, load.reads, 0, 1 << load.counter)
    return found


def _touch(found: Touched, touches: Iterable[Touch], writers: int, accessors: int) -> None:
    for touch in touches:
        for cell in touch.cells:
            _add(found, cell, writers, accessors)


def _add(found: Touched, cell: int, writers: int, accessors: int) -> None:
    before = found.get(cell)
    if before is None:
        found[cell] = (writers, accessors)
    elif (before[0] | writers, before[1] | accessors) != before:
        found[cell] = (before[0] | writers, before[1] | accessors)


def _spread(found: Touched, cells: Iterable[int]) -> None:
    """What touches one slot of a place that turns touches all of them."""
    known = [found[cell] for cell in cells if cell in found]
    for cell in cells:
        for writers, accessors in known:
            _add(found, cell, writers, accessors)


def _counters(steps: Iterable[AnyStep]) -> dict[int, None]:
    """Return the counters that may be signalled."""
    found: dict[int, None] = {}
    for step in steps:
        if isinstance(step, Step):
            found[step.counter] = None
        else:
            found.update(dict.fromkeys(step.counters))
            found.update(_counters(step.loads))
    return found
