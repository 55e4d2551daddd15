"""Write programs of the tool as terms of the Lean development, with the thresholds that the tool computes.

`scripts/proof tie` lets Lean's kernel compute the same thresholds from the proved definitions: both must agree.
A case is a program with inputs. `lean_case` returns two Lean statements about it, or raises Untranslatable if a slot is not of
the form that the development has, `(sum of coefficient * iteration + offset) % slots`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headway.check.generate import Shape, generate
from headway.cli.inputs import parse_inputs, resolve
from headway.ir.atoms import Atoms
from headway.ir.expr import Binary, Expr, Inputs, Iteration, evaluate
from headway.ir.program import Access, ControlRead, If, Instr, Loop, Node, Program, While, control_counter
from headway.ir.text import parse
from headway.spec import readers_inside, required

HEADER = "import Headway.Test.Tie\nopen Headway Headway.Tie\n"


class Untranslatable(Exception):
    """The program uses a form that the development does not have."""


@dataclass
class Translation:
    """One program with its inputs, being written as Lean terms."""

    program: Program
    inputs: Inputs
    ids: dict[tuple[str, str], int] = field(default_factory=dict)
    accesses: list[tuple[str, str]] = field(default_factory=list)
    control: list[tuple[int, tuple[int, ...], int]] = field(default_factory=list)
    sites: int = 0

    def __post_init__(self) -> None:
        self.engines = {name: i for i, name in enumerate(self.program.hosts)}
        counters = [*self.program.hosts, *(q.name for q in self.program.queues), *map(control_counter, self.program.hosts)]
        self.counters = {name: i for i, name in enumerate(counters)}
        self.atoms = Atoms(self.program)
        self.slots = {buffer.name: buffer.slots for buffer in self.program.buffers}
        self.buffers: dict[tuple[str, int], int] = {}
        self.moving: set[int] = set()

    # --- the program as a term; every run of it is in `control` ---

    def body(self, nodes: Sequence[Node], loops: tuple[str, ...]) -> str:
        terms = [self.node(node, loops) for node in nodes]
        if not terms:
            return ".skip"
        term = terms.pop()
        while terms:
            term = f"(.seq {terms.pop()} {term})"
        return term

    def node(self, node: Node, loops: tuple[str, ...]) -> str:
        match node:
            case Instr():
                return self.instr(node.name, node.engine, node.counter, node.reads, node.writes, loops)
            case If():
                site = self.site()
                branch = f"(.branch {site} {self.body(node.then, loops)} {self.body(node.orelse, loops)})"
                return self.after_control(node, loops, branch)
            case Loop():
                site = self.site()
                return self.after_control(node, loops, f"(.loop {site} {self.body(node.body, (*loops, node.iteration))})")
            case While():  # one more turn, in which only the control reads run, as the condition fails there
                turn, test = self.site(), self.site()
                inside = (*loops, node.iteration)
                branch = f"(.branch {test} {self.body(node.body, inside)} .skip)"
                return f"(.loop {turn} {self.after_control(node, inside, branch)})"

    def after_control(self, node: Loop | While | If, loops: tuple[str, ...], term: str) -> str:
        readers = set(readers_inside(node)) if node.control else set()
        for engine in reversed([engine for engine in self.program.hosts if engine in readers]):
            assert node.control
            read = self.instr(node.control.name, engine, control_counter(engine), node.control.reads, (), loops)
            term = f"(.seq {read} {term})"
        return term

    def site(self) -> int:
        self.sites += 1
        return self.sites - 1

    def instr(
        self, name: str, engine: str, counter: str, reads: Sequence[Access], writes: Sequence[Access], loops: tuple[str, ...]
    ) -> str:
        number = self.ids.setdefault((name, engine), len(self.ids))
        self.accesses.append((self.access_list(reads, loops), self.access_list(writes, loops)))
        return f"(.instr {number} {self.engines[engine]} (some {self.counters[counter]}))"

    def access_list(self, accesses: Sequence[Access], loops: tuple[str, ...]) -> str:
        entries: list[str] = []
        for access in accesses:
            slot = self.slot(access, loops)
            for atom in self.atoms.of(access):
                number = self.buffers.setdefault((access.buffer, atom), len(self.buffers))
                entries.append(f"({number}, {slot})")
                if slot != ".const 0":
                    self.moving.add(number)
        return f"[{', '.join(entries)}]"

    def slot(self, access: Access, loops: tuple[str, ...]) -> str:
        slots = self.slots[access.buffer]
        expr = access.slot
        if isinstance(expr, int):
            return f".const {expr}"
        if isinstance(expr, Binary) and expr.operator == "%" and expr.right == slots:
            expr = expr.left  # otherwise the value is below `slots` as it is, or the program is refused
        terms, offset = linear(expr)
        listed = ", ".join(f"({loops[::-1].index(loop)}, {factor % slots})" for loop, factor in terms.items())
        return f".affine [{listed}] {offset % slots} {slots}"

    # --- the control values of the run ---

    def record(self, nodes: Sequence[Node], sites: Iterator[int], iterations: dict[str, int]) -> None:
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
                    self.record(node.then if taken else node.orelse, iter(inner[0 if taken else 1]), iterations)
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
    """A case in Lean terms."""

    name: str
    program: str
    accesses: str
    whole: str
    control: str
    order: str
    engines: str
    counters: str
    expected: str

    def statements(self) -> str:
        setting = f"({self.control}) ({self.order}) {self.engines} {self.counters}"
        return (
            f"-- {self.name}\n"
            f"example : specification {self.program} (accesses {self.accesses}) {setting} = {self.expected} := by decide +kernel\n"
            f"example : compiled {self.program} (accesses {self.accesses}) {self.whole} {setting} = {self.expected} := by decide +kernel\n"
        )


def lean_case(name: str, program: Program, inputs: Inputs) -> LeanCase:
    """Write a program with its inputs, and what the tool requires of it, in Lean terms. Raise Untranslatable."""
    made = Translation(program, inputs)
    term = made.body(program.body, ())
    made.record(program.body, iter(range(made.sites)), {})
    serial = [made.counters[q] for q in made.counters if q in program.serial]
    reads = ", ".join(f"({number}, {made.counters[control_counter(engine)]})" for engine, number in made.engines.items())
    table: list[list[str]] = [[] for _ in made.engines]
    for instance, needed in required(program, inputs):
        thresholds = [needed.get(q, 0) for q in made.counters]
        table[made.engines[instance.engine]].append(f"({made.ids[instance.node.name, instance.engine]}, {thresholds})")
    control = ", ".join(f"({site}, {list(vector)}, {value})" for site, vector, value in made.control)
    return LeanCase(
        name=name,
        program=f"({term})" if term.startswith(".") else term,
        accesses=f"[{', '.join(f'({reads}, {writes})' for reads, writes in made.accesses)}]",
        whole=str([number for number in made.buffers.values() if number not in made.moving]),
        control=f"control [{control}]",
        order=f"ordered {serial} [{reads}]",
        engines=str(list(made.engines.values())),
        counters=str(list(made.counters.values())),
        expected='[' + ', '.join('[' + ', '.join(rows) + ']' for rows in table) + ']',
    )


def random_cases(count: int, seed: int) -> Iterator[LeanCase]:
    """Yield `count` random cases, small enough for the kernel; every other one may have control values in memory."""
    for number in range(seed, seed + count):
        case = generate(number, Shape(instructions=8, instances=10, control_in_memory=number % 2 == 1))
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
                yield lean_case(f"{path.stem} {line.removeprefix('// case').strip()}", program, inputs)
