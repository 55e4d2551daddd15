"""Check a module that was read: every operand names something that is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headway.errors import Diagnostic, InvalidProgram
from headway.ir.program import control_counter
from headway.ir.walk import control_reads, instructions
from headway.isa.barriers import check_barriers
from headway.isa.instructions import BRANCHES, COMPARISONS, FUNCTIONS, Instruction, Op, Reg
from headway.isa.module import Module, Stream, counters
from headway.sync.verify import verify_sync

READERS = frozenset((Op.GET, Op.PUT))
DEST = frozenset((Op.MOVE, Op.ALU, Op.GET, Op.LOAD, Op.ENTER, Op.NEXT))
MOST_PROBLEMS = 20


def verify(module: Module) -> None:
    """Raise InvalidProgram with what is wrong with a module, at most 20 problems."""
    problems = [*_semaphores(module)]
    facts = _Facts(module)
    for stream in module.streams:
        if len(problems) < MOST_PROBLEMS:
            problems += _stream(stream, facts)
    if problems:
        raise InvalidProgram(*(Diagnostic(text) for text in problems[:MOST_PROBLEMS]))
    verify_sync(module.with_issues())
    check_barriers(module)


def _semaphores(module: Module) -> Iterator[str]:
    numbers = [s.number for s in module.semaphores] + [t.number for t in module.tokens]
    numbers += module.meets
    for number in sorted({n for n in numbers if numbers.count(n) > 1}):
        yield f"semaphore {number} has two uses"
    if len(module.meets) not in (0, 2):
        yield f"{len(module.meets)} semaphores for barriers: there are 2 of them, or none"


class _Facts:
    """What instructions may name."""

    def __init__(self, module: Module) -> None:
        program = module.program
        self.instrs = {instr.name: instr for instr in instructions(program.body)}
        self.controls = {read.name for read in control_reads(program.body)}
        self.lists = {decl.name: decl.is_list for decl in program.inputs}
        self.counters = counters(program)
        self.number = {s.counter: s.number for s in module.semaphores}
        self.counted = frozenset(self.number.values())
        self.tokens = {tokens.number: tokens.flag for tokens in module.tokens}
        self.meets = module.meets


def _stream(stream: Stream, facts: _Facts) -> Iterator[str]:
    length = len(stream.instructions)
    if not length or stream.instructions[-1].op not in (Op.HALT, Op.JUMP):
        yield f"{stream.engine}: the stream runs past its end"
    for at, instruction in enumerate(stream.instructions):
        place = f"{stream.engine}: instruction {at}"
        for problem in _instruction(instruction, stream, facts):
            yield f"{place}: {problem}"
        if instruction.op in BRANCHES and not instruction.target < length:
            yield f"{place}: there is no instruction {instruction.target}"


def _instruction(instruction: Instruction, stream: Stream, facts: _Facts) -> Iterator[str]:
    op = instruction.op
    for register in _registers(instruction):
        if not register < stream.registers:
            yield f"there is no register {register}: {stream.engine} has {stream.registers}"
    if op is Op.ALU and instruction.function not in FUNCTIONS:
        yield f"there is no function {instruction.function!r}"
    if op in (Op.BRANCH, Op.LEAVE) and instruction.function not in COMPARISONS:
        yield f"a branch cannot compare with {instruction.function!r}"
    if op in READERS and not instruction.size:
        yield "a row of registers has at least one"
    if op is Op.LOAD and facts.lists.get(instruction.name) is not bool(instruction.size):
        yield f"there is no input {instruction.name!r} of that kind"
    if op is Op.WAIT and instruction.wait is None:
        yield "it waits for nothing"
    if instruction.wait and instruction.wait.semaphore not in facts.counted:
        yield f"semaphore {instruction.wait.semaphore} holds no counter"
    yield from _issue(instruction, stream, facts)
    yield from _semaphore(instruction, stream, facts)


def _registers(instruction: Instruction) -> Iterator[int]:
    if instruction.op in DEST:
        yield instruction.dest
    if instruction.op in READERS and instruction.size:
        yield instruction.row + instruction.size - 1
    yield from (x.number for x in (instruction.a, instruction.b) if isinstance(x, Reg))
    yield from (around.register for around in instruction.iterations)
    if instruction.wait and instruction.wait.register:
        yield instruction.wait.register.number


def _issue(instruction: Instruction, stream: Stream, facts: _Facts) -> Iterable[str]:
    """Yield what is wrong with an instance: its name, its engine, the semaphore it posts."""
    name = instruction.name
    match instruction.op:
        case Op.EXEC | Op.TRIGGER:
            instr = facts.instrs.get(name)
            if instr is None or instr.engine != stream.engine:
                yield f"{stream.engine} has no instruction {name!r}"
                return
            if bool(instr.queue) != (instruction.op is Op.TRIGGER):
                yield f"{name!r} is not {'a transfer' if instr.queue is None else 'computed'}"
            counter = None if instr.silent else instr.counter
        case Op.READ:
            if name not in facts.controls:
                yield f"there is no control read {name!r}"
            counter = control_counter(stream.engine)
        case _:
            return
    if instruction.post != (facts.number.get(counter) if counter else None):
        yield f"{name!r} posts semaphore {instruction.post}, which is not that of its counter"


def _semaphore(instruction: Instruction, stream: Stream, facts: _Facts) -> Iterable[str]:
    row, op = instruction.row, instruction.op
    flag = facts.tokens.get(row)
    if op in (Op.SET, Op.TAKE) and flag is None:
        yield f"semaphore {row} holds no tokens"
    elif op is Op.SET and flag and instruction.name != flag.counter:
        yield f"the tokens of {flag.name!r} come from {flag.counter!r}"
    if op in (Op.SET, Op.DRAIN) and facts.counters.get(instruction.name) != stream.engine:
        yield f"{stream.engine} is not the host of {instruction.name!r}"
    if op is Op.TAKE and flag and flag.engine != stream.engine:
        yield f"the tokens of {flag.name!r} go to {flag.engine!r}"
    if op is Op.MEET and row not in facts.meets:
        yield f"semaphore {row} is not for barriers"
    if op is Op.CLEAR and not set(range(row, row + instruction.size)) <= facts.counted:
        yield "it resets a semaphore that holds no counter"
