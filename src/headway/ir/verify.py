"""Check a sequential program against every rule of the model that does not need its inputs.

Names are legal, unique and declared; a queue has one host; slots and boxes lie inside their
buffer; trip counts are not negative; a `while` can end; there is something to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from headway.errors import Location, Note
from headway.ir.access_rules import AccessRules
from headway.ir.names import CLAUSES, DECLARATIONS, HEADS, MARKS, is_title, shown, suggestion
from headway.ir.problems import Problems, Quote, no_quote
from headway.ir.program import (
    ControlRead,
    If,
    Instr,
    Loop,
    Node,
    Program,
    Queue,
    Takes,
    While,
    Work,
    control_counter,
)
from headway.ir.rules import Rules, check_free_name, check_name, check_unique
from headway.ir.walk import deep_nests, instructions, walk

MOVES = ("", "load", "store", "copy")

LONGEST_ROW = 1_000_000
"""Slots of a buffer, and registers of a row: what keeps something for each of them ends."""


def verify(program: Program, quote: Quote = no_quote) -> None:
    """Raise InvalidProgram with all problems of `program`; `quote` finds the lines to quote."""
    problems = Problems(quote)
    find_problems(program, problems)
    problems.raise_any()


def find_problems(program: Program, problems: Problems) -> None:
    """Add every problem of `program` to `problems`."""
    _declarations(program, problems)
    _names(program, problems)
    if next(instructions(program.body), None) is None:
        message = f"program {shown(program.name)} has no instruction"
        problems.add(message, program.at, help="an instruction is: ENGINE NAME reads(...)")
    with deep_nests():
        _BodyRules(program, problems).body(program.body)


def _declarations(program: Program, problems: Problems) -> None:
    if not is_title(program.name):
        problems.add(f"{shown(program.name)} is not the name of a program", program.at)
    engines = set(program.hosts)
    for queue in program.queues:
        if queue.host not in engines:
            message = f"the host of queue {shown(queue.name)}, {shown(queue.host)}, is no engine"
            problems.add(message, queue.at, help=suggestion(queue.host, engines))
    for buffer in program.buffers:
        if buffer.slots < 1:
            problems.add(f"buffer {shown(buffer.name)} has {buffer.slots} slots", buffer.at)
        if buffer.slots > LONGEST_ROW:
            message = f"buffer {shown(buffer.name)} has {buffer.slots:,} slots"
            rule = f"a buffer has at most {LONGEST_ROW:,} slots"
            help = "make the slots larger: shape(...) gives them places inside"
            problems.add(message, buffer.at, rule=rule, help=help)
        if any(extent < 1 for extent in buffer.shape):
            problems.add(f"buffer {shown(buffer.name)} has an extent below 1", buffer.at)
        if buffer.space:
            check_name(problems, "a memory", buffer.space, buffer.at)


_Named = tuple[str, str, Location | None]


def _counters(program: Program) -> Iterator[_Named]:
    for engine in program.engines:
        yield "engine", engine.name, engine.at
    for queue in program.queues:
        yield "queue", queue.name, queue.at
    for engine in program.engines:
        yield "control counter", control_counter(engine.name), engine.at


def _steps(program: Program) -> Iterator[_Named]:
    for node in walk(program.body):
        if isinstance(node, Instr):
            yield "instruction", node.name, node.at
        elif node.control:
            yield "control read", node.control.name, node.control.at


def _names(program: Program, problems: Problems) -> None:
    inputs = [("input", decl.name, decl.at) for decl in program.inputs]
    buffers = [("buffer", buffer.name, buffer.at) for buffer in program.buffers]
    counters, steps = list(_counters(program)), list(_steps(program))
    for group in (inputs, buffers, counters, steps):
        check_unique(problems, group)
    for kind, name, at in (*inputs, *counters):
        check = check_name if kind == "queue" else check_free_name
        check(problems, f"an {kind}" if kind[0] in "ei" else f"a {kind}", name, at)
    for kind, name, at in (*buffers, *steps):
        check_name(problems, f"an {kind}" if kind[0] == "i" else f"a {kind}", name, at)


class _BodyRules:
    """Checks nodes; knows the declarations and the first trigger of each queue by its host."""

    def __init__(self, program: Program, problems: Problems) -> None:
        self._problems = problems
        self._rules = Rules(problems, program.inputs)
        self._engines = set(program.hosts)
        self._queues = {queue.name: queue for queue in program.queues}
        self._triggers: dict[str, Instr] = {}
        self._memory = AccessRules(problems, self._rules, program.buffers)

    def body(self, body: tuple[Node, ...]) -> None:
        last: dict[str, Instr] = {}  # by engine, since the last loop, while or if
        for node in body:
            if not isinstance(node, Instr):
                last.clear()
            match node:
                case Instr():
                    self._instr(node)
                    if node.fused:
                        self._fused(node, last.get(node.engine))
                    last[node.engine] = node
                case Loop():
                    self._control(node.control)
                    self._rules.trip(node.trip, node.at)
                    with self._rules.iteration(node.iteration, node.at):
                        self.body(node.body)
                    self._memory.forget()
                case While():
                    self._control(node.control)
                    with self._rules.iteration(node.iteration, node.at):
                        self._rules.condition(node.condition, node.iteration, node.at)
                        self.body(node.body)
                    self._memory.forget()
                case If():
                    self._control(node.control)
                    self._rules.expression(node.condition, node.at)
                    self.body(node.then)
                    self.body(node.orelse)

    def _control(self, control: ControlRead | None) -> None:
        if control is None:
            return
        if not control.reads:
            message = f"control read {shown(control.name)} reads nothing"
            self._problems.add(message, control.at, help="name the memory it loads: reads(flag)")
        self._memory.check(control.reads, control.at)

    def _instr(self, instr: Instr) -> None:
        if instr.engine not in self._engines:
            self._unknown_engine(instr)
        if instr.queue is not None:
            self._trigger(instr, instr.queue)
        self._memory.check(instr.reads, instr.at)
        self._memory.check(instr.writes, instr.at)
        if isinstance(instr.cost, Takes):
            self._takes(instr.cost, instr.at)
        elif instr.cost:
            self._work(instr.cost, instr.at)

    def _fused(self, instr: Instr, before: Instr | None) -> None:
        name, engine = shown(instr.name), shown(instr.engine)
        rule = "a region has instructions of one engine or queue, one after the other in a body"
        if before is None:
            message = f"{name} is fused, and no instruction of {engine} stands before it"
            self._problems.add(message, instr.at, rule=rule)
        elif before.counter != instr.counter:
            message = f"{name} is fused with {shown(before.name)}, which runs elsewhere"
            self._problems.add(message, instr.at, rule=rule)

    def _unknown_engine(self, instr: Instr) -> None:
        known = (*sorted(self._engines), *DECLARATIONS, *HEADS, *CLAUSES, *MARKS)
        self._problems.add(
            f"engine {shown(instr.engine)} is not declared",
            instr.at,
            rule="a program that declares an engine declares all its engines and queues",
            help=suggestion(instr.engine, known) or f"declare it: engine {instr.engine[:40]}",
        )

    # Queues

    def _trigger(self, instr: Instr, name: str) -> None:
        queue = self._queues.get(name)
        if queue is None:
            help = suggestion(name, self._queues) or f"declare it: queue {name} on {instr.engine}"
            self._problems.add(f"queue {shown(name)} is not declared", instr.at, help=help)
        elif queue.host == instr.engine:
            self._triggers.setdefault(name, instr)
        else:
            self._second_host(instr, queue)

    def _second_host(self, instr: Instr, queue: Queue) -> None:
        host, other = shown(queue.host), shown(instr.engine)
        first = self._triggers.get(queue.name)
        if first:
            message = f"queue {shown(queue.name)} is triggered by two engines, {other} and {host}"
            note = Note(f"{host} triggers it here", first.at)
        else:
            message = f"queue {shown(queue.name)} is triggered by {other}, and its host is {host}"
            note = Note("the queue is declared here", queue.at)
        self._problems.add(
            message,
            instr.at,
            notes=(note,),
            rule="a queue has exactly one host engine (docs/model.md#hosts)",
            help="use a second queue, or issue both transfers from one engine",
        )

    # Costs

    def _takes(self, cost: Takes, at: Location | None) -> None:
        for duration in (cost.latency, cost.occupancy):
            if not isfinite(duration) or duration < 0:
                self._problems.add(f"a duration is {duration}", at, rule="it is 0 or more ns")

    def _work(self, cost: Work, at: Location | None) -> None:
        check_name(self._problems, "an operation", cost.operation, at)
        check_name(self._problems, "a data type", cost.dtype, at)
        if cost.elements < 0 or cost.bytes < 0:
            self._problems.add("an instruction works on a negative amount", at)
        if cost.moves not in MOVES:
            help = suggestion(cost.moves, MOVES[1:])
            self._problems.add(
                f"a transfer moves load, store or copy, not {shown(cost.moves)}", at, help=help
            )
