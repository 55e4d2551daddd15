"""The instruction set, on one screen: Neuron-like, and our own. See docs/isa.md.

Every engine runs one flat stream. It has 32-bit registers, branches, and semaphores that it waits
for; an instruction carries at most one wait, and the number of the semaphore that its completion
adds one to.

    enter   r1, r0, L2            # r1 := 0; leave if it is not below r0
    L1:
    add     r2, r1, 1
    exec    add(i r1), wait s0 >= r2, post s1
    next    r1, r0, L1            # r1 := r1 + 1; again if it is below r0
    L2:
    halt
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import NamedTuple

from headway.ir.expr import OPERATORS

WORD = 32
"""Bits of a register and of an immediate, in two's complement. A result that needs more traps."""

LEAST, MOST = -(2 ** (WORD - 1)), 2 ** (WORD - 1) - 1


class Op(IntEnum):
    """What an instruction does; the numbers are those of the encoding."""

    HALT = 0  # the end of the stream
    MOVE = 1  # dest := a
    ALU = 2  # dest := a function b
    GET = 3  # dest := element a of the row of `size` registers at `row`
    PUT = 4  # element a of the row of `size` registers at `row` := b
    LOAD = 5  # dest := the input `name`, or its element a if `size` is 1
    ENTER = 6  # dest := 0; to `target` unless dest < b; b < 0 traps
    NEXT = 7  # dest := dest + 1; to `target` if dest < b
    BRANCH = 8  # to `target` if a function b
    LEAVE = 9  # the same, out of a loop
    JUMP = 10  # to `target`
    WAIT = 11  # stand still until its wait holds
    EXEC = 12  # issue the compute instruction `name`
    TRIGGER = 13  # issue the transfer `name`
    READ = 14  # do the control read `name`, standing still
    SET = 15  # add a token to the semaphore `row` once what counter `name` was given has completed
    TAKE = 16  # stand still until semaphore `row` has a token, and take it
    DRAIN = 17  # stand still until counter `name` has completed all that it was given
    MEET = 18  # stand still until all engines have come here as often: semaphore `row`
    CLEAR = 19  # semaphores `row` to `row + size - 1` := 0


FUNCTIONS: Mapping[str, str] = {
    **dict(zip(("or", "and", "eq", "ne", "lt", "le", "gt", "ge"), OPERATORS[:8], strict=True)),
    **dict(zip(("add", "sub", "mul", "div", "mod", "min", "max"), OPERATORS[8:], strict=True)),
}
"""Mnemonics of ALU functions, and the operators of expressions that they compute."""

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
"""What a branch can compare with."""


@dataclass(frozen=True, slots=True)
class Reg:
    """A register as an operand."""

    number: int

    def __str__(self) -> str:
        return f"r{self.number}"


Operand = int | Reg
"""An immediate or a register."""


@dataclass(frozen=True, slots=True)
class WaitFor:
    """Stand still until semaphore `semaphore` is at least `register + offset`, or `offset`."""

    semaphore: int
    register: Reg | None
    offset: int

    def __str__(self) -> str:
        base = "" if self.register is None else str(self.register)
        if not base or self.offset < 0:
            offset = str(self.offset) if not base else f" - {-self.offset}"
        else:
            offset = f" + {self.offset}" if self.offset else ""
        return f"s{self.semaphore} >= {base}{offset}"


class Around(NamedTuple):
    """A loop around an instruction, with the register of its iteration."""

    loop: str
    register: int

    def __str__(self) -> str:
        return f"{self.loop} r{self.register}"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; what it does not use has its default.

    `is_folded`: the timing model counts it with the instruction that it serves, because it computes
    an index, a trip count or a condition, or is a wait that the next instruction carries.
    `iterations` are the loops around, outermost first: the addresses of an instance depend on them.
    `post` is the semaphore that its completion adds one to.
    """

    op: Op
    dest: int = 0
    a: Operand = 0
    b: Operand = 0
    row: int = 0
    size: int = 0
    function: str = ""
    name: str = ""
    iterations: tuple[Around, ...] = ()
    target: int = 0
    wait: WaitFor | None = None
    post: int | None = None
    is_folded: bool = False


BRANCHES = frozenset((Op.ENTER, Op.NEXT, Op.BRANCH, Op.LEAVE, Op.JUMP))
"""What names a target."""

ISSUES = frozenset((Op.EXEC, Op.TRIGGER, Op.READ))
"""What issues an instance, may carry a wait, and posts a semaphore."""

FIELDS = {
    Op.HALT: (),
    Op.MOVE: ("dest", "a"),
    Op.ALU: ("dest", "a", "b", "function"),
    Op.GET: ("dest", "a", "row", "size"),
    Op.PUT: ("a", "b", "row", "size"),
    Op.LOAD: ("dest", "a", "size", "name"),
    Op.ENTER: ("dest", "b", "target"),
    Op.NEXT: ("dest", "b", "target"),
    Op.BRANCH: ("a", "b", "function", "target"),
    Op.LEAVE: ("a", "b", "function", "target"),
    Op.JUMP: ("target",),
    Op.WAIT: ("wait",),
    Op.EXEC: ("name", "iterations", "wait", "post"),
    Op.TRIGGER: ("name", "iterations", "wait", "post"),
    Op.READ: ("name", "iterations", "wait", "post"),
    Op.SET: ("row", "name"),
    Op.TAKE: ("row",),
    Op.DRAIN: ("name",),
    Op.MEET: ("row",),
    Op.CLEAR: ("row", "size"),
}
"""What each instruction uses."""

FOLDABLE = frozenset((Op.MOVE, Op.ALU, Op.GET, Op.PUT, Op.LOAD, Op.BRANCH, Op.JUMP, Op.WAIT))
"""What can serve another instruction."""


def unused(instruction: Instruction) -> str | None:
    """Return a field that has a value although the instruction does not use it, if there is one."""
    used = {"op", *FIELDS[instruction.op]}
    if instruction.op in FOLDABLE:
        used.add("is_folded")
    for place in fields(Instruction):
        if place.name not in used and getattr(instruction, place.name) != place.default:
            return place.name
    if instruction.op is Op.LOAD and not instruction.size and instruction.a != 0:
        return "a"
    return None
