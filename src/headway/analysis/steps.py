"""A program prepared for the data flow: names are numbers, and slots are cells.

In     a program, and for each control read the engines that load it
Out    a tree of steps: who touches which cell, and for each loop and if all that it may change
Exact  a cell is one slot of one atom in the frame of the loops around; an access whose slot is not
       known in that frame names every cell that it may be
Cost   linear in the accesses, times the depth of the nest for what loops touch
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from headway.analysis.frames import MAX_SLOTS, Frame, Frames
from headway.ir.atoms import Atoms
from headway.ir.expr import Expr
from headway.ir.program import Access, If, Instr, Loop, Node, Program, While, control_counter
from headway.ir.walk import branches, engines_inside

WRITE, ACCESS = 0, 1
"""What is waited for: the last write of a cell (by a reader), or its last access (by a writer)."""

Readers = Mapping[str, frozenset[str]]
"""For each control read the engines that load it."""


@dataclass(frozen=True, slots=True)
class Place:
    """One atom in all slots of its buffer. `cells` is one for all slots if they are too many."""

    buffer: str
    atom: int
    slots: int
    cells: tuple[int, ...]


class Touch(NamedTuple):
    """An access to one place. `cell` is -1 if it may be any of `cells`."""

    place: int
    cell: int
    cells: tuple[int, ...]
    slot: Expr


@dataclass(frozen=True, slots=True)
class Step:
    """An instruction, or the control read of one engine. Engines and counters are numbers.

    `ordered` are counters that need no wait: its own if that is serial, and its engine's loads.
    `is_kept`: the sequencer stands still until the one before on this counter has completed.
    """

    name: str
    engine: int
    counter: int
    ordered: tuple[int, ...]
    is_kept: bool
    is_load: bool
    is_idle: bool  # a load by an engine that has no work inside
    reads: tuple[Touch, ...]
    writes: tuple[Touch, ...]


@dataclass(frozen=True, slots=True)
class Rotation:
    """A place whose slots turn with a loop: behind the back edge number r is what r + turn was."""

    cells: tuple[int, ...]
    turn: int


@dataclass(frozen=True, slots=True)
class LoopStep:
    """A loop or while. `trip` is None if not static; `loads` precede every test of a while."""

    zone: int
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


class Steps:
    """A prepared program: its steps, and the names behind the numbers."""

    def __init__(self, program: Program, readers: Readers) -> None:
        loading = dict.fromkeys(
            e for e in program.hosts for found in readers.values() if e in found
        )
        queues = (queue.name for queue in program.queues)
        self.engines = program.hosts
        self.counters = (*self.engines, *queues, *map(control_counter, loading))
        self.places: list[Place] = []
        self._serial = program.serial
        self.readers = readers
        self._number = {name: i for i, name in enumerate(self.counters)}
        self._atoms = Atoms(program)
        self._frames = Frames(program)
        self._slots = {buffer.name: buffer.slots for buffer in program.buffers}
        self._place_numbers: dict[tuple[str, int], int] = {}
        self._whole: dict[str, tuple[Touch, ...]] = {}
        self._consumers: tuple[list[_Consumers], list[_Consumers]] = ([], [])
        self._users: dict[tuple[int, int, int], Users] = {}
        self.sort_of_place: list[int] = []
        self._cells = 0
        self._place_of: list[int] = []
        self._zone = 0
        self.body = self._body(program.body, {})
        self._sorts = self._sorted()

    @property
    def cell_count(self) -> int:
        """The number of cells of all places."""
        return self._cells

    def place_of(self, cell: int) -> int:
        """Return the number of the place that a cell belongs to."""
        return self._place_of[cell]

    def sort_of(self, cell: int) -> int:
        """Return the sort of a cell's place: places of one sort have equal users."""
        return self.sort_of_place[self._place_of[cell]]

    def users(self, kind: int, sort: int, counter: int) -> Users:
        """Return who may have to wait for the last write or access of a place by a counter."""
        key = (kind, sort, counter)
        users = self._users.get(key)
        if users is None:
            consumers = self._sorts[sort][kind]
            found = tuple(sorted({e for e, ordered in consumers if counter not in ordered}))
            users = self._users[key] = Users(found, sum(1 << engine for engine in found))
        return users

    def _sorted(self) -> list[_Sort]:
        """Number the places by who waits there, so that equal ones can be treated as one."""
        numbers: dict[_Sort, int] = {}
        for place in range(len(self.places)):
            readers, writers = (frozenset(consumers[place]) for consumers in self._consumers)
            self.sort_of_place.append(numbers.setdefault((readers, writers), len(numbers)))
        return list(numbers)

    def _body(self, body: tuple[Node, ...], frame: Frame) -> tuple[AnyStep, ...]:
        return tuple(self._node(node, frame) for node in body)

    def _node(self, node: Node, frame: Frame) -> AnyStep:
        match node:
            case Instr():
                return self._instr(node, frame)
            case If():
                return self._if(node, frame)
            case _:
                return self._loop(node, frame)

    def _instr(self, node: Instr, frame: Frame) -> Step:
        engine, counter = self._number[node.engine], self._number[node.counter]
        is_serial = node.counter in self._serial
        ordered = [counter] if is_serial else []
        own_loads = self._number.get(control_counter(node.engine))
        if own_loads is not None:
            ordered.append(own_loads)
        reads, writes = self._touches(node.reads, frame), self._touches(node.writes, frame)
        step = Step(
            node.name,
            engine,
            counter,
            tuple(ordered),
            is_serial and engine == counter,
            False,
            False,
            reads,
            writes,
        )
        self._note(step)
        return step

    def _loads(self, node: Loop | While | If, frame: Frame) -> tuple[Step, ...]:
        if node.control is None:
            return ()
        working = frozenset[str]().union(*map(engines_inside, branches(node)))
        loading = self.readers.get(node.control.name, frozenset())
        steps: list[Step] = []
        for name in (name for name in self.engines if name in loading):
            counter = self._number[control_counter(name)]
            reads = self._touches(node.control.reads, frame)
            step = Step(
                node.control.name,
                self._number[name],
                counter,
                (counter,),
                True,
                True,
                name not in working,
                reads,
                (),
            )
            self._note(step)
            steps.append(step)
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
            zone, trip, is_while, loads, body, tuple(_counters(inside)), cells, rotations
        )

    def _if(self, node: If, frame: Frame) -> IfStep:
        loads = self._loads(node, frame)
        then, orelse = self._body(node.then, frame), self._body(node.orelse, frame)
        self._zone += 1  # behind those of the branches: it is opened where they meet
        inside = (*then, *orelse)
        return IfStep(self._zone, loads, then, orelse, tuple(_counters(inside)), _cells(inside))

    def _touched(self, cells: Iterable[int]) -> list[Place]:
        return [self.places[number] for number in dict.fromkeys(self._place_of[c] for c in cells)]

    def _note(self, step: Step) -> None:
        """Remember who waits at a place: readers for its writes, writers for its accesses."""
        for kind, touches in ((WRITE, step.reads), (ACCESS, step.writes)):
            for touch in touches:
                self._consumers[kind][touch.place][step.engine, step.ordered] = None

    def _touches(self, accesses: tuple[Access, ...], frame: Frame) -> tuple[Touch, ...]:
        if len(accesses) == 1:
            return self._touch(accesses[0], frame)
        touches = [touch for access in accesses for touch in self._touch(access, frame)]
        if len(touches) < 2:
            return tuple(touches)
        unique = {(t.place, t.cell, t.slot if t.cell < 0 else 0): t for t in touches}
        return tuple(unique.values())

    def _touch(self, access: Access, frame: Frame) -> tuple[Touch, ...]:
        slots = self._slots[access.buffer]
        if slots == 1 and access.region is None and access.buffer in self._whole:
            return self._whole[access.buffer]
        position = self._frames.position(access) if slots <= MAX_SLOTS else None
        number = -1
        if position and position.terms == frame.get(access.buffer, ()):
            number = position.offset
        touches: list[Touch] = []
        for atom in self._atoms.of(access):
            place = self._place(access.buffer, atom)
            cells = self.places[place].cells
            cell = -1 if number < 0 else cells[number]
            touches.append(Touch(place, cell, cells, access.slot))
        if slots == 1 and access.region is None:
            self._whole[access.buffer] = tuple(touches)
        return tuple(touches)

    def _place(self, buffer: str, atom: int) -> int:
        place = self._place_numbers.get((buffer, atom))
        if place is None:
            place = self._place_numbers[buffer, atom] = len(self.places)
            slots = self._slots[buffer]
            count = slots if slots <= MAX_SLOTS else 1
            cells = tuple(range(self._cells, self._cells + count))
            self._cells += count
            self._place_of += [place] * count
            self.places.append(Place(buffer, atom, slots, cells))
            for consumers in self._consumers:
                consumers.append({})
        return place


_Consumer = tuple[int, tuple[int, ...]]
_Consumers = dict[_Consumer, None]
_Sort = tuple[frozenset[_Consumer], frozenset[_Consumer]]


def _cells(steps: Iterable[AnyStep]) -> Touched:
    """Return the cells that may be touched."""
    found: Touched = {}
    for step in steps:
        if isinstance(step, Step):
            bit = 1 << step.counter
            _touch(found, step.reads, 0, bit)
            _touch(found, step.writes, bit, bit)
        else:
            for cell, (writers, accessors) in step.cells.items():
                _add(found, cell, writers, accessors)
            for load in step.loads:
                _touch(found, load.reads, 0, 1 << load.counter)
    return found


def _touch(found: Touched, touches: Iterable[Touch], writers: int, accessors: int) -> None:
    for touch in touches:
        for cell in (touch.cell,) if touch.cell >= 0 else touch.cells:
            _add(found, cell, writers, accessors)


def _add(found: Touched, cell: int, writers: int, accessors: int) -> None:
    before = found.get(cell, (0, 0))
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
