"""Lower what is judged, and what it is judged by, to code for the compiled judge.

In     a verified synchronized program and its inputs
Out    rows for each engine program, and for the sequential program after them
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from headway.check.fast import records as rec
from headway.check.fast.records import Plan
from headway.check.needs import followers, readers
from headway.code import rows as op
from headway.code.flow import Flow
from headway.code.rows import Rows, TooLarge
from headway.code.values import Shared, is_below
from headway.errors import Location
from headway.ir.atoms import Atoms
from headway.ir.expr import Inputs
from headway.ir.program import (
    Access,
    ControlRead,
    If,
    Instr,
    Loop,
    Node,
    Program,
    While,
    control_counter,
)
from headway.ir.walk import control_reads, deep_nests, instructions
from headway.spec import negative_trip as negative_trip_of_program
from headway.spec import no_slot
from headway.sync.problems import negative_trip
from headway.sync.program import (
    Assign,
    Barrier,
    EngineProgram,
    Exec,
    Load,
    SetFlag,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    TakeFlag,
    Threshold,
    Wait,
    Waits,
)

MAX_CELLS = 2**26
"""Numbers that may be kept for cells: 256 MB."""

BadSlot = Callable[[int, dict[str, int]], Exception]
"""Makes the error of an access from the slot and the iterations."""


@dataclass(slots=True)
class Code(Rows):
    """Rows with what they stand for.

    `waits` are the waits of AWAIT, `events` names and places of other rows, `scopes` the addresses
    of iterations, where a row needs them; `bad_slots` what is wrong when a slot does not exist;
    `taken` where the tokens taken of a flag are counted.
    """

    waits: dict[int, Wait] = field(default_factory=dict[int, Wait])
    events: dict[int, tuple[str, Location | None]] = field(
        default_factory=dict[int, "tuple[str, Location | None]"]
    )
    scopes: dict[int, dict[str, int]] = field(default_factory=dict[int, dict[str, int]])
    bad_slots: dict[int, BadSlot] = field(default_factory=dict[int, BadSlot])
    taken: dict[str, int] = field(default_factory=dict[str, int])
    cells: int = 0


def lower(sync: SyncProgram, inputs: Inputs, limit: int) -> tuple[Plan, Code]:
    """Return the code of all engines and of the program.

    `limit` bounds instances, events and iterations of each of them. Raise TooLarge if something
    does not fit, such as instructions that are silent or fused.
    """
    if any(instr.silent or instr.fused for instr in instructions(sync.program.body)):
        raise TooLarge
    nodes = (*instructions(sync.program.body), *control_reads(sync.program.body))
    plan = rec.plan(sync, {node.name: number for number, node in enumerate(nodes)})
    code = Code(rec.initial(plan, limit))
    shared = Shared(code, inputs)
    with deep_nests():
        for engine in sync.engines:
            code.entries.append(len(code))
            _Engine(engine, plan, code, shared).run()
        code.entries.append(len(code))
        _Specification(plan, code, shared).run()
    if 2 * code.cells * len(plan.counters) > MAX_CELLS:
        raise TooLarge
    return plan, code


class _Judged(Flow[Code]):
    def _event(self, row: int, name: str, at: Location | None) -> None:
        self._code.events[row] = name, at
        self._code.scopes[row] = dict(self._values.iterations)


class _Engine(_Judged):
    """Lowers an engine program."""

    def __init__(self, engine: EngineProgram, plan: Plan, code: Code, shared: Shared) -> None:
        registers = {r.name: (code.place([0] * r.size), r.size) for r in engine.registers}
        super().__init__(code, shared, registers, engine.at)
        self._engine = engine
        self._plan = plan
        self._counter = {i.name: i.counter for i in instructions(plan.sync.program.body)}
        self._source = {flag.name: flag.counter for flag in plan.sync.flags}

    def run(self) -> None:
        self._body(self._engine.body)
        self._event(self._emit(rec.END), "", self._engine.at)

    def _body(self, nodes: tuple[SyncNode, ...]) -> None:
        for node in nodes:
            match node:
                case Exec():
                    self._waits(node.waits)
                    self._exec(node)
                case Waits():
                    self._waits(node.waits)
                case Assign():
                    self._values.assign(node.register, node.value, self._loop, node.at)
                case Load():
                    self._load(node)
                case Barrier():
                    self._event(self._emit(rec.MEET), "", node.at)
                case SetFlag():
                    self._set(node)
                case TakeFlag():
                    self._take(node)
                case SyncLoop():
                    self._for(node)
                case SyncWhile():
                    self._while(node)
                case SyncIf():
                    self._if(node)

    def _exec(self, node: Exec) -> None:
        row = self._issue(rec.ISSUE, node.instr, self._counter[node.instr], node.at)
        for iteration, number in node.turns:
            self._code.scopes[row][iteration] = self._shared.constant(number)

    def _issue(self, operation: int, name: str, counter: str, at: Location | None) -> int:
        number = self._plan.names[name]
        row = self._emit(operation, self._plan.counter_at(counter), number)
        self._event(row, name, at)
        return row

    def _load(self, node: Load | None) -> None:
        if node:
            self._waits(node.waits)
            counter = control_counter(self._engine.engine)
            self._issue(rec.LOAD, node.control, counter, node.at)

    def _waits(self, waits: tuple[Wait, ...]) -> None:
        for wait in waits:
            register = wait.threshold.register
            base = self._lower(0 if register is None else register, wait.at)
            counter = self._plan.counter_at(wait.counter)
            row = self._emit(rec.AWAIT, counter, base, wait.threshold.offset)
            self._code.waits[row] = wait

    def _set(self, node: SetFlag) -> None:
        source = self._plan.counter_at(self._source[node.flag])
        row = self._emit(rec.SET, self._plan.counter_at(node.flag), source)
        self._event(row, node.flag, node.at)

    def _take(self, node: TakeFlag) -> None:
        """The k-th take of a flag waits for its k-th token."""
        taken = self._code.taken.get(node.flag)
        if taken is None:
            taken = self._code.taken[node.flag] = self._code.place([0])
        self._emit(op.ADD, taken, taken, self._shared.constant(1))
        row = self._emit(rec.AWAIT, self._plan.counter_at(node.flag), taken, 0)
        self._code.waits[row] = Wait(node.flag, Threshold(), node.at)

    def _for(self, node: SyncLoop) -> None:
        self._load(node.load)

        def negative(trip: int) -> Exception:
            return negative_trip(node.iteration, trip, node.at)

        self._counted(
            node.iteration,
            node.trip,
            node.at,
            negative,
            lambda: self._body(node.body),
            node.first,
        )

    def _while(self, node: SyncWhile) -> None:
        self._conditional(
            node.iteration,
            node.condition,
            node.at,
            lambda: self._load(node.load),
            lambda: self._body(node.body),
        )

    def _if(self, node: SyncIf) -> None:
        self._load(node.load)
        condition = self._lower(node.condition, node.at)
        self._choice(condition, lambda: self._body(node.then), lambda: self._body(node.orelse))


class _Specification(_Judged):
    """Lowers the sequential program: which cells its instances access."""

    def __init__(self, plan: Plan, code: Code, shared: Shared) -> None:
        program = plan.sync.program
        super().__init__(code, shared, {}, program.at)
        self._plan = plan
        self._program = program
        self._atoms = Atoms(program)
        self._slots = {buffer.name: buffer.slots for buffer in program.buffers}
        self._readers = readers(plan.sync)
        self._followers = followers(plan.sync)
        self._cells = self._place_cells(program)
        self._lists: dict[tuple[int, ...], int] = {}

    def _place_cells(self, program: Program) -> dict[str, int]:
        first: dict[str, int] = {}
        for buffer in program.buffers:
            first[buffer.name] = self._code.cells
            self._code.cells += buffer.slots * self._slot_size(buffer.name)
        return first

    def _slot_size(self, buffer: str) -> int:
        """Return how many cells a slot needs; some numbers may be those of no atom."""
        return 1 + max(self._atoms.of(Access(buffer)))

    def run(self) -> None:
        self._body(self._program.body)
        self._event(self._emit(rec.END), "", self._program.at)

    def _body(self, body: tuple[Node, ...]) -> None:
        for node in body:
            match node:
                case Instr():
                    self._need(node, node.engine, node.counter, node.reads, node.writes)
                case Loop():
                    self._for(node)
                case While():
                    self._while(node)
                case If():
                    self._if(node)

    def _for(self, node: Loop) -> None:
        self._control(node)

        def negative(trip: int) -> Exception:
            return negative_trip_of_program(node, trip)

        self._counted(node.iteration, node.trip, node.at, negative, lambda: self._body(node.body))

    def _while(self, node: While) -> None:
        self._conditional(
            node.iteration,
            node.condition,
            node.at,
            lambda: self._control(node),
            lambda: self._body(node.body),
        )

    def _if(self, node: If) -> None:
        self._control(node)
        condition = self._lower(node.condition, node.at)
        self._choice(condition, lambda: self._body(node.then), lambda: self._body(node.orelse))

    def _control(self, node: Loop | While | If) -> None:
        if node.control is None:
            return
        loading = frozenset(self._readers(node))
        for engine in self._program.hosts:
            if engine in loading:
                counter = control_counter(engine)
                self._need(node.control, engine, counter, node.control.reads, ())

    def _need(
        self,
        node: Instr | ControlRead,
        engine: str,
        counter: str,
        reads: tuple[Access, ...],
        writes: tuple[Access, ...],
    ) -> None:
        touched = [x for access in reads for x in self._access(node, access, is_write=False)]
        touched += [x for access in writes for x in self._access(node, access, is_write=True)]
        follows = int((node.name, engine) in self._followers)
        name = 2 * self._plan.names[node.name] + follows
        accesses = self._code.place([len(reads) + len(writes), *touched])
        row = self._emit(rec.NEED, self._plan.counter_at(counter), name, 0, 0, accesses)
        self._event(row, node.name, node.at)

    def _access(self, node: Instr | ControlRead, access: Access, is_write: bool) -> tuple[int, ...]:
        """Return the slot, the first cell, cells of a slot, atoms, how many, and what it does."""
        slot, slots = self._lower(access.slot, node.at), self._slots[access.buffer]
        is_safe = isinstance(access.slot, int) and 0 <= access.slot < slots
        if not is_safe and not is_below(access.slot, slots):
            self._values.check(slot, slots, lambda value: AssertionError(value))
            self._bad_slot(node, access.buffer, slots)
        atoms = self._list(self._atoms.of(access))
        count, first = self._slot_size(access.buffer), self._cells[access.buffer]
        return slot, first, count, atoms, len(self._atoms.of(access)), int(is_write)

    def _bad_slot(self, node: Instr | ControlRead, buffer: str, slots: int) -> None:
        row = len(self._code) - 1

        def fail(slot: int, iterations: dict[str, int]) -> Exception:
            return no_slot(node, buffer, slot, slots, iterations)

        self._code.bad_slots[row] = fail
        self._code.scopes[row] = dict(self._values.iterations)

    def _list(self, atoms: Sequence[int]) -> int:
        key = tuple(atoms)
        if key not in self._lists:
            self._lists[key] = self._code.place([*key])
        return self._lists[key]
