"""Write a module as assembly text; `assemble` gives the same module back."""

from __future__ import annotations

from collections.abc import Iterator

from headway.ir import to_text
from headway.isa.instructions import BRANCHES, Instruction, Op
from headway.isa.module import Module, Stream

WIDTH = 8
"""Columns of a mnemonic."""


def disassemble(module: Module) -> str:
    """Return a module as text: semaphores, streams, and at the end the sequential program."""
    return "\n".join(_lines(module)) + "\n" + to_text(module.program)


def _lines(module: Module) -> Iterator[str]:
    yield f"module @{module.program.name} strategy {module.strategy} target {module.target}"
    for semaphore in module.semaphores:
        sign = " signed" if semaphore.is_signed else ""
        counts = f"counts {semaphore.counter} width {semaphore.width}{sign}"
        yield f"semaphore {semaphore.number} {counts}"
    for tokens in module.tokens:
        flag = tokens.flag
        holds = f" holds {flag.holds}" if flag.holds else ""
        path = f"from {flag.counter} to {flag.engine}"
        yield f"semaphore {tokens.number} flag {flag.name} {path}{holds}"
    yield from (f"semaphore {number} meets" for number in module.meets)
    for stream in module.streams:
        yield f"engine {stream.engine} registers {stream.registers}"
        yield from _stream(stream)


def _stream(stream: Stream) -> Iterator[str]:
    targets = sorted({i.target for i in stream.instructions if i.op in BRANCHES})
    labels = {target: f"L{number}" for number, target in enumerate(targets, 1)}
    for at, instruction in enumerate(stream.instructions):
        if at in labels:
            yield f"{labels[at]}:"
        yield f"  {instruction_text(instruction, labels)}"


def instruction_text(instruction: Instruction, labels: dict[int, str] | None = None) -> str:
    """Return one instruction as text; without labels a target is its number."""
    target = (labels or {}).get(instruction.target, str(instruction.target))
    operands = ", ".join(_operands(instruction, target))
    mnemonic = _mnemonic(instruction) + (".f" if instruction.is_folded else "")
    return f"{mnemonic:{WIDTH}} {operands}".rstrip()


def _mnemonic(instruction: Instruction) -> str:
    match instruction.op:
        case Op.ALU:
            return instruction.function
        case Op.BRANCH:
            return f"if.{instruction.function}"
        case Op.LEAVE:
            return f"leave.{instruction.function}"
        case Op.MOVE:
            return "mov"
        case op:
            return op.name.lower()


def _operands(i: Instruction, target: str) -> tuple[str, ...]:
    dest, a, b = f"r{i.dest}", str(i.a), str(i.b)
    match i.op:
        case Op.HALT:
            return ()
        case Op.MOVE:
            return dest, a
        case Op.ALU:
            return dest, a, b
        case Op.GET:
            return dest, f"r{i.row}[{a}]", str(i.size)
        case Op.PUT:
            return f"r{i.row}[{a}]", b, str(i.size)
        case Op.LOAD:
            return dest, f"{i.name}[{a}]" if i.size else i.name
        case Op.ENTER | Op.NEXT:
            return dest, b, target
        case Op.BRANCH | Op.LEAVE:
            return a, b, target
        case Op.JUMP:
            return (target,)
        case Op.WAIT:
            return (str(i.wait),)
        case Op.SET:
            return f"s{i.row}", i.name
        case Op.TAKE | Op.MEET:
            return (f"s{i.row}",)
        case Op.DRAIN:
            return (i.name,)
        case Op.CLEAR:
            return f"s{i.row}", str(i.size)
        case Op.EXEC | Op.TRIGGER | Op.READ:
            return _issued(i)


def _issued(i: Instruction) -> tuple[str, ...]:
    around = ", ".join(map(str, i.iterations))
    wait = (f"wait {i.wait}",) if i.wait else ()
    post = (f"post s{i.post}",) if i.post is not None else ()
    return f"{i.name}({around})", *wait, *post
