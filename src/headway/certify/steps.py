"""What each step of an engine makes of a state. What it shows on the way is noted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from headway.certify.cases import alternatives, any_of, decided, merged
from headway.certify.marks import Group, Marks
from headway.certify.state import (
    FOR_EVER,
    Key,
    State,
    States,
    Value,
    form,
    linear,
    names,
    number,
    older,
    plus,
    put,
    younger,
)
from headway.certify.statement import Gap, Instance, Refused, Statement, Step, Wait
from headway.ir.expr import Expr
from headway.ir.program import Access, ControlRead, control_counter
from headway.spec import is_ordered

ONE = form({"": 1})


class Steps:
    """See the module. `registers` are what is followed: registers as positions of counters."""

    def __init__(self, statement: Statement, registers: Iterable[Key]) -> None:
        self.statement, self.program = statement, statement.program
        self.registers, self.marks = statement.registers, Marks(statement)
        taken = [(flag.engine, f"take {name}", 0, name) for name, flag in statement.flags.items()]
        self.keys: list[Key] = [("", "0", 0, q) for q in self.marks.of]
        self.keys += [*registers, *taken]
        self.followed: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        for engine, name, _, counter in self.keys:
            self.followed[engine, name].add(counter)
        self.rules: defaultdict[tuple[str, str, str, str], set[tuple[str, str]]]
        self.rules = defaultdict(set)
        self.waits: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
        self.gaps: dict[Gap, None] = {}
        self.late: dict[tuple[str, str, str], Gap] = {}

    def beginning(self) -> State:
        """Return what holds at first, and behind a barrier: nothing is left to wait for."""
        holders = [h for e in self.program.hosts for h in (e, f"{e} asked")]
        return State(
            {},
            {},
            dict.fromkeys(holders, self.marks.everything),
            {q: {FOR_EVER: self.marks.everything} for q in self.marks.of},
            {q: {0: marks} for q, marks in self.marks.of.items()},
            {k: _constant(k, self.marks.everything, self.marks.of[k[3]]) for k in self.keys},
        )

    def dependences(self) -> list[dict[str, str]]:
        """Return what keeps each dependence: one rule, or several where that varies."""
        found: list[dict[str, str]] = []
        for (name, engine, access, after), rules in self.rules.items():
            texts = sorted({rule for rule, _ in rules})
            by = sorted({by for _, by in rules if by})
            where = {"instruction": name, "engine": engine, "access": access, "after": after}
            found.append(where | {"rule": " or ".join(texts), "by": " or ".join(by)})
        return found

    def justified(self) -> list[dict[str, str]]:
        """Return why no wait stands for ever: each asks for the past, "" if it may not."""
        return [
            {"engine": engine, "instruction": name, "wait": wait, "rule": min(rules)}
            for (engine, name, wait), rules in self.waits.items()
        ]

    def local(self, engine: str, step: Step, states: States) -> States:
        """Do what an engine does on its own."""
        cases: States = []
        match step.kind:
            case "assign":
                size = self.registers[engine, step.name]
                row = Wait("", step.name, step.place, 0, "")
                for case in self._split(engine, [row], (), states):
                    place = case.slot(step.place, size)
                    self._assign(case, engine, step.name, place, step.value)
                    cases.append(case)
            case "waits":
                states = self._split(engine, step.waits, (), states)
                for state in states:
                    for wait in step.waits:
                        self._wait(state, engine, "", wait)
                return states
            case "set":
                for state in states:
                    told = older(state.told[self.statement.flags[step.name].counter], 0)
                    self._signal(state, step.name, state.known[engine] | told, 0)
                return states
            case "take":
                for state in states:
                    row = engine, f"take {step.name}", 0, step.name
                    state.values[row] = self._shifted(state, row, ONE)
                    self._wait(
                        state,
                        engine,
                        "",
                        Wait(step.name, row[1], 0, 0, f"take {step.name}", step.at),
                    )
                return states
            case "if" if step.load is None:
                for which in (0, 1):
                    ends = [s.copy() for s in states if decided(s, step.value) in (None, not which)]
                    for inner in step.bodies[which]:
                        ends = self.local(engine, inner, ends)
                    cases += ends
            case _:
                raise Refused(f"{engine} does not do this on its own", step.at)
        return merged(cases)

    def load(self, engine: str, read: ControlRead, step: Step, states: States) -> States:
        """Let an engine load a control value; it stands still until that is done."""
        q = control_counter(engine)
        states = self.issue(
            Instance(read.name, engine, q, read.reads, (), step.waits, read.at), states
        )
        for state in states:
            self._learn(state, engine, q, older(state.told[q], 0))
        return states

    def _split(
        self, engine: str, waits: Iterable[Wait], accesses: Iterable[Access], states: States
    ) -> States:
        """Tell the cases apart in which places and slots are known."""
        indices = [(w.place, self.registers.get((engine, w.register), 1)) for w in waits]
        indices += [(access.slot, self.marks.slots[access.buffer]) for access in accesses]
        for index, _ in indices:
            if any((engine, n) in self.registers for a, _ in linear(index) for n in names(a)):
                raise Refused(f"{engine} computes the place {index} from a register")
        count = 0
        while len(states) > count:  # what is told apart later may leave open what was known before
            count = len(states)
            for index, slots in dict.fromkeys(indices):
                states = [case for state in states for case, _ in state.slots(index, slots)]
        return states

    def issue(self, at: Instance, states: States) -> States:
        """Issue an instance, and count its signal."""
        states = self._split(at.engine, at.waits, at.reads + at.writes, states)
        for state in states:
            self._issue(state, at)
        return states

    def _issue(self, state: State, at: Instance) -> None:
        engine, q = at.engine, at.counter
        if q == engine and q in self.program.serial:
            state.known[engine] |= older(state.told[q], 0)  # it starts when the one before is over
        knew, asked = state.known[engine], state.known[f"{engine} asked"]
        told = [(w, self._wait(state, engine, at.name, w)) for w in at.waits]
        conflicts = touched = 0
        for group in self.marks.groups(at):
            slot = state.slot(group.access.slot, self.marks.slots[group.access.buffer])
            for before, atom, first in group.marks:
                bit = 1 << first + slot
                if group.kind == "own":
                    touched |= bit if before == q else 0
                elif is_ordered(self.program, before, engine, q):
                    self._note(at, group, before, atom, "a-order", "")
                else:
                    conflicts |= bit
                    rule, by = "", ""
                    if asked & bit:
                        rule = "b-earlier-wait"
                    elif knew & bit:
                        rule = "c-transitive"
                    elif state.known[engine] & bit:
                        is_own = state.known[f"{engine} asked"] & bit
                        rule = "b-wait" if is_own else "c-transitive"
                        by = next(w.text for w, value in told if value.told & bit)
                    self._note(at, group, before, atom, rule, by)
        for wait, value in told:
            others = any_of(v.told for w, v in told if w is not wait)
            if not value.after & (conflicts | knew | others) & self.marks.of[wait.counter]:
                why = f"{at.name} on {engine} may wait for {wait.text} without need"
                self.late[engine, at.name, wait.text] = Gap(why, wait.at)
        self._signal(state, q, state.known[engine], touched)

    def _note(self, at: Instance, group: Group, before: str, atom: int, rule: str, by: str) -> None:
        """Note why a conflicting access before is complete; without a rule it is a gap."""
        access = group.access
        after = f"{group.kind} {before} {access.buffer}.{atom}"
        if not rule:
            why = f"{at.name} on {at.engine} may come before an earlier {after}"
            self.gaps[Gap(why, at.at)] = None
        where = f"{access.buffer}[{access.slot}]"
        self.rules[at.name, at.engine, where, after].add((rule, by))

    def _wait(self, state: State, engine: str, at: str, wait: Wait) -> Value:
        """Let a wait hold; note whether it asks for the past."""
        size = self.registers.get((engine, wait.register), 1)
        row = wait.register or "0"
        place = state.slot(wait.place, size)
        key = engine if wait.register else "", row, place, wait.counter
        value = self._shifted(state, key, form({"": wait.offset}))
        is_past = value.least is not None and value.least >= 0
        if not is_past and value.distance is not None:
            is_past = all(
                n >= 0 and (not a or state.bounds.get(a, (-1, None))[0] >= 0)
                for a, n in value.distance
            )
        if not is_past:
            self.gaps[Gap(f"{engine} may wait for {wait.text} for ever", wait.at)] = None
        self.waits[engine, at, wait.text].add("past" if is_past else "")
        self._learn(state, engine, wait.counter, value.told)
        return value

    def _learn(self, state: State, engine: str, q: str, marks: int) -> None:
        state.known[engine] |= marks
        state.known[f"{engine} asked"] |= marks & self.marks.of[q]

    def _assign(self, state: State, engine: str, name: str, place: int, expr: Expr) -> None:
        for q in self.followed[engine, name]:
            found = [self.computed(state, engine, e, q) for e in alternatives(expr)]
            told, after, least = (
                0,
                self.marks.everything,
                [v.least for v in found if v.least is not None],
            )
            for value in found:
                told, after = told | value.told, after & value.after
            state.values[engine, name, place, q] = Value(
                found[0].distance if len(found) == 1 else None,
                min(least) if len(least) == len(found) else None,
                told,
                after,
            )

    def computed(self, state: State, engine: str, expr: Expr, q: str) -> Value:
        """Return what is known of the value of an expression with at most one register."""
        f, key = state.form(expr), ("", "0", 0, q)
        for atom, n in f:
            sizes = [self.registers.get((engine, name)) for name in names(atom)]
            if any(sizes):
                if sizes != [1] or n != 1 or key[0] or (engine, atom) not in self.registers:
                    return Value()
                key = engine, atom, 0, q
                f = plus(f, ((atom, 1),), -1)
        return self._shifted(state, key, f)

    def _shifted(self, state: State, key: Key, added: tuple[tuple[str, int], ...]) -> Value:
        """Return what is known of a register, or of 0, with something added."""
        base, q = state.values.get(key, Value()), key[3]
        distance = None if base.distance is None else state.form(plus(base.distance, added, -1))
        age, told, after, n = number(distance), 0, 0, number(added)
        least = age
        if age is not None and age >= 0:
            told, after = older(state.told[q], age), younger(state.recent[q], age)
        if n is not None:
            same = state.values.get(("", str(n), 0, q), Value()) if not key[0] else base
            told |= same.told if n >= 0 or not key[0] else 0
            after |= same.after if n <= 0 or not key[0] else 0
            if base.least is not None:
                least = base.least - n if age is None else age
        return Value(distance, least, told, after)

    def _signal(self, state: State, q: str, new: int, touched: int) -> None:
        """Count one more signal of a counter; marks of it stand for that from now on."""
        for table in (state.told, state.recent):
            table[q] = {min(age + 1, FOR_EVER): marks for age, marks in table[q].items()}
        state.told[q] = put(state.told[q], new & ~older(state.told[q], 0), 0)
        if touched:
            state.known = {holder: marks & ~touched for holder, marks in state.known.items()}
            state.told = {c: put(t, touched) for c, t in state.told.items()}
            state.recent[q] = put(state.recent[q], touched, 0)
            state.told[q] = put(state.told[q], touched, 0)
        for key, value in state.values.items():
            distance, least, told, after = value
            if key[3] == q:
                least = None if least is None else least + 1
                after |= touched if least is not None and least >= 0 else 0
                distance = None if distance is None else plus(distance, ONE)
                told = told & ~touched | (older(state.told[q], 0) if distance == () else 0)
                state.values[key] = Value(distance, least, told, after)
            elif told & touched:
                state.values[key] = Value(distance, least, told & ~touched, after)

    def _complete(self, state: State) -> State:
        """Everything is complete, and counters begin at 0 again."""
        new = self.beginning()
        new.bounds, new.residues = state.bounds, state.residues
        for key in self.keys:
            if key[3] in self.statement.flags:
                new.values[key] = state.values[key]._replace(told=self.marks.everything)
            elif key[0]:
                new.values[key] = Value(told=self.marks.everything)
        return new


def _constant(key: Key, told: int, after: int) -> Value:
    """Return what is known of a register, or of a number, where the count is 0."""
    n = 0 if key[0] else int(key[1])
    return Value(form({"": -n}), -n, told, after if n <= 0 else 0)
