"""Run one stream: what it does to registers and branches, and what it asks of everybody else.

Both machines, with time and without, and the judge see a stream through its effects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple

from headway.errors import Diagnostic, InvalidInput, Location, OverLimit
from headway.ir.expr import Inputs
from headway.isa.instructions import LEAST, MOST, Instruction, Op, Operand, Reg, WaitFor
from headway.isa.module import Module, Stream

LIMIT = 50_000_000
"""Instructions that one engine may execute."""


class Spend(NamedTuple):
    """An instruction that only the engine itself notices, by the kind of its cost."""

    kind: Literal["register", "branch", "loop", "input"]
    at: Location


class Wait(NamedTuple):
    """Stand still until a semaphore is at least that; `is_carried` by the next instance."""

    semaphore: int
    threshold: int
    is_carried: bool
    at: Location


class Issue(NamedTuple):
    """Issue an instance of an instruction: a transfer, a compute instruction or a control read."""

    op: Op
    name: str
    loops: tuple[str, ...]
    iteration: tuple[int, ...]
    post: int | None
    at: Location


class Set(NamedTuple):
    """Add a token to a semaphore when a counter has completed what it was given so far."""

    semaphore: int
    counter: str
    at: Location


class Take(NamedTuple):
    """Take a token of a semaphore."""

    semaphore: int
    at: Location


class Drain(NamedTuple):
    """Stand still until a counter has completed what it was given."""

    counter: str
    at: Location


class Meet(NamedTuple):
    """Stand still until all engines have come here as often."""

    semaphore: int
    at: Location


class Clear(NamedTuple):
    """Set semaphores to 0."""

    first: int
    size: int
    at: Location


Effect = Spend | Wait | Issue | Set | Take | Drain | Meet | Clear

_COMPUTE: Mapping[str, Callable[[int, int], int]] = {
    "or": lambda a, b: int(bool(a) or bool(b)),
    "and": lambda a, b: int(bool(a) and bool(b)),
    "eq": lambda a, b: int(a == b),
    "ne": lambda a, b: int(a != b),
    "lt": lambda a, b: int(a < b),
    "le": lambda a, b: int(a <= b),
    "gt": lambda a, b: int(a > b),
    "ge": lambda a, b: int(a >= b),
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "min": lambda a, b: min(a, b),
    "max": lambda a, b: max(a, b),
}


def effects(
    module: Module,
    stream: Stream,
    inputs: Inputs,
    file: str = "",
    limit: int = LIMIT,
    pays_all: bool = False,
) -> Iterator[Effect]:
    """Yield the effects of a stream, in order. Places are `file:engine`, instruction, 1.

    Folded instructions spend nothing unless `pays_all`. Raise InvalidInput on an input that
    does not fit, an index out of range, a division by zero, a result of more than 32 bits or a
    negative trip count, and OverLimit after `limit` instructions.
    """
    place = f"{file or module.program.name}:{stream.engine}"
    return _Run(stream, inputs, place, limit, pays_all).effects()


class _Run:
    def __init__(
        self, stream: Stream, inputs: Inputs, file: str, limit: int, pays_all: bool
    ) -> None:
        self._instructions = stream.instructions
        self._registers = [0] * stream.registers
        self._inputs = inputs
        self._file = file
        self._limit = limit
        self._pays_all = pays_all
        self._pc = 0

    def effects(self) -> Iterator[Effect]:
        left = self._limit
        while (instruction := self._instructions[self._pc]).op is not Op.HALT:
            left -= 1
            if left < 0:
                raise self._over_limit()
            if instruction.wait:
                is_carried = instruction.op is not Op.WAIT or self._is_free(instruction)
                yield self._wait(instruction.wait, is_carried)
            following = self._pc + 1
            match instruction.op:
                case Op.MOVE | Op.ALU | Op.GET | Op.PUT | Op.LOAD:
                    self._compute(instruction)
                    if not self._is_free(instruction):
                        yield Spend(self._register_cost(instruction.op), self._place())
                case Op.ENTER | Op.NEXT | Op.BRANCH | Op.LEAVE | Op.JUMP:
                    taken = self._is_taken(instruction)
                    if not self._is_free(instruction):
                        yield Spend(_branch_cost(instruction.op, taken), self._place())
                    following = instruction.target if taken else following
                case Op.WAIT:
                    pass
                case _:
                    yield self._shared(instruction)
            self._pc = following

    def _is_free(self, instruction: Instruction) -> bool:
        return instruction.is_folded and not self._pays_all

    def _register_cost(self, op: Op) -> Literal["register", "input"]:
        """The timing model takes inputs for registers."""
        return "input" if op is Op.LOAD and self._pays_all else "register"

    def _place(self) -> Location:
        return Location(self._file, self._pc, 1)

    def _shared(self, instruction: Instruction) -> Effect:
        """Return the effect of an instruction that others see."""
        row, name, at = instruction.row, instruction.name, self._place()
        match instruction.op:
            case Op.SET:
                return Set(row, name, at)
            case Op.TAKE:
                return Take(row, at)
            case Op.DRAIN:
                return Drain(name, at)
            case Op.MEET:
                return Meet(row, at)
            case Op.CLEAR:
                return Clear(row, instruction.size, at)
            case _:
                iteration = tuple(self._registers[x.register] for x in instruction.iterations)
                loops = tuple(x.loop for x in instruction.iterations)
                return Issue(instruction.op, name, loops, iteration, instruction.post, at)

    def _wait(self, wait: WaitFor, is_carried: bool) -> Wait:
        base = 0 if wait.register is None else self._registers[wait.register.number]
        return Wait(wait.semaphore, base + wait.offset, is_carried, self._place())

    def _value(self, operand: Operand) -> int:
        return self._registers[operand.number] if isinstance(operand, Reg) else operand

    def _compute(self, instruction: Instruction) -> None:
        a, b = self._value(instruction.a), self._value(instruction.b)
        match instruction.op:
            case Op.MOVE:
                self._registers[instruction.dest] = a
            case Op.ALU:
                self._registers[instruction.dest] = self._alu(instruction.function, a, b)
            case Op.GET:
                place = instruction.row + self._index(a, instruction.size)
                self._registers[instruction.dest] = self._registers[place]
            case Op.PUT:
                place = instruction.row + self._index(a, instruction.size)
                self._registers[place] = b
            case _:
                self._registers[instruction.dest] = self._load(instruction, a)

    def _alu(self, function: str, a: int, b: int) -> int:
        if function in ("div", "mod") and b == 0:
            raise InvalidInput(Diagnostic("division by zero", self._place()))
        return self._word(_COMPUTE[function](a, b), "a result")

    def _word(self, value: int, what: str) -> int:
        if LEAST <= value <= MOST:
            return value
        raise InvalidInput(
            Diagnostic(
                f"{what} is {value}",
                self._place(),
                rule="a register has 32 bits",
                help="choose smaller run-time inputs",
            )
        )

    def _index(self, index: int, size: int) -> int:
        if 0 <= index < size:
            return index
        message = f"register {index} of a row of {size} was asked for"
        raise InvalidInput(Diagnostic(message, self._place()))

    def _load(self, instruction: Instruction, index: int) -> int:
        name = instruction.name
        value = self._inputs.get(name)
        if value is None or isinstance(value, int) == bool(instruction.size):
            wanted = "a list of numbers" if instruction.size else "a number"
            message = f"run-time input {name!r} is {value!r}; the program needs {wanted}"
            raise InvalidInput(Diagnostic(message, self._place()))
        if isinstance(value, int):
            return self._word(value, f"run-time input {name!r}")
        if 0 <= index < len(value):
            return self._word(value[index], f"run-time input {name!r}[{index}]")
        message = f"{name!r} has {len(value)} elements and element {index} was asked for"
        help = "make it longer, or index it modulo its length"
        raise InvalidInput(Diagnostic(message, self._place(), help=help))

    def _is_taken(self, instruction: Instruction) -> bool:
        """Execute a branch; tell whether it goes to its target."""
        a, b = self._value(instruction.a), self._value(instruction.b)
        match instruction.op:
            case Op.ENTER:
                self._registers[instruction.dest] = 0
                if b < 0:
                    rule = "a trip count is 0 or more"
                    raise InvalidInput(
                        Diagnostic(f"a loop would run {b} times", self._place(), rule=rule)
                    )
                return b <= 0
            case Op.NEXT:
                count = self._word(self._registers[instruction.dest] + 1, "an iteration")
                self._registers[instruction.dest] = count
                return count < b
            case Op.JUMP:
                return True
            case _:
                return bool(_COMPUTE[instruction.function](a, b))

    def _over_limit(self) -> OverLimit:
        return OverLimit(
            Diagnostic(
                f"still running after {self._limit:,} instructions",
                self._place(),
                rule="an engine program ends",
                help="check the condition or the trip count of the loop",
            )
        )


def _branch_cost(op: Op, taken: bool) -> Literal["branch", "loop"]:
    """What goes on with an iteration costs what a loop does; all else is a branch."""
    goes_on = {Op.ENTER: not taken, Op.LEAVE: not taken, Op.NEXT: taken}
    return "loop" if goes_on.get(op, False) else "branch"
