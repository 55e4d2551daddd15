"""Check that a synchronized program is well formed. Whether its waits are right is for `check`.

Every instruction is issued, by its own engine and no other; registers, counters and control reads
exist; expressions name what is there.
"""

from __future__ import annotations

from typing import NamedTuple

from headway.errors import Location, Note
from headway.ir.expr import Leaf
from headway.ir.names import is_title, shown, suggestion
from headway.ir.problems import Problems, Quote, no_quote
from headway.ir.program import If, Instr, Node, control_counter
from headway.ir.rules import Rules, check_free_name, check_unique
from headway.ir.verify import LONGEST_ROW, find_problems
from headway.ir.walk import branches, control_reads, deep_nests, engines_inside, instructions
from headway.ir.written_out import trips_around
from headway.sync.program import (
    Assign,
    Barrier,
    EngineProgram,
    Exec,
    Load,
    RegisterRef,
    SetFlag,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    TakeFlag,
    Wait,
    Waits,
    walk_sync,
)

WIDEST = 64
"""Bits of a semaphore, without the sign."""


def verify_sync(sync: SyncProgram, quote: Quote = no_quote) -> None:
    """Raise InvalidProgram with all problems of `sync`; `quote` finds the lines to quote."""
    problems = Problems(quote)
    find_problems(sync.program, problems)
    for kind, title in (("strategy", sync.strategy), ("target", sync.target)):
        if not is_title(title):
            problems.add(f"{shown(title)} is not the name of a {kind}", sync.program.at)
    _engines(sync, problems)
    facts = _Facts(sync)
    _flags(sync, facts, problems)
    _semaphores(sync, facts, problems)
    issued: set[str] = set()
    with deep_nests():
        for engine in sync.engines:
            rules = _EngineRules(engine, facts, problems)
            rules.body(engine.body)
            issued |= rules.issued
    _all_issued(sync, issued, problems)
    problems.raise_any()


def _engines(sync: SyncProgram, problems: Problems) -> None:
    check_unique(problems, (("engine program", e.engine, e.at) for e in sync.engines))
    known = sync.program.hosts
    for engine in sync.engines:
        if engine.engine not in known:
            message = f"engine {shown(engine.engine)} is not in the sequential program"
            problems.add(message, engine.at, help=suggestion(engine.engine, known))
    programs = {engine.engine for engine in sync.engines}
    for name in sorted(engines_inside(sync.program.body) - programs):
        problems.add(f"engine {shown(name)} has instructions and no program", sync.program.at)


def _all_issued(sync: SyncProgram, issued: set[str], problems: Problems) -> None:
    programs = {engine.engine: engine.at for engine in sync.engines}
    for instr in instructions(sync.program.body):
        if instr.engine in programs and instr.name not in issued:
            note = Note("the program of its engine is here", programs[instr.engine])
            problems.add(
                f"instruction {shown(instr.name)} is never issued", instr.at, notes=(note,)
            )


def _flags(sync: SyncProgram, facts: _Facts, problems: Problems) -> None:
    """Check what flags are declared; who sets and takes them is for the engine programs."""
    known = (("counter", counter, None) for counter in facts.hosts)
    check_unique(problems, (*known, *(("flag", flag.name, flag.at) for flag in sync.flags)))
    for flag in sync.flags:
        check_free_name(problems, "a flag", flag.name, flag.at)
        if flag.counter not in facts.hosts:
            help = suggestion(flag.counter, facts.hosts)
            problems.add(f"there is no counter {shown(flag.counter)}", flag.at, help=help)
        if flag.engine not in sync.program.hosts:
            help = suggestion(flag.engine, sync.program.hosts)
            problems.add(f"there is no engine {shown(flag.engine)}", flag.at, help=help)
        if flag.holds < 0:
            problems.add(f"flag {shown(flag.name)} holds {flag.holds} tokens", flag.at)


def _semaphores(sync: SyncProgram, facts: _Facts, problems: Problems) -> None:
    """Check the semaphores: each counter has one of its own, if there are any."""
    numbers: set[int] = set()
    counters: set[str] = set()
    for semaphore in sync.semaphores:
        if semaphore.number in numbers:
            problems.add(f"semaphore {semaphore.number} is there twice", semaphore.at)
        if semaphore.counter in counters:
            problems.add(f"counter {shown(semaphore.counter)} has two semaphores", semaphore.at)
        numbers.add(semaphore.number)
        counters.add(semaphore.counter)
        if semaphore.counter not in facts.hosts:
            help = suggestion(semaphore.counter, facts.hosts)
            message = f"there is no counter {shown(semaphore.counter)}"
            problems.add(message, semaphore.at, help=help)
        if not 1 <= semaphore.width - semaphore.is_signed <= WIDEST:
            message = f"semaphore {semaphore.number} has {semaphore.width} bits"
            problems.add(message, semaphore.at, rule=f"1 to {WIDEST}, and one for the sign")
    if sync.semaphores:
        facts.counted = frozenset(counters)


class _Facts:
    """What the programs of all engines may name."""

    def __init__(self, sync: SyncProgram) -> None:
        program = sync.program
        self.inputs = program.inputs
        self.engine_of = {instr.name: instr.engine for instr in instructions(program.body)}
        self.fused = {instr.name for instr in instructions(program.body) if instr.fused}
        self.controls = {control.name for control in control_reads(program.body)}
        self.hosts = {queue.name: queue.host for queue in program.queues}
        for engine in program.hosts:
            self.hosts |= {engine: engine, control_counter(engine): engine}
        self.counted = frozenset(self.hosts)
        self.flags = {flag.name: flag for flag in sync.flags}
        self.trips = trips_around(program)
        self.around: dict[str, _Around | None] = {}
        with deep_nests():
            _note_around(program.body, None, self.around)
        self.written_out: dict[str, tuple[str, ...]] = {}


class _Around(NamedTuple):
    """The iteration of the loop around something, and what is around that loop."""

    iteration: str
    outer: _Around | None

    @staticmethod
    def innermost(around: _Around | None, count: int) -> tuple[str, ...]:
        """Return so many iterations from the inside, in their order; fewer if there are no more."""
        found: list[str] = []
        while around and len(found) < count:
            found.append(around.iteration)
            around = around.outer
        return tuple(reversed(found))


def _note_around(
    body: tuple[Node, ...], around: _Around | None, found: dict[str, _Around | None]
) -> None:
    """Note for each instruction what is around it."""
    for node in body:
        if isinstance(node, Instr):
            found[node.name] = around
            continue
        inside = around if isinstance(node, If) else _Around(node.iteration, around)
        for part in branches(node):
            _note_around(part, inside, found)


class _RegisterRules(Rules):
    """Checks expressions that may name the registers of an engine."""

    def __init__(self, engine: EngineProgram, facts: _Facts, problems: Problems) -> None:
        super().__init__(problems, facts.inputs)
        self._sizes = {register.name: register.size for register in engine.registers}
        taken = {decl.name for decl in facts.inputs}
        for register in engine.registers:
            check_free_name(problems, "a register", register.name, engine.at)
            if register.name in taken:
                problems.add(f"register {register.name!r} hides an input", engine.at)
            if register.size < 1:
                problems.add(f"register {register.name!r} has size {register.size}", engine.at)
            if register.size > LONGEST_ROW:
                message = f"register {register.name!r} has size {register.size:,}"
                rule = f"a row has at most {LONGEST_ROW:,} registers"
                problems.add(message, engine.at, rule=rule)

    def check_iteration(self, name: str, at: Location | None) -> None:
        super().check_iteration(name, at)
        if name in self._sizes:
            self.problems.add(f"iteration {name!r} hides the register of that name", at)

    def leaf(self, leaf: Leaf, at: Location | None) -> None:
        if not isinstance(leaf, RegisterRef):
            super().leaf(leaf, at)
        elif leaf.name not in self._sizes:
            self._unknown(leaf, at)
        elif isinstance(leaf.index, int) and not 0 <= leaf.index < self._sizes[leaf.name]:
            size = self._sizes[leaf.name]
            message = (
                f"register {leaf.name!r} has no element {leaf.index}: it has {size}, from 0 on"
            )
            self.problems.add(message, at)

    def _unknown(self, leaf: RegisterRef, at: Location | None) -> None:
        help = suggestion(leaf.name, self._sizes) or f"declare it: registers {leaf.name}"
        self.problems.add(f"register {shown(leaf.name)} is not declared", at, help=help)


class _EngineRules:
    """Checks the program of one engine."""

    def __init__(self, engine: EngineProgram, facts: _Facts, problems: Problems) -> None:
        self.issued: set[str] = set()
        self._engine = engine.engine
        self._begun = {  # by instruction: other loops may have the same name
            (inside.instr, loop.iteration): loop.first
            for loop in walk_sync(engine.body)
            if isinstance(loop, SyncLoop) and loop.first
            for inside in walk_sync(loop.body)
            if isinstance(inside, Exec)
        }
        self._facts = facts
        self._problems = problems
        self._rules = _RegisterRules(engine, facts, problems)
        names = (("register", register.name, engine.at) for register in engine.registers)
        check_unique(problems, names)

    def body(self, body: tuple[SyncNode, ...]) -> None:
        is_open = False  # whether a region may go on here
        for node in body:
            if isinstance(node, Exec) and node.instr in self._facts.fused:
                self._fused(node, is_open)
            is_open = isinstance(node, Exec) or (is_open and isinstance(node, Assign | SetFlag))
            self._node(node)

    def _fused(self, node: Exec, is_open: bool) -> None:
        """No wait stands between an instruction and the one that it is fused with."""
        if not is_open or node.waits:
            message = f"a wait stands before {shown(node.instr)}, inside a region"
            if not is_open and not node.waits:
                message = f"{shown(node.instr)} does not follow the instruction it is fused with"
            help = "wait before the region begins: the pass hoist-waits does"
            self._problems.add(message, node.at, rule="no wait stands inside a region", help=help)

    def _node(self, node: SyncNode) -> None:
        match node:
            case Exec():
                self._exec(node)
            case Load():
                self._load(node)
            case Waits():
                self._standalone(node)
            case Assign():
                self._rules.leaf(node.register, node.at)
                for part in (*node.register.parts(), node.value):
                    self._rules.expression(part, node.at)
            case SyncLoop() | SyncWhile():
                self._loop(node)
            case SyncIf():
                self._load(node.load)
                self._rules.expression(node.condition, node.at)
                self.body(node.then)
                self.body(node.orelse)
            case SetFlag() | TakeFlag():
                self._flag(node)
            case Barrier():
                pass

    def _loop(self, node: SyncLoop | SyncWhile) -> None:
        self._load(node.load)
        if isinstance(node, SyncLoop):
            self._rules.trip(node.trip, node.at)
        with self._rules.iteration(node.iteration, node.at):
            if isinstance(node, SyncWhile):
                self._rules.condition(node.condition, node.iteration, node.at)
            self.body(node.body)

    def _exec(self, node: Exec) -> None:
        engine = self._facts.engine_of.get(node.instr)
        name = shown(node.instr)
        if engine is None:
            help = suggestion(node.instr, self._facts.engine_of)
            self._problems.add(f"there is no instruction {name}", node.at, help=help)
        elif engine != self._engine:
            message = f"instruction {name} is issued by {self._engine!r}, and belongs to {engine!r}"
            self._problems.add(message, node.at, rule="an engine issues its own instructions")
        else:
            self.issued.add(node.instr)
            self._turns(node)
        self._waits(node.waits, node.at)

    def _turns(self, node: Exec) -> None:
        """What is written out are innermost loops, always the same ones, or first iterations."""
        loops = tuple(loop for loop, _ in node.turns)
        trips = self._facts.trips[node.instr]
        innermost = _Around.innermost(self._facts.around[node.instr], len(loops))
        whole = tuple(loop for loop in loops if (node.instr, loop) not in self._begun)
        is_other = self._facts.written_out.setdefault(node.instr, whole) != whole
        if is_other or innermost != loops or not trips.keys() >= set(whole):
            message = f"{shown(node.instr)} is not issued in each iteration of the loops around it"
            rule = "`at` names the innermost loops around an instruction, which always run as often"
            self._problems.add(message, node.at, rule=rule)
            return
        for loop, number in node.turns:
            if number >= self._begun.get((node.instr, loop), trips.get(loop, 0)):
                message = f"loop {shown(loop)} around {shown(node.instr)} has no iteration {number}"
                self._problems.add(message, node.at, rule="iterations are numbered from 0")

    def _load(self, node: Load | None) -> None:
        if node is None:
            return
        if node.control not in self._facts.controls:
            help = suggestion(node.control, self._facts.controls)
            if "load" in self._facts.engine_of:
                help = "an instruction of that name is issued by: exec load"
            message = f"there is no control read {shown(node.control)}"
            self._problems.add(message, node.at, help=help)
        self._waits(node.waits, node.at)

    def _flag(self, node: SetFlag | TakeFlag) -> None:
        flag, name = self._facts.flags.get(node.flag), shown(node.flag)
        if flag is None:
            help = suggestion(node.flag, self._facts.flags)
            self._problems.add(f"there is no flag {name}", node.at, help=help)
        elif isinstance(node, TakeFlag):
            if flag.engine != self._engine:
                message = f"flag {name} is taken by {self._engine!r}, and goes to {flag.engine!r}"
                rule = "one engine takes the tokens of a flag"
                self._problems.add(message, node.at, rule=rule)
        elif self._facts.hosts.get(flag.counter) not in (None, self._engine):
            message = f"flag {name} is set by {self._engine!r}, and comes from {flag.counter!r}"
            self._problems.add(message, node.at, rule="the host of its counter sets a flag")

    def _standalone(self, node: Waits) -> None:
        if not node.waits:
            self._problems.add("this waits for nothing", node.at, help="leave it out")
        self._waits(node.waits, node.at)

    def _waits(self, waits: tuple[Wait, ...], at: Location | None) -> None:
        for wait in waits:
            place = wait.at or at
            if wait.counter not in self._facts.hosts:
                help = suggestion(wait.counter, self._facts.hosts)
                self._problems.add(f"there is no counter {shown(wait.counter)}", place, help=help)
            elif wait.counter not in self._facts.counted:
                message = f"counter {shown(wait.counter)} is waited for and has no semaphore"
                self._problems.add(message, place, rule="where there are semaphores, each has one")
            register = wait.threshold.register
            if register:
                self._rules.leaf(register, place)
                self._rules.expression(register.index, place)
