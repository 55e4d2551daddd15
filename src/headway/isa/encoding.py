"""Instructions as 32 bytes each, little-endian; names are numbers of the symbol table.

    byte   0       1      2         3     4-5    6-7   8-11  12-15
           opcode  flags  function  zero  dest   size  a     b
    byte   16-19   20-21           22-23          24-27         28-29  30-31
           index   wait semaphore  wait register  wait offset   post   row

`index` is a branch target, a symbol, or an entry of the table of descriptors. Flags, from the
lowest bit: folded, a is a register, b is a register, waits, waits for a register, posts. What an
instruction does not use is 0, so that there is one encoding of each.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from headway.errors import InvalidInput
from headway.isa.instructions import (
    BRANCHES,
    FUNCTIONS,
    ISSUES,
    Around,
    Instruction,
    Op,
    Operand,
    Reg,
    WaitFor,
    unused,
)

RECORD = struct.Struct("<BBBBHHiiIHHiHH")
SIZE = RECORD.size
FOLDED, A_REGISTER, B_REGISTER, WAITS, WAITS_REGISTER, POSTS = (1 << bit for bit in range(6))
NAMES: tuple[str, ...] = tuple(FUNCTIONS)

T = TypeVar("T")


class Descriptor(NamedTuple):
    """What is issued: its name, and the registers of the loops around."""

    name: str
    iterations: tuple[Around, ...]


class Tables:
    """Numbers of the names and descriptors that instructions use, in the order of first use."""

    def __init__(self) -> None:
        self.symbols: dict[str, int] = {}
        self.descriptors: dict[Descriptor, int] = {}

    def symbol(self, name: str) -> int:
        """Return the number of a name."""
        return self.symbols.setdefault(name, len(self.symbols))

    def descriptor(self, instruction: Instruction) -> int:
        """Return the number of what an instruction issues."""
        found = Descriptor(instruction.name, instruction.iterations)
        for name in (found.name, *(around.loop for around in found.iterations)):
            self.symbol(name)
        return self.descriptors.setdefault(found, len(self.descriptors))


def encode(instruction: Instruction, tables: Tables) -> bytes:
    """Return the 32 bytes of an instruction whose fields fit (see `headway.isa.lower`)."""
    return _packed(instruction, _index(instruction, tables))


def _packed(instruction: Instruction, index: int) -> bytes:
    wait = instruction.wait
    flags = (
        (FOLDED if instruction.is_folded else 0)
        | (A_REGISTER if isinstance(instruction.a, Reg) else 0)
        | (B_REGISTER if isinstance(instruction.b, Reg) else 0)
        | (WAITS if wait else 0)
        | (WAITS_REGISTER if wait and wait.register else 0)
        | (POSTS if instruction.post is not None else 0)
    )
    return RECORD.pack(
        instruction.op,
        flags,
        1 + NAMES.index(instruction.function) if instruction.function else 0,
        0,
        instruction.dest,
        instruction.size,
        _number(instruction.a),
        _number(instruction.b),
        index,
        wait.semaphore if wait else 0,
        wait.register.number if wait and wait.register else 0,
        wait.offset if wait else 0,
        instruction.post or 0,
        instruction.row,
    )


def _number(operand: Operand) -> int:
    return operand.number if isinstance(operand, Reg) else operand


def _index(instruction: Instruction, tables: Tables) -> int:
    if instruction.op in BRANCHES:
        return instruction.target
    if instruction.op in ISSUES:
        return tables.descriptor(instruction)
    return 1 + tables.symbol(instruction.name) if instruction.name else 0


def decode(record: bytes, symbols: Sequence[str], descriptors: Sequence[Descriptor]) -> Instruction:
    """Return the instruction of 32 bytes. Raise InvalidInput if there is none of that encoding."""
    fields: tuple[int, ...] = RECORD.unpack(record)
    op, flags, function, zero, dest, size, a, b, index, *rest = fields
    semaphore, register, offset, post, row = rest
    if op >= len(Op) or zero or flags >= 2 * POSTS or function > len(NAMES):
        raise InvalidInput(f"{record[:4].hex()} begins no instruction")
    name, iterations, target = "", (), 0
    if Op(op) in BRANCHES:
        target = index
    elif Op(op) in ISSUES:
        name, iterations = _entry(descriptors, index, "descriptor")
    elif index:
        name = _entry(symbols, index - 1, "symbol")
    found = Instruction(
        Op(op),
        dest,
        _operand(a, bool(flags & A_REGISTER)),
        _operand(b, bool(flags & B_REGISTER)),
        row,
        size,
        NAMES[function - 1] if function else "",
        name,
        iterations,
        target,
        _wait(flags, semaphore, register, offset),
        post if flags & POSTS else None,
        bool(flags & FOLDED),
    )
    uses_index = bool(name) or Op(op) in BRANCHES
    if unused(found) or _packed(found, index if uses_index else 0) != record:
        raise InvalidInput(f"{Op(op).name} has something in a field that it does not use")
    return found


def _entry(table: Sequence[T], number: int, what: str) -> T:
    if number < len(table):
        return table[number]
    raise InvalidInput(f"there is no {what} {number}: the file has {len(table)}")


def _operand(value: int, is_register: bool) -> Operand:
    if not is_register:
        return value
    if value < 0:
        raise InvalidInput(f"there is no register {value}")
    return Reg(value)


def _wait(flags: int, semaphore: int, register: int, offset: int) -> WaitFor | None:
    if not flags & WAITS:
        return None
    return WaitFor(semaphore, Reg(register) if flags & WAITS_REGISTER else None, offset)
