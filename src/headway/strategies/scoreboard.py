"""The barrier-free algorithm in its plainest form: count everything, wait for exactly what counts.

In     a bound program
Out    for every engine a walk over the whole program: it counts the signals of other counters in
       shadow registers and captures, at each access, the count in a register of the slot
Keeps  every threshold equals `headway.spec.required`, or is the signal that shows it; no analysis
       is involved
Cost   one register operation per counted signal and access, one wait per counter and access

    loop i n {                               engine vector {
      sync load triggers(q) writes(x[i % 2])   loop i n {
      vector add reads(x[i % 2])        ->       shadow.q := shadow.q + 1
    }                                            write.q.x[i % 2] := shadow.q
                                                 add waits q >= write.q.x[i % 2]
                                               }
                                             }

A capture starts at 0 and is never reset, so it always holds the position of the latest access to
that slot, however many iterations or executions of the loop ago it was (C1, C2, C13), and 0 if
there was none (C3, C12). A wait for 0 holds at once. Accesses of a silent instruction are captured
with the next signal of its counter, which shows them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from headway.analysis.shown import shown
from headway.ir.atoms import Atoms
from headway.ir.expr import Binary, Expr
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
from headway.ir.walk import branches, deep_nests, walk
from headway.sync.program import (
    Assign,
    EngineProgram,
    Exec,
    Load,
    Register,
    RegisterRef,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    Threshold,
    Wait,
)
from headway.targets.target import Target

Control = Loop | While | If


class Key(NamedTuple):
    """What a capture belongs to: the last write, or the last access at all, by one counter."""

    kind: str  # "write" or "access"
    counter: str
    buffer: str
    atom: int


class _Touch(NamedTuple):
    """An access to one atom."""

    buffer: str
    atom: int
    slot: Expr


class _Facts:
    """Who touches what: static, the same for all engines."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.slots = {buffer.name: buffer.slots for buffer in program.buffers}
        self.atoms = Atoms(program)
        self.shown = shown(program)
        self.readers: dict[str, tuple[str, ...]] = {}
        self.keys: defaultdict[tuple[str, str, int], dict[str, None]] = defaultdict(dict)
        for node in walk(program.body):
            if isinstance(node, Instr):
                self._note(node.counter, node.reads, node.writes)
        self._find_readers()

    def touches(self, accesses: Iterable[Access]) -> Iterator[_Touch]:
        for access in accesses:
            for atom in self.atoms.of(access):
                yield _Touch(access.buffer, atom, access.slot)

    def _note(self, counter: str, reads: Iterable[Access], writes: Iterable[Access]) -> None:
        for touch in self.touches((*reads, *writes)):
            self.keys["access", touch.buffer, touch.atom][counter] = None
        for touch in self.touches(writes):
            self.keys["write", touch.buffer, touch.atom][counter] = None

    def _find_readers(self) -> None:
        """Settle which engines load each control value.

        An engine that walks a loop or an if needs its decision; what it loads has to be counted by
        the engines that write the value later, which may then have to walk more.
        """
        controls = [
            (node, node.control)
            for node in walk(self.program.body)
            if not isinstance(node, Instr) and node.control
        ]
        while True:
            plans = [_Plan(self, engine) for engine in self.program.hosts]
            found: dict[str, tuple[str, ...]] = {}
            for node, control in controls:
                found[control.name] = tuple(p.engine for p in plans if p.walks(node))
                for engine in found[control.name]:
                    self._note(control_counter(engine), control.reads, ())
            if found == self.readers:
                return
            self.readers = found


class _Plan:
    """What one engine waits for, and so what it has to count and to capture."""

    def __init__(self, facts: _Facts, engine: str) -> None:
        self.engine = engine
        self.facts = facts
        self.keys: set[Key] = set()
        for node in walk(facts.program.body):
            if isinstance(node, Instr) and node.engine == engine:
                self.keys |= set(self._needs(node.counter, node.reads, node.writes))
            elif not isinstance(node, Instr) and node.control:
                if engine in facts.readers.get(node.control.name, ()):
                    counter = control_counter(engine)
                    self.keys |= set(self._needs(counter, node.control.reads, ()))
        self.counted = {key.counter for key in self.keys}
        self._walked: set[int] = set()
        self._mark(facts.program.body)

    def walks(self, node: Control) -> bool:
        """Tell whether the engine has anything to do or to count inside the node."""
        return id(node) in self._walked

    def waits(
        self, counter: str, reads: tuple[Access, ...], writes: tuple[Access, ...]
    ) -> tuple[Wait, ...]:
        """Return the waits of an instruction of this engine: one for each key and slot."""
        found: dict[Wait, None] = {}
        for kind, touches in (("write", reads), ("access", writes)):
            for touch in self.facts.touches(touches):
                for key in self._keys_of(counter, kind, touch):
                    threshold = Threshold(RegisterRef(capture_name(key), touch.slot))
                    found[Wait(key.counter, threshold)] = None
        return tuple(found)

    def _needs(
        self, counter: str, reads: tuple[Access, ...], writes: tuple[Access, ...]
    ) -> Iterator[Key]:
        for touch in self.facts.touches(reads):
            yield from self._keys_of(counter, "write", touch)
        for touch in self.facts.touches(writes):
            yield from self._keys_of(counter, "access", touch)

    def _keys_of(self, counter: str, kind: str, touch: _Touch) -> Iterator[Key]:
        for q in self.facts.keys[kind, touch.buffer, touch.atom]:
            own = q == counter and q in self.facts.program.serial
            if not own and q != control_counter(self.engine):
                yield Key(kind, q, touch.buffer, touch.atom)

    def _mark(self, body: tuple[Node, ...]) -> bool:
        """Mark the nodes that concern the engine, with all that enclose them."""
        marked = [node for node in body if self._marks(node)]
        self._walked |= {id(node) for node in marked}
        return bool(marked)

    def _marks(self, node: Node) -> bool:
        inside = [self._mark(part) for part in branches(node)]
        return any(inside) or self._concerns(node)

    def _concerns(self, node: Node) -> bool:
        if isinstance(node, Instr):
            return node.engine == self.engine or node.counter in self.counted
        if node.control is None:
            return False
        readers = self.facts.readers.get(node.control.name, ())
        return any(control_counter(reader) in self.counted for reader in readers)


def capture_name(key: Key) -> str:
    """Return the register name of a capture, such as `write.q.x`, or `write.q.x.3` for atom 3."""
    atom = f".{key.atom}" if key.atom else ""
    return f"{key.kind}.{key.counter}.{key.buffer}{atom}"


def shadow_name(counter: str) -> str:
    """Return the name of the register that counts the signals of a counter."""
    return f"shadow.{counter}"


class _Writer:
    """Writes the program of one engine."""

    def __init__(self, facts: _Facts, engine: str) -> None:
        self.facts = facts
        self.plan = _Plan(facts, engine)

    def program(self) -> EngineProgram:
        counted = sorted(self.plan.counted)
        shadows = [Register(shadow_name(q)) for q in counted]
        captures = [
            Register(capture_name(key), self.facts.slots[key.buffer])
            for key in sorted(self.plan.keys)
        ]
        body = self._body(self.facts.program.body)
        return EngineProgram(self.plan.engine, body, (*shadows, *captures))

    def _body(self, body: tuple[Node, ...]) -> tuple[SyncNode, ...]:
        return tuple(out for node in body for out in self._node(node))

    def _node(self, node: Node) -> Iterator[SyncNode]:
        if isinstance(node, Instr):
            if node.engine == self.plan.engine:
                waits = self.plan.waits(node.counter, node.reads, node.writes)
                yield Exec(node.name, waits, node.at)
            if not node.silent:
                reads, writes = self.facts.shown.get(node.name, (node.reads, node.writes))
                yield from self._count(node.counter, reads, writes)
        elif self.plan.walks(node):
            yield from self._control(node)

    def _control(self, node: Control) -> Iterator[SyncNode]:
        counts = tuple(self._count_control(node.control)) if node.control else ()
        load = self._load(node.control) if node.control else None
        match node:
            case Loop():
                yield from counts
                yield SyncLoop(node.iteration, node.trip, self._body(node.body), load, node.at)
            case While():
                body = (*counts, *self._body(node.body))
                yield SyncWhile(node.iteration, node.condition, body, load, node.at)
                yield from counts  # the test that fails has loaded the condition too
            case If():
                yield from counts
                then, orelse = self._body(node.then), self._body(node.orelse)
                yield SyncIf(node.condition, then, orelse, load, node.at)

    def _load(self, control: ControlRead) -> Load:
        waits = self.plan.waits(control_counter(self.plan.engine), control.reads, ())
        return Load(control.name, waits, control.at)

    def _count_control(self, control: ControlRead) -> Iterator[SyncNode]:
        """Count the loads of all readers. A load waits for writes only, so this may come first."""
        for reader in sorted(self.facts.readers[control.name]):
            yield from self._count(control_counter(reader), control.reads, ())

    def _count(
        self, counter: str, reads: tuple[Access, ...], writes: tuple[Access, ...]
    ) -> Iterator[SyncNode]:
        """Count one signal and capture it for every key and slot that the instruction touches."""
        if counter not in self.plan.counted:
            return
        shadow = RegisterRef(shadow_name(counter))
        yield Assign(shadow, Binary("+", shadow, 1))
        for kind, accesses in (("access", (*reads, *writes)), ("write", writes)):
            for touch in dict.fromkeys(self.facts.touches(accesses)):
                key = Key(kind, counter, touch.buffer, touch.atom)
                if key in self.plan.keys:
                    yield Assign(RegisterRef(capture_name(key), touch.slot), shadow)


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """Barrier-free and exact, not optimised: the reference for every cleverer strategy."""

    name: str = "scoreboard"
    description: str = "barrier-free: shadow counters and one capture per slot, not optimised"

    def synchronize(self, program: Program, target: Target) -> SyncProgram:
        """Return the engine programs. Never refuses a program."""
        with deep_nests():
            facts = _Facts(program)
            engines = tuple(_Writer(facts, engine).program() for engine in program.hosts)
        return SyncProgram(program, engines, self.name, target.name)


STRATEGY = Scoreboard()
