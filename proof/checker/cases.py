"""Write programs of the tool for the Lean development, with the thresholds that the tool computes.

`scripts/proof tie` lets Lean compute the same thresholds from the proved definitions: both must agree. A case is a program with inputs.
`lean_case` writes it down, or raises Untranslatable if a slot is not of the form that the development has,
`(sum of coefficient * iteration + offset) % slots`. It has two forms: `statements` are two equations for Lean's kernel, `line` is the case in
numbers for `Headway.Test.Evaluate`, with placements of the strategies for the judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from headway.check.generate import Shape, generate
from headway.cli.inputs import parse_inputs, resolve
from headway.compiler import synchronize
from headway.errors import HeadwayError
from headway.ir.atoms import Atoms
from headway.ir.expr import Binary, Expr, Inputs, Iteration, evaluate
from headway.ir.program import (
    Access,
    If,
    Instr,
    Loop,
    Node,
    Program,
    While,
    control_counter,
)
from headway.ir.text import parse
from headway.spec import Instance, readers_inside, required
from headway.sync.expand import expand

HEADER = "import Headway.Test.Tie\nopen Headway Headway.Tie\n"
PLACED = ("scoreboard", "static", "counted")
"""The strategies whose placements the judge has to find exact."""


class Untranslatable(Exception):
    """The program uses a form that the development does not have."""


# --- terms: tuples that have a form in Lean and one in numbers ---

Term = tuple[object, ...]
SKIP: Term = ("skip",)
NODES = ("skip", "instr", "seq", "branch", "loop")
Slot = tuple[str, object, int, int]  # "const", value, 0, 0, or "affine", terms, offset, slots


def in_lean(term: Term) -> str:
    """Return a program as a Lean term."""
    name, *parts = term
    written = [in_lean(part) if isinstance(part, tuple) else str(part) for part in parts]
    if name == "instr":
        written[2] = f"(some {written[2]})"
    return f"(.{name} {' '.join(written)})" if parts else ".skip"


def in_numbers(term: Term) -> list[int]:
    """Return a program as numbers, as `readProgram` reads them."""
    name, *parts = term
    written = [in_numbers(part) if isinstance(part, tuple) else [part] for part in parts]
    return [NODES.index(str(name)), *chain.from_iterable(written)]


def slot_in_lean(slot: Slot) -> str:
    kind, first, offset, slots = slot
    return f".const {first}" if kind == "const" else f".affine {list(first)} {offset} {slots}"


def slot_in_numbers(slot: Slot) -> list[int]:
    kind, first, offset, slots = slot
    if kind == "const":
        return [0, first]
    return [1, offset, slots, len(first), *chain.from_iterable(first)]


def counted(parts: Sequence[list[int]]) -> list[int]:
    """Return a list in numbers: its length, then its parts."""
    return [len(parts), *chain.from_iterable(parts)]


Accesses = list[tuple[int, Slot]]


def accesses_in_numbers(accesses: Accesses) -> list[int]:
    return counted([[number, *slot_in_numbers(slot)] for number, slot in accesses])


def accesses_in_lean(accesses: Accesses) -> str:
    return f"[{', '.join(f'({number}, {slot_in_lean(slot)})' for number, slot in accesses)}]"


@dataclass
class Translation:
    """One program with its inputs, being written as Lean terms."""

    program: Program
    inputs: Inputs
    ids: dict[tuple[str, str], int] = field(default_factory=dict)
    accesses: list[tuple[Accesses, Accesses]] = field(default_factory=list)
    control: list[tuple[int, tuple[int, ...], int]] = field(default_factory=list)
    sites: int = 0

    def __post_init__(self) -> None:
        self.engines = {name: i for i, name in enumerate(self.program.hosts)}
        counters = [
            *self.program.hosts,
            *(q.name for q in self.program.queues),
            *map(control_counter, self.program.hosts),
        ]
        self.counters = {name: i for i, name in enumerate(counters)}
        self.atoms = Atoms(self.program)
        self.slots = {buffer.name: buffer.slots for buffer in self.program.buffers}
        self.buffers: dict[tuple[str, int], int] = {}
        self.moving: set[int] = set()

    # --- the program as a term; every run of it is in `control` ---

    def body(self, nodes: Sequence[Node], loops: tuple[str, ...]) -> Term:
        terms = [self.node(node, loops) for node in nodes]
        if not terms:
            return SKIP
        term = terms.pop()
        while terms:
            term = ("seq", terms.pop(), term)
        return term

    def node(self, node: Node, loops: tuple[str, ...]) -> Term:
        match node:
            case Instr():
                return self.instr(
                    node.name, node.engine, node.counter, node.reads, node.writes, loops
                )
            case If():
                site = self.site()
                branch = (
                    "branch",
                    site,
                    self.body(node.then, loops),
                    self.body(node.orelse, loops),
                )
                return self.after_control(node, loops, branch)
            case Loop():
                site = self.site()
                return self.after_control(
                    node, loops, ("loop", site, self.body(node.body, (*loops, node.iteration)))
                )
            case While():  # one more turn, in which only the control reads run, as the condition fails there
                turn, test = self.site(), self.site()
                inside = (*loops, node.iteration)
                branch = ("branch", test, self.body(node.body, inside), SKIP)
                return ("loop", turn, self.after_control(node, inside, branch))

    def after_control(self, node: Loop | While | If, loops: tuple[str, ...], term: Term) -> Term:
        readers = set(readers_inside(node)) if node.control else set()
        for engine in reversed([engine for engine in self.program.hosts if engine in readers]):
            assert node.control
            read = self.instr(
                node.control.name, engine, control_counter(engine), node.control.reads, (), loops
            )
            term = ("seq", read, term)
        return term

    def site(self) -> int:
        self.sites += 1
        return self.sites - 1

    def instr(
        self,
        name: str,
        engine: str,
        counter: str,
        reads: Sequence[Access],
        writes: Sequence[Access],
        loops: tuple[str, ...],
    ) -> Term:
        number = self.ids.setdefault((name, engine), len(self.ids))
        self.accesses.append((self.access_list(reads, loops), self.access_list(writes, loops)))
        return ("instr", number, self.engines[engine], self.counters[counter])

    def access_list(self, accesses: Sequence[Access], loops: tuple[str, ...]) -> Accesses:
        entries: Accesses = []
        for access in accesses:
            slot = self.slot(access, loops)
            for atom in self.atoms.of(access):
                number = self.buffers.setdefault((access.buffer, atom), len(self.buffers))
                entries.append((number, slot))
                if slot != ("const", 0, 0, 0):
                    self.moving.add(number)
        return entries

    def slot(self, access: Access, loops: tuple[str, ...]) -> Slot:
        slots = self.slots[access.buffer]
        expr = access.slot
        if isinstance(expr, int):
            return "const", expr, 0, 0
        if isinstance(expr, Binary) and expr.operator == "%" and expr.right == slots:
            expr = (
                expr.left
            )  # otherwise the value is below `slots` as it is, or the program is refused
        terms, offset = linear(expr)
        listed = tuple((loops[::-1].index(loop), factor % slots) for loop, factor in terms.items())
        return "affine", listed, offset % slots, slots

    # --- the control values of the run ---

    def record(
        self, nodes: Sequence[Node], sites: Iterator[int], iterations: dict[str, int]
    ) -> None:
        """Follow the run and write down each decision; `sites` numbers them as the term does."""
        for node in nodes:
            match node:
                case Instr():
                    pass
                case If():
                    site = next(sites)
                    taken = bool(self.value(node.condition, iterations))
                    self.decide(site, iterations, int(taken))
                    inner = list(numbers(node.then, sites)), list(numbers(node.orelse, sites))
                    self.record(
                        node.then if taken else node.orelse,
                        iter(inner[0 if taken else 1]),
                        iterations,
                    )
                case Loop():
                    site, inner = next(sites), list(numbers(node.body, sites))
                    trip = self.value(node.trip, iterations)
                    self.decide(site, iterations, trip)
                    for i in range(trip):
                        self.record(node.body, iter(inner), {**iterations, node.iteration: i})
                case While():
                    turn, test, inner = next(sites), next(sites), list(numbers(node.body, sites))
                    i = 0
                    while self.value(node.condition, inside := {**iterations, node.iteration: i}):
                        self.decide(test, inside, 1)
                        self.record(node.body, iter(inner), inside)
                        i += 1
                    self.decide(turn, iterations, i + 1)

    def value(self, expr: Expr, iterations: dict[str, int]) -> int:
        return evaluate(expr, iterations, self.inputs)

    def decide(self, site: int, iterations: dict[str, int], value: int) -> None:
        if value:  # 0 is what the table gives for everything else
            self.control.append((site, tuple(reversed(iterations.values())), value))


def linear(expr: Expr) -> tuple[dict[str, int], int]:
    """Return the coefficient of each iteration, and the constant, of a linear expression."""
    match expr:
        case int():
            return {}, expr
        case Iteration(loop):
            return {loop: 1}, 0
        case Binary("+", left, right):
            (a, x), (b, y) = linear(left), linear(right)
            return {loop: a.get(loop, 0) + b.get(loop, 0) for loop in {**a, **b}}, x + y
        case Binary("*", int() as factor, other) | Binary("*", other, int() as factor):
            terms, offset = linear(other)
            return {loop: factor * value for loop, value in terms.items()}, factor * offset
        case _:
            raise Untranslatable(str(expr))


def numbers(nodes: Sequence[Node], sites: Iterator[int]) -> Iterator[int]:
    """Yield the site numbers of the decisions in `nodes`."""
    for node in nodes:
        match node:
            case Instr():
                pass
            case If():
                yield next(sites)
                yield from numbers((*node.then, *node.orelse), sites)
            case Loop():
                yield next(sites)
                yield from numbers(node.body, sites)
            case While():
                yield next(sites)
                yield next(sites)
                yield from numbers(node.body, sites)


@dataclass(frozen=True)
class LeanCase:
    """A case, and the thresholds on every counter of each engine's instances in turn."""

    name: str
    program: Term
    accesses: list[tuple[Accesses, Accesses]]
    whole: list[int]
    control: list[tuple[int, tuple[int, ...], int]]
    serial: list[int]
    kept: list[int]  # serial counters that are engines' own: a sequencer stands still for them
    loads: list[tuple[int, int]]
    engines: list[int]
    counters: list[int]
    expected: list[list[tuple[int, list[int]]]]
    placements: dict[str, list[list[int]]]

    def statements(self) -> str:
        """Return the case as two equations for the kernel."""
        control = ", ".join(
            f"({site}, {list(vector)}, {value})" for site, vector, value in self.control
        )
        table = ", ".join(
            f"({accesses_in_lean(reads)}, {accesses_in_lean(writes)})"
            for reads, writes in self.accesses
        )
        setting = f"(control [{control}]) (ordered {self.serial} {self.loads}) {self.engines} {self.counters}"
        program, accesses = in_lean(self.program), f"(accesses [{table}])"
        return (
            f"-- {self.name}\n"
            f"example : specification {program} {accesses} {setting} = {self.expected} := by decide +kernel\n"
            f"example : compiled {program} {accesses} {self.whole} {setting} = {self.expected} := by decide +kernel\n"
        )

    def line(self) -> str:
        """Return the case in numbers, as `Headway.Test.Evaluate.answer` reads them."""
        numbers = [
            *in_numbers(self.program),
            *counted(
                [
                    [*accesses_in_numbers(reads), *accesses_in_numbers(writes)]
                    for reads, writes in self.accesses
                ]
            ),
            *(len(self.whole), *self.whole),
            *counted([[site, len(vector), *vector, value] for site, vector, value in self.control]),
            *(len(self.serial), *self.serial),
            *counted([list(pair) for pair in self.loads]),
            *(len(self.engines), *self.engines),
            *(len(self.counters), *self.counters),
            *(len(self.kept), *self.kept),
            *counted(
                [counted([[len(row), *row] for row in rows]) for rows in self.placements.values()]
            ),
        ]
        return " ".join(map(str, numbers))

    def answer(self) -> str:
        """Return what Lean has to answer: what is required, what the compiled code waits for, the verdicts on the placements."""
        rows = (
            chain.from_iterable([number, *row] for number, row in engine)
            for engine in self.expected
        )
        tables = "".join("".join(f" {number}" for number in numbers) + " ;" for numbers in rows)
        return f"=={tables} |{tables} |{' 1' * len(self.placements)}"


def lean_case(
    name: str, program: Program, inputs: Inputs, strategies: Iterable[str] = PLACED
) -> LeanCase:
    """Write a program with its inputs, and what the tool requires of it, for Lean. Raise Untranslatable."""
    made = Translation(program, inputs)
    term = made.body(program.body, ())
    made.record(program.body, iter(range(made.sites)), {})
    reference = list(required(program, inputs))
    table: list[list[tuple[int, list[int]]]] = [[] for _ in made.engines]
    for instance, needed in reference:
        thresholds = [needed.get(q, 0) for q in made.counters]
        table[made.engines[instance.engine]].append(
            (made.ids[instance.node.name, instance.engine], thresholds)
        )
    order = [instance for instance, _ in reference]
    placed = {
        name: placement(program, inputs, name, order, list(made.counters)) for name in strategies
    }
    return LeanCase(
        name=name,
        program=term,
        accesses=made.accesses,
        whole=[number for number in made.buffers.values() if number not in made.moving],
        control=made.control,
        serial=[made.counters[q] for q in made.counters if q in program.serial],
        kept=[made.counters[q] for q in made.engines if q in program.serial],
        loads=[
            (number, made.counters[control_counter(engine)])
            for engine, number in made.engines.items()
        ],
        engines=list(made.engines.values()),
        counters=list(made.counters.values()),
        expected=table,
        placements={name: rows for name, rows in placed.items() if rows is not None},
    )


def placement(
    program: Program,
    inputs: Inputs,
    strategy: str,
    order: Sequence[Instance],
    counters: Sequence[str],
) -> list[list[int]] | None:
    """Return the thresholds that a strategy gives to each instance, or None if it cannot carry the program, or runs other instances.

    It does if engines load control values that they do not need, to count what others do.
    """
    try:
        synced = synchronize(program, "generic", strategy)
    except HeadwayError:
        return None
    events = {engine: iter(run) for engine, run in expand(synced, inputs).items()}
    rows: list[list[int]] = []
    for instance in order:
        event = next(events[instance.engine])
        if (event.name, event.iteration) != (instance.node.name, instance.iteration):
            return None
        waits = [(wait.counter, wait.threshold) for wait in event.waits]
        rows.append([max([0, *(n for counter, n in waits if counter == q)]) for q in counters])
    return rows if all(next(run).kind == "end" for run in events.values()) else None


def random_cases(count: int, seed: int, instances: int = 24) -> Iterator[LeanCase]:
    """Yield `count` random cases; every other one may have control values in memory."""
    for number in range(seed, seed + count):
        case = generate(
            number, Shape(instructions=8, instances=instances, control_in_memory=number % 2 == 1)
        )
        yield lean_case(f"seed {number}", case.program, case.inputs)


def example_cases(folder: Path) -> Iterator[LeanCase]:
    """Yield the worked examples and the pitfalls, each with the inputs that its comment lists."""
    for path in sorted(folder.glob("*/[ce][0-9]*.hwy")):
        if path.name.endswith(".wrong.hwy"):
            continue
        text = path.read_text()
        program = parse(text, path.name)
        for line in text.splitlines():
            if line.startswith("// case"):
                inputs = resolve(program, parse_inputs(line.split()[2:]))
                yield lean_case(
                    f"{path.stem} {line.removeprefix('// case').strip()}", program, inputs
                )
