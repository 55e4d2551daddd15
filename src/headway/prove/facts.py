"""What holds at a point of the sequential program, whatever the inputs were.

`count` of a counter is how many of its signals come before the point. A mark is *told* by a
position if whoever has waited for that position knows the mark to be complete, or that there is
nothing to complete; position 0 and below tell nothing, so that they tell only what never was.

known   engine -> marks that it knows to be complete
asked   engine -> those of them for whose counter it has waited itself
ages    counter -> [(age, marks told by position count - age), ...], younger first, each set valid
        up to the next; the last for ever
fixed   (counter, n) -> marks told by position n
equal   register -> form f: the register is count - f (a row: only until the next signal)
below   register -> n: it is <= count - n
told    register -> marks told by the position in it
frames  buffer -> terms: its places, and those of its rows, are slots counted from these terms on
values  iteration -> its value, in loops that are walked turn by turn
The constant 0 is the register `ZERO_ROW` of every counter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from headway.ir.expr import Expr, Iteration
from headway.prove.cells import Cells, Marks, Row
from headway.prove.forms import ZERO, Form

ZERO_ROW: Row = ("", "0")
Terms = tuple[tuple[Expr, int], ...]
Ages = list[tuple[int, Marks]]


class Register(NamedTuple):
    """One place of a row of registers, as a position of a counter."""

    engine: str
    name: str
    place: int
    counter: str


@dataclass(slots=True)
class Facts:
    """See the module. It is changed in place; `copy` and `meet` leave it alone."""

    cells: Cells = field(compare=False)
    known: dict[str, Marks]
    asked: dict[str, Marks]
    ages: dict[str, Ages]
    fixed: dict[tuple[str, int], Marks]
    equal: dict[Register, Form] = field(default_factory=dict[Register, Form])
    below: dict[Register, int] = field(default_factory=dict[Register, int])
    told: dict[Register, Marks] = field(default_factory=dict[Register, Marks])
    frames: dict[str, Terms] = field(default_factory=dict[str, Terms])
    values: dict[str, int] = field(default_factory=dict[str, int], compare=False)

    def copy(self) -> Facts:
        """Return the same facts."""
        return Facts(
            self.cells,
            dict(self.known),
            dict(self.asked),
            {q: list(ages) for q, ages in self.ages.items()},
            dict(self.fixed),
            dict(self.equal),
            dict(self.below),
            dict(self.told),
            dict(self.frames),
            dict(self.values),
        )

    def meet(self, other: Facts) -> Facts:
        """Return what holds if either holds, in the frames of these facts."""
        a, b = self, other.copy()
        for buffer, terms in self.frames.items():
            b.reframe(buffer, terms)
        return Facts(
            a.cells,
            {e: marks & b.known[e] for e, marks in a.known.items()},
            {e: marks & b.asked[e] for e, marks in a.asked.items()},
            {q: _common(ages, b.ages[q]) for q, ages in a.ages.items()},
            {key: marks & b.fixed[key] for key, marks in a.fixed.items()},
            {r: f for r, f in a.equal.items() if b.equal.get(r) == f},
            {r: min(n, b.below[r]) for r, n in a.below.items() if r in b.below},
            {r: marks & b.told[r] for r, marks in a.told.items()},
            dict(a.frames),
            dict(a.values),
        )

    def at_age(self, q: str, age: int) -> Marks:
        """Return the marks told by position `count - age` of a counter."""
        found = 0
        for start, marks in self.ages[q]:
            if start > age:
                break
            found = marks
        return found if age >= 0 else 0

    def at_number(self, q: str, number: int) -> Marks:
        """Return the marks told by position `number` of a counter."""
        zero = self.equal.get(Register(*ZERO_ROW, 0, q))
        here = 0 if zero is None or zero.terms else self.at_age(q, zero.number - number)
        return here | self.fixed.get((q, number), 0)

    # What happens

    def learn(self, engine: str, q: str, marks: Marks) -> None:
        """Let an engine know marks that a wait for counter `q` has told it."""
        self.known[engine] |= marks
        self.asked[engine] |= marks & self.cells.of_counter.get(q, 0)

    def signal(self, q: str, engine: str) -> None:
        """Count a signal of an instance that was issued with what the engine knows."""
        new = self.known[engine] | self.at_age(q, 0)
        older = [(age + 1, marks) for age, marks in self.ages[q]]
        self.ages[q] = _short([(0, new), *older])
        self.equal = {
            r: f.plus(1) if r.counter == q else f
            for r, f in self.equal.items()
            if r.counter != q or not self.cells.is_row(r.engine, r.name)
        }
        for register in self.below:
            if register.counter == q:
                self.below[register] += 1
        self._tell_fixed(q, new)

    def touch(self, q: str, marks: Marks) -> None:
        """Let marks of counter `q` stand for its latest instance, the one just signalled."""
        rest = ~marks
        self.known = {e: old & rest for e, old in self.known.items()}
        self.asked = {e: old & rest for e, old in self.asked.items()}
        self.fixed = {key: old & rest for key, old in self.fixed.items()}
        self.told = {r: old & rest for r, old in self.told.items()}
        for counter, ages in self.ages.items():
            if any(old & marks for _, old in ages):
                self.ages[counter] = _short([(age, old & rest) for age, old in ages])
        self.ages[q] = _short([(0, self.at_age(q, 0) | marks), *_after_first(self.ages[q])])
        for register, f in self.equal.items():
            if register in self.told and register.counter == q and f == ZERO:
                self.told[register] |= marks
        self._tell_fixed(q, marks)

    def _tell_fixed(self, q: str, marks: Marks) -> None:
        zero = self.equal.get(Register(*ZERO_ROW, 0, q))
        if zero is not None and not zero.terms:
            key = q, zero.number
            if key in self.fixed:
                self.fixed[key] |= marks

    def complete(self) -> None:
        """Everything is complete, and all counters begin at 0 again: a barrier."""
        everything = self.cells.everything
        self.known = dict.fromkeys(self.known, everything)
        self.asked = dict.fromkeys(self.asked, 0)
        self.fixed = dict.fromkeys(self.fixed, everything)
        self.told = dict.fromkeys(self.told, everything)
        self.ages = {q: [(0, everything)] for q in self.ages}
        zeros = [Register(*ZERO_ROW, 0, q) for q in self.ages]
        self.equal = dict.fromkeys(zeros, ZERO)
        self.below = dict.fromkeys(zeros, 0)

    # Slots

    def place(self, buffer: str, slot: Expr) -> int:
        """Return the place of a slot, after moving to the frame of its terms."""
        f = self.form(slot, self.cells.slots[buffer])
        self.reframe(buffer, f.terms)
        return f.number

    def form(self, expr: Expr, slots: int = 0) -> Form:
        """Return an expression as a form, with the values of iterations that are known."""
        f = self.cells.form(expr, slots)
        for iteration, value in self.values.items():
            f = f.with_value(Iteration(iteration), Form((), value))
        return f.modulo(slots) if slots else f

    def reframe(self, buffer: str, terms: Terms) -> None:
        """Count the places of a buffer from other terms on: it may be any of them then."""
        if self.frames[buffer] == terms:
            return
        self.frames[buffer] = terms
        result = self
        for steps in range(1, self.cells.slots[buffer]):
            turned = self.copy()
            turned.turn(buffer, steps)
            result = result.meet(turned)
        self._become(result)

    def turn(self, buffer: str, steps: int) -> None:
        """Call place p of a buffer and its rows p + `steps` from now on, modulo its slots."""
        slots = self.cells.slots[buffer]
        steps %= slots
        if not steps:
            return
        every = self.cells.positions(buffer, slots)
        low = self.cells.positions(buffer, slots - steps)

        def turned(marks: Marks) -> Marks:
            up, down = (marks & low) << steps, (marks & every & ~low) >> (slots - steps)
            return marks & ~every | up | down

        def moved(r: Register) -> Register:
            if self.cells.rows.get((r.engine, r.name)) != buffer:
                return r
            return r._replace(place=(r.place + steps) % slots)

        self.known = {e: turned(marks) for e, marks in self.known.items()}
        self.asked = {e: turned(marks) for e, marks in self.asked.items()}
        self.ages = {q: [(n, turned(m)) for n, m in ages] for q, ages in self.ages.items()}
        self.fixed = {key: turned(marks) for key, marks in self.fixed.items()}
        self.told = {moved(r): turned(marks) for r, marks in self.told.items()}
        self.below = {moved(r): n for r, n in self.below.items()}
        self.equal = {moved(r): f for r, f in self.equal.items()}

    def _become(self, other: Facts) -> None:
        self.known, self.asked, self.ages = other.known, other.asked, other.ages
        self.fixed, self.equal, self.below = other.fixed, other.equal, other.below
        self.told, self.frames = other.told, other.frames

    # Loops

    def enter(self, iteration: str, frames: dict[str, Terms]) -> None:
        """Go to the frames of a loop's head, where its iteration is 0."""
        for buffer, terms in frames.items():
            outside = tuple(term for term in terms if term[0] != Iteration(iteration))
            self.reframe(buffer, outside)
            self.frames[buffer] = terms

    def substitute(self, iteration: str, value: Form | None) -> None:
        """Put a value in place of an iteration; None: it is not known."""
        atom = Iteration(iteration)

        def has(f: Form) -> bool:
            return f.hides(iteration) or (value is None and f.of(atom) != 0)

        self.equal = {
            r: f.with_value(atom, value or ZERO) for r, f in self.equal.items() if not has(f)
        }
        for buffer, terms in list(self.frames.items()):
            f = Form(terms)
            if has(f):
                self.reframe(buffer, ())
            elif f.of(atom):
                new = f.with_value(atom, value or ZERO).modulo(self.cells.slots[buffer])
                self.frames[buffer] = new.terms
                self.turn(buffer, new.number)


def beginning(cells: Cells) -> Facts:
    """Return what holds before the first instruction: nothing was accessed, registers are 0."""
    program = cells.sync.program
    everything = cells.everything
    counters = [*program.hosts, *(queue.name for queue in program.queues)]
    counters += [f"{engine}.control" for engine in program.hosts]
    rows = {**cells.sizes, ZERO_ROW: 1}
    registers = [
        Register(*row, place, q)
        for row, size in rows.items()
        for q in (counters if row == ZERO_ROW else sorted(cells.counters.get(row, ())))
        for place in range(size)
    ]
    return Facts(
        cells,
        dict.fromkeys(program.hosts, everything),
        dict.fromkeys(program.hosts, everything),
        {q: [(0, everything)] for q in counters},
        {(q, n): everything for q, numbers in cells.constants.items() for n in numbers},
        {r: ZERO for r in registers if rows[r.engine, r.name] == 1},
        dict.fromkeys(registers, 0),
        {r: everything for r in registers if (r.engine, r.name) != ZERO_ROW},
        {buffer: () for buffer in cells.slots},
    )


def _short(ages: Ages) -> Ages:
    """Leave out entries that say what the one before says."""
    kept: Ages = []
    for age, marks in ages:
        if not kept or kept[-1][1] != marks:
            kept.append((age, marks))
    return kept


def _after_first(ages: Ages) -> Ages:
    """Return what remains when the entry for age 0 is replaced: the one for age 1, and older."""
    older = [(age, marks) for age, marks in ages if age > 1]
    at_one = next((marks for age, marks in reversed(ages) if age <= 1), 0)
    return [(1, at_one), *older]


def _common(a: Ages, b: Ages) -> Ages:
    if a == b:
        return list(a)
    found: Ages = []
    i = j = 0
    while True:
        found.append((max(a[i][0], b[j][0]), a[i][1] & b[j][1]))
        next_a = a[i + 1][0] if i + 1 < len(a) else None
        next_b = b[j + 1][0] if j + 1 < len(b) else None
        if next_a is None and next_b is None:
            return _short(found)
        if next_b is None or (next_a is not None and next_a <= next_b):
            i += 1
        if next_a is None or (next_b is not None and next_b <= next_a):
            j += 1
