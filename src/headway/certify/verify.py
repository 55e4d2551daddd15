"""Check a certificate: run all engines jointly in the order it gives, from the states it gives.

Nothing is searched and nothing believed. The order has to run each engine program and the
sequential program as they are written, by the rules below, one method each. On the way every
conflicting access before an instance has to be complete, and every wait has to ask for the past:
then no instance is early, and the engine that comes first in the joint order can always go on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from headway.certify.marks import Marks
from headway.certify.numbers import any_of, constant, known, linear, plus
from headway.certify.state import EVER, Key, State, Value, largest, older, put, younger
from headway.certify.statement import Block, Bodies, Gap, Refused, Statement, Step, Sum, Wait
from headway.certify.written import read_form, read_state
from headway.errors import Location
from headway.ir.expr import Expr, Iteration
from headway.ir.program import ControlRead, If, Instr, Loop, While, control_counter
from headway.ir.walk import instructions
from headway.spec import is_ordered

ONE = linear(1)
States = list[State]


class Walk:
    """See the module. `registers` are what is followed: registers as positions of counters."""

    def __init__(self, statement: Statement, registers: Iterable[Key]) -> None:
        self.statement, self.program = statement, statement.program
        self.marks = Marks(statement)
        taken = [(flag.engine, f"take {name}", 0, name) for name, flag in statement.flags.items()]
        self.keys = [("", "0", 0, q) for q in self.marks.of]
        self.keys += [*registers, *taken]
        self.rules: defaultdict[tuple[str, str, str, str], set[tuple[str, str]]] = defaultdict(set)
        self.waits: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
        self.regions = {i.counter for i in instructions(self.program.body) if i.fused}
        self.gaps: dict[Gap, None] = {}
        self.late: dict[tuple[str, str, str], Gap] = {}

    def run(self, order: list[Any]) -> None:
        """Walk the whole program; note what is found out on the way."""
        block = Block(self.program.body, self.statement.engines)
        if block.engines.keys() != set(self.program.hosts):
            raise Refused("some engine has no program", self.program.at)
        for state in self.block(block, order, [self.beginning()]):
            for engine, name, _, q in self.keys:
                if name == f"take {q}" and state.values[engine, name, 0, q].distance != ():
                    self.gaps[Gap(f"tokens of {q} may be left at the end")] = None

    # The joint order

    def block(self, block: Block, order: list[Any], states: States) -> States:
        """Walk one block in its order, to its end."""
        for entry in order:
            states = self.step(block, entry, states)
        block.end()
        return states

    def step(self, block: Block, entry: Any, states: States) -> States:
        """Do one thing: what an engine does on its own, or what all agree on."""
        if entry == "|":
            for engine in self.program.hosts:
                block.next(engine, "barrier")
            return [self.barrier(state) for state in states]
        if entry == ".":
            instr, step = block.instruction()
            return [self.issue(s, instr.engine, instr.counter, instr, step) for s in states]
        if isinstance(entry, str):
            step = block.next(entry, "assign waits set take load if")
            if step.kind == "load":
                read = block.loads(entry, step)
                return [self.load(state, entry, read, step) for state in states]
            return [end for state in states for end in self.alone(state, entry, step)]
        if "cut" in entry:
            return self.cut(states, self.read(entry["cut"]), None)
        if "split" in entry:
            return self.split(states, entry["split"], entry["by"])
        node, bodies = block.enter(entry["engines"])
        if isinstance(node, If):
            return self.branch(states, node, bodies, [entry["then"], entry["else"]])
        return self.loop(states, node, bodies, entry)

    def beginning(self) -> State:
        """Rule: at first nothing was accessed, and everything counts from 0."""
        everything, values = self.marks.everything, dict[Key, Value]()
        for key in self.keys:
            n = 0 if key[0] else int(key[1])
            values[key] = Value(linear(-n), -n, everything, self.marks.of[key[3]] if n <= 0 else 0)
        holders = [name for e in self.program.hosts for name in (e, f"{e} asked")]
        holders += [f"{q} region" for q in self.regions]
        told = {q: {EVER: everything} for q in self.marks.of}
        recent = {q: {0: marks} for q, marks in self.marks.of.items()}
        return State({}, dict.fromkeys(holders, everything), told, recent, values)

    def barrier(self, state: State) -> State:
        """Rule: behind a barrier all is complete, and counters (not tokens) begin at 0 again."""
        new = self.beginning()
        new.numbers = state.numbers
        for key in self.keys:
            if key[3] in self.statement.flags:
                new.values[key] = state.values[key]._replace(told=self.marks.everything)
            elif key[0]:
                new.values[key] = Value(told=self.marks.everything)
        return new

    def branch(self, states: States, node: If, bodies: list[Bodies], orders: list[Any]) -> States:
        """Rule: behind an if one of its branches has run, from the states that may lead there."""
        ends: States = []
        for which, body in enumerate((node.then, node.orelse)):
            starts = [s.copy() for s in states if s.is_true(node.condition) in (None, not which)]
            ends += self.block(Block(body, bodies[which]), orders[which], starts) if starts else []
        return ends

    def loop(self, states: States, node: Loop | While, bodies: list[Bodies], entry: Any) -> States:
        """Rule: what is claimed before each turn has to hold at first and again after a turn."""
        turn = linear(Iteration(node.iteration))
        trip, again = (linear(node.trip), None) if isinstance(node, Loop) else (None, node.control)
        for state in states:
            state.replace(node.iteration, None)
            state.numbers[turn] = known(0)
        claimed = self.cut(states, self.read(entry["heads"]), node.at)
        starts = [s.copy() for s in claimed if trip is None or s.is_below(turn, trip)]
        inside = Block(node.body, bodies[0], again)
        ends = self.block(inside, entry["body"], starts) if starts else []
        for state in ends:
            state.replace(node.iteration, plus(turn, ONE, -1))
        self.cut(ends, claimed, node.at)
        return [state for state in states + ends if state.replace(node.iteration, trip)]

    def cut(self, states: States, claimed: States, at: Location | None) -> States:
        """Rule: a state may be replaced by one that says no more."""
        if not all(any(state.says(other) for other in claimed) for state in states):
            raise Refused("what is claimed here does not follow", at)
        return claimed

    def split(self, states: States, what: Any, by: int) -> States:
        """Rule: a number is one of 0, 1, ... modulo `by`, so each may be looked at by itself."""
        if by < 1:
            raise Refused(f"there is no number modulo {by}")
        number, cases = read_form(what), [known(rest, by) for rest in range(by)]
        return [new for s in states for case in cases if (new := s.copy()).note(number, case)]

    def read(self, data: list[Any]) -> States:
        """Return states that are written down."""
        return [read_state(each, self.beginning()) for each in data]

    # What an engine does

    def alone(self, state: State, engine: str, step: Step) -> States:
        """Do what concerns one engine only."""
        match step.kind:
            case "assign":
                self.assign(state, engine, step.name, step.place, step.values)
            case "waits":
                for wait in step.waits:
                    self.wait(state, engine, "", wait)
            case "set":
                before = older(state.told[self.statement.flags[step.name].counter], 0)
                if not state.has_room(self.marks.rooms[step.name], state.known[engine] | before):
                    self.gaps[Gap(f"a token of {step.name} may be lost", step.at)] = None
                self.signal(state, step.name, state.known[engine] | before, 0)
            case "take":
                row = f"take {step.name}"
                self.assign(state, engine, row, 0, (Sum(row, 0, 1),))
                self.wait(state, engine, "", Wait(step.name, Sum(row), row, step.at))
                state.take(self.marks.rooms[step.name])
            case "if":
                return self.own_if(state, engine, step)
            case _:
                raise Refused(f"{engine} does not do this on its own", step.at)
        return [state]

    def own_if(self, state: State, engine: str, step: Step) -> States:
        """Rule: behind an if of one engine, one of its branches has run."""
        ends: States = []
        for which, body in enumerate(step.bodies):
            cases = [state.copy()] if state.is_true(step.value) in (None, not which) else []
            for inner in body:
                cases = [end for case in cases for end in self.alone(case, engine, inner)]
            ends += cases
        return ends

    def assign(
        self, state: State, engine: str, name: str, place: Expr, values: tuple[Sum, ...]
    ) -> None:
        """Rule: a maximum tells what any of its parts tells, and is as old as the youngest."""
        row = state.place(place, self.statement.registers.get((engine, name), 1))
        for q in self.marks.of:
            if (engine, name, row, q) in state.values:
                found = [self.value(state, engine, value, q) for value in values]
                state.values[engine, name, row, q] = largest(found)

    def value(self, state: State, engine: str, value: Sum, q: str) -> Value:
        """Rule: a position is known by its distance from the count, or from a smaller one."""
        added = state.form(linear(value.rest))
        n, key = constant(added), ("", "0", 0, q)
        if value.register:
            size = self.statement.registers.get((engine, value.register), 1)
            key = engine, value.register, state.place(value.place, size), q
        elif ("", str(n), 0, q) in state.values:
            n, added, key = 0, (), ("", str(n), 0, q)
        base = state.values.get(key, Value())
        distance = None if base.distance is None else state.form(plus(base.distance, added, -1))
        age, told, after, least = constant(distance), 0, 0, None
        if age is not None and age >= 0:
            told, after = older(state.told[q], age), younger(state.recent[q], age)
        if n is not None:
            told |= base.told if n >= 0 else 0
            after |= base.after if n <= 0 else 0
            least = None if base.least is None else base.least - n
        return Value(distance, least if age is None else age, told, after)

    def wait(self, state: State, engine: str, at: str, wait: Wait) -> Value:
        """Rule: who has waited for a position knows what it tells; it has to be in the past."""
        value = self.value(state, engine, wait.value, wait.counter)
        is_past = value.least is not None and value.least >= 0
        is_past |= value.distance is not None and state.number(value.distance).least >= 0
        if not is_past:
            self.gaps[Gap(f"{engine} may wait for {wait.text} for ever", wait.at)] = None
        self.waits[engine, at, wait.text].add("past" if is_past else "")
        state.learn(engine, value.told, self.marks.of[wait.counter])
        return value

    def load(self, state: State, engine: str, read: ControlRead, step: Step) -> State:
        """Rule: an engine that loads a control value stands still until it is there."""
        q = control_counter(engine)
        self.issue(state, engine, q, read, step)
        state.learn(engine, older(state.told[q], 0), self.marks.of[q])
        return state

    def issue(
        self, state: State, engine: str, q: str, node: Instr | ControlRead, step: Step
    ) -> State:
        """Rule: all that an instance conflicts with has to be complete when it is issued."""
        if q == engine and q in self.program.serial:  # it starts when the one before is over
            state.known[engine] |= older(state.told[q], 0)
        is_silent = isinstance(node, Instr) and node.silent
        is_fused = isinstance(node, Instr) and node.fused
        region = state.known[f"{q} region"] if is_fused else 0
        before = state.known.copy()
        waits = [(wait, self.wait(state, engine, node.name, wait)) for wait in step.waits]
        needed = moved = 0
        for group in self.marks.groups(node, q):
            slot = state.place(group.access.slot, self.marks.slots[group.access.buffer])
            for other, atom, first in group.marks:
                bit = 1 << first + slot
                if group.is_own:
                    moved |= bit if other == q else 0
                    continue
                if is_ordered(self.program, other, engine, q) or (other == q and region & bit):
                    rule, by = "a-order", ""
                else:
                    needed |= bit
                    rule, by = state.reason(engine, bit, before, waits)
                after = f"{group.kind} {other} {group.access.buffer}.{atom}"
                access = f"{group.access.buffer}[{group.access.slot}]"
                self.rules[node.name, engine, access, after].add((rule, by))
                if not rule:
                    why = f"{node.name} on {engine} may come before an earlier {after}"
                    self.gaps[Gap(why, node.at)] = None
        for wait, value in waits:
            told = [other.told for each, other in waits if each is not wait]
            reason = any_of([needed, before[engine], *told]) & self.marks.of[wait.counter]
            if not value.after & reason:
                why = f"{node.name} on {engine} may wait for {wait.text} without need"
                self.late[engine, node.name, wait.text] = Gap(why, wait.at)
        self.signal(state, q, 0 if is_silent else state.known[engine], moved, is_silent)
        if q in self.regions:
            state.known[f"{q} region"] = region | moved
        return state

    def signal(self, state: State, q: str, tells: int, moved: int, is_silent: bool = False) -> None:
        """Rule: a signal tells what its issuer knew; what is silent shows with the next signal."""
        step = 0 if is_silent else 1
        for table in (state.told, state.recent):
            table[q] = {min(age + step, EVER): marks for age, marks in table[q].items()}
        state.told[q] = put(state.told[q], tells & ~older(state.told[q], 0), 0)
        if moved:
            state.known = {holder: marks & ~moved for holder, marks in state.known.items()}
            state.told = {c: put(limits, moved) for c, limits in state.told.items()}
            state.told[q] = put(state.told[q], moved, step - 1)
            state.recent[q] = put(state.recent[q], moved, step - 1)
        latest = older(state.told[q], 0)
        for key, (distance, least, told, after) in state.values.items():
            if key[3] == q:
                distance = None if distance is None else plus(distance, linear(step))
                least = None if least is None else least + step
                told = told & ~moved | (latest if distance == () else 0)
                after |= moved if least is not None and least >= step - 1 else 0
                state.values[key] = Value(distance, least, told, after)
            elif told & moved:
                state.values[key] = Value(distance, least, told & ~moved, after)
