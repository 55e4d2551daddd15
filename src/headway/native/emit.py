"""Emit a module as C: a function for each engine, and one for each instruction's accesses.

In     a verified module, and inputs that fit it
Out    C that goes behind `runtime.c`, with a `Program` to be run
Cost   linear

    L1:  sub   r3, r1, 1
         exec  mm(i r2), wait s0 >= r3, post s1

    L1:
      r[3] = word(r[1] - INT64_C(1));
      wait_for(engine, 0, r[3]);
      give(&counters[1], x4, 1, (int32_t[]){r[2]}, 1);
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from headway.errors import Diagnostic, UnsupportedByTarget
from headway.ir.expr import Inputs
from headway.ir.program import Access, ControlRead, Instr
from headway.ir.walk import control_reads, deep_nests, instructions
from headway.isa.instructions import (
    BRANCHES,
    FUNCTIONS,
    WORD,
    Instruction,
    Op,
    Operand,
    Reg,
    WaitFor,
)
from headway.isa.memory import Addresses
from headway.isa.module import Module, Stream
from headway.isa.values import loops_around
from headway.native.expressions import combined, element, expression, input_name, number

FEW = 8
"""Cells that are written out one by one."""


class Emitted(NamedTuple):
    """The C of a program, and the name of its `Program`."""

    text: str
    name: str


def emit(module: Module, inputs: Inputs, prefix: str = "") -> Emitted:
    """Return the C of a module; names begin with `prefix`.

    Raise UnsupportedByTarget if the loops around an instruction are not those that it has in the
    sequential program, since its addresses are known by these.
    """
    writer = _Writer(module, inputs, prefix)
    with deep_nests():
        return Emitted("\n".join(writer.lines()) + "\n", f"{prefix}program")


class _Writer:
    def __init__(self, module: Module, inputs: Inputs, prefix: str) -> None:
        self._module = module
        self._program = module.program
        self._inputs = inputs
        self._prefix = prefix
        self._addresses = Addresses(module.program, inputs)
        body = module.program.body
        self._nodes: dict[str, Instr | ControlRead] = {
            node.name: node for node in (*instructions(body), *control_reads(body))
        }
        self._number = {name: place for place, name in enumerate(self._nodes)}
        self._loops = loops_around(module.program)
        queues = (queue.name for queue in self._program.queues)
        self._counters = {
            name: n for n, name in enumerate(dict.fromkeys((*self._program.hosts, *queues)))
        }

    def lines(self) -> Iterator[str]:
        yield f"/* {self._program.name}, {self._module.strategy} on {self._module.target} */"
        yield from self._input_lines()
        for name in self._nodes:
            yield from self._accesses(name)
        for index, stream in enumerate(self._module.streams):
            yield from self._stream(index, stream)
        yield from self._prepare()

    def _input_lines(self) -> Iterator[str]:
        for decl in self._program.inputs:
            value = self._inputs[decl.name]
            name = input_name(self._prefix, decl.name)
            if isinstance(value, int):
                yield f"static const int64_t {name} = {number(value)};"
            else:  # one more, as no list of C is empty
                numbers = ", ".join(map(number, [*value, 0]))
                yield f"static const int64_t {name}[] = {{{numbers}}};"

    def _accesses(self, name: str) -> Iterator[str]:
        """Yield the function that does what an instance does to memory."""
        node, place = self._nodes[name], self._number[name]
        writes = node.writes if isinstance(node, Instr) else ()
        yield f"static void {self._prefix}x{place}(const int32_t *i) {{ /* {name} */"
        yield "  (void)i;"
        yield f"  uint64_t state = begun({place});"
        for depth in range(len(self._loops[name])):
            yield f"  state = mixed(state, (uint64_t)(int64_t)i[{depth}]);"
        for access in node.reads:
            yield from self._each(access, name, "state = mixed(state, cells[{}]);")
        yield f"  remember({place}, state);"
        if writes:
            yield "  uint64_t written = 0;"
        for access in writes:
            yield from self._each(access, name, "cells[{}] = mixed(state, written++);")
        yield "}"

    def _each(self, access: Access, name: str, statement: str) -> Iterator[str]:
        """Yield a statement for each cell of an access."""
        place = self._addresses.places[access.buffer]
        loops = self._loops[name]
        slot = expression(access.slot, lambda loop: f"i[{loops.index(loop)}]", self._prefix)
        first = f"{place.first} + {slot} * {place.atoms}"
        atoms = self._addresses.atoms(access)
        if len(atoms) <= FEW:
            yield from (f"  {statement.format(f'{first} + {atom}')}" for atom in atoms)
        elif list(atoms) == list(range(atoms[0], atoms[0] + len(atoms))):
            yield f"  for (long at = {atoms[0]}; at < {atoms[0] + len(atoms)}; at++)"
            yield f"    {statement.format(f'{first} + at')}"
        else:
            yield "  {"
            yield f"    static const int atoms[] = {{{', '.join(map(str, atoms))}}};"
            yield f"    for (long at = 0; at < {len(atoms)}; at++)"
            yield f"      {statement.format(f'{first} + atoms[at]')}"
            yield "  }"

    def _stream(self, index: int, stream: Stream) -> Iterator[str]:
        targets = {i.target for i in stream.instructions if i.op in BRANCHES}
        yield f"static void *{self._prefix}engine{index}(void *argument) {{ /* {stream.engine} */"
        yield "  Engine *engine = argument;"
        yield f"  int32_t r[{max(1, stream.registers)}] = {{0}};"
        yield "  (void)r;"
        for at, instruction in enumerate(stream.instructions):
            if at in targets:
                yield f"L{at}:"
            yield from (f"  {line}" for line in self._instruction(instruction, stream))
        yield "}"

    def _instruction(self, i: Instruction, stream: Stream) -> Iterator[str]:
        if i.wait:
            yield f"wait_for(engine, {i.wait.semaphore}, {_threshold(i.wait)});"
        match i.op:
            case Op.HALT:
                yield "end(engine);"
                yield "return NULL;"
            case Op.MOVE | Op.ALU | Op.GET | Op.PUT | Op.LOAD:
                yield self._compute(i)
            case Op.ENTER | Op.NEXT | Op.BRANCH | Op.LEAVE | Op.JUMP:
                yield from _branch(i)
            case Op.EXEC | Op.TRIGGER | Op.READ:
                yield self._issue(i)
            case Op.WAIT:
                pass
            case _:
                yield self._shared(i)

    def _compute(self, i: Instruction) -> str:
        a, b = _value(i.a), _value(i.b)
        match i.op:
            case Op.MOVE:
                return f"r[{i.dest}] = (int32_t){a};"
            case Op.ALU:
                return f"r[{i.dest}] = word({combined(FUNCTIONS[i.function], a, b)});"
            case Op.GET:
                return f"r[{i.dest}] = r[{i.row} + row({a}, {i.size})];"
            case Op.PUT:
                return f"r[{i.row} + row({a}, {i.size})] = (int32_t){b};"
            case _:
                found = element(self._prefix, i.name, a) if i.size else ""
                return f"r[{i.dest}] = word({found or input_name(self._prefix, i.name)});"

    def _issue(self, i: Instruction) -> str:
        loops = tuple(around.loop for around in i.iterations)
        if loops != self._loops[i.name]:
            raise UnsupportedByTarget(_other_loops(i.name, loops, self._loops[i.name]))
        depth = len(loops)
        values = ", ".join(f"r[{around.register}]" for around in i.iterations)
        iterations = f"(int32_t[]){{{values}}}" if depth else "NULL"
        run = f"{self._prefix}x{self._number[i.name]}"
        post = "NOTHING" if i.post is None else str(i.post)
        node = self._nodes[i.name]
        if isinstance(node, Instr):
            counter = f"&counters[{self._counters[node.counter]}]"
            given = f"give({counter}, {run}, {depth}, {iterations}, {post});"
            is_serial = i.op is Op.EXEC and node.counter in self._program.serial
            is_held = is_serial or node.fused  # the hardware runs a region in order
            return f"drain({counter}); {given}" if is_held else given
        done = "" if i.post is None else f" signal_one({post}, 0);"
        return f"{run}({iterations});{done}"

    def _shared(self, i: Instruction) -> str:
        counter = f"&counters[{self._counters.get(i.name)}]"
        match i.op:
            case Op.SET:
                if i.name not in self._counters:  # control reads have completed by now
                    return f"signal_one({i.row}, 0);"
                return f"set({counter}, {i.row});"
            case Op.TAKE:
                return f"take(engine, {i.row});"
            case Op.DRAIN:
                return f"drain({counter});"
            case Op.CLEAR:
                return f"clear({i.row}, {i.size});"
            case _:
                return f"meet(engine, {i.row}, {self._module.meets.index(i.row)});"

    def _prepare(self) -> Iterator[str]:
        """Yield what sets up counters, semaphores and engines, and the `Program`."""
        module, prefix = self._module, self._prefix
        every = (i for stream in module.streams for i in stream.instructions)
        setting = {i.name for i in every if i.op is Op.SET}
        used = {i.counter for i in instructions(self._program.body)}
        yield f"static void {prefix}prepare(void) {{"
        for name, place in self._counters.items():
            lanes = 0 if name not in used else 1 if name in self._program.serial else "LANES"
            yield f'  counters[{place}].name = "{name}", counters[{place}].lanes = {lanes};'
            yield f"  counters[{place}].has_tokens = {int(name in setting)};"
        for semaphore in module.semaphores:
            place = f"semaphores[{semaphore.number}]"
            yield f"  {place}.width = {semaphore.width};"
            yield f"  {place}.is_signed = {int(semaphore.is_signed)};"
            yield f"  {place}.is_precise = {int(semaphore.width >= WORD)} && PRECISE;"
            if semaphore.counter in self._counters:
                yield f"  {place}.counter = &counters[{self._counters[semaphore.counter]}];"
        for tokens in module.tokens:
            yield f"  semaphores[{tokens.number}].width = 63;"
            yield f"  semaphores[{tokens.number}].holds = {tokens.flag.holds};"
            yield f"  semaphores[{tokens.number}].is_precise = PRECISE;"
        yield from (f"  semaphores[{place}].width = 63;" for place in module.meets)
        for index, stream in enumerate(module.streams):
            yield f'  engines[{index}].name = "{stream.engine}";'
        yield "}"
        streams = ", ".join(f"{prefix}engine{index}" for index in range(len(module.streams)))
        yield f"static void *(*const {prefix}streams[])(void *) = {{{streams or 'NULL'}}};"
        numbers = [s.number for s in module.semaphores] + [t.number for t in module.tokens]
        most = max((*numbers, *module.meets), default=-1) + 1
        sizes = f"{self._addresses.cells}, {len(self._nodes)}, {most}, {len(self._counters)}"
        yield f"static const Program {prefix}program = {{"
        yield f'  "{self._program.name}", {sizes}, {len(module.streams)},'
        yield f"  {prefix}prepare, {prefix}streams,"
        yield "};"


def _value(operand: Operand) -> str:
    return f"(int64_t)r[{operand.number}]" if isinstance(operand, Reg) else number(operand)


def _threshold(wait: WaitFor) -> str:
    if wait.register is None:
        return number(wait.offset)
    return f"(int64_t)r[{wait.register.number}] + {number(wait.offset)}"


def _branch(i: Instruction) -> Iterator[str]:
    a, b = _value(i.a), _value(i.b)
    match i.op:
        case Op.ENTER:
            yield f"r[{i.dest}] = 0;"
            yield f'if ({b} < 0) trap("a loop would run less than 0 times");'
            yield f"if ({b} == 0) goto L{i.target};"
        case Op.NEXT:
            yield f"r[{i.dest}] = word((int64_t)r[{i.dest}] + 1);"
            yield f"if (r[{i.dest}] < {b}) goto L{i.target};"
        case Op.JUMP:
            yield f"goto L{i.target};"
        case _:
            yield f"if {combined(FUNCTIONS[i.function], a, b)} goto L{i.target};"


def _other_loops(name: str, loops: tuple[str, ...], own: tuple[str, ...]) -> Diagnostic:
    return Diagnostic(
        f"{name!r} runs inside the loops ({', '.join(loops)}), and in the sequential program inside"
        f" ({', '.join(own)})",
        rule="the addresses of an instance depend on the iterations of the sequential program",
        help="a target with 32-bit semaphores and register thresholds needs no other loops",
    )
