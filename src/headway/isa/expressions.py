"""Registers and expressions of one engine: from an expression to instructions.

Registers are given out like a stack: those of the engine program, inputs that stay in a register,
then the iterations and trip counts of the loops around, then what an expression needs in between.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from headway.errors import Diagnostic, InvalidProgram
from headway.ir.expr import Binary, Expr, Input, Iteration, leaves
from headway.isa.instructions import FUNCTIONS, LEAST, MOST, Instruction, Op, Operand, Reg
from headway.sync.program import Register, RegisterRef

MNEMONICS = {operator: name for name, operator in FUNCTIONS.items()}


def may_trap(expr: Expr) -> bool:
    """Tell whether computing `expr` can fail, so that it is computed only where it is needed."""
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, Binary):
            if node.operator in ("//", "%", "*") and not _is_safe_divisor(node):
                return True
            stack += (node.left, node.right)
    return any(leaf.parts() for leaf in leaves(expr))


def _is_safe_divisor(node: Binary) -> bool:
    return node.operator != "*" and isinstance(node.right, int) and node.right > 0


class Code:
    """The instructions of an engine while they are written, with its registers."""

    def __init__(self, registers: tuple[Register, ...], pinned: tuple[str, ...]) -> None:
        self.instructions: list[Instruction] = []
        self.iterations: dict[str, int] = {}
        self.most = 0
        self._top = 0
        self._rows: Mapping[str, tuple[int, int]] = {
            register.name: (self.take(register.size), register.size) for register in registers
        }
        self._pinned = {name: self.take() for name in pinned}
        for name, register in self._pinned.items():
            self.emit(Instruction(Op.LOAD, dest=register, name=name, is_folded=True))

    def emit(self, instruction: Instruction) -> int:
        """Append an instruction; return its place."""
        self.instructions.append(instruction)
        return len(self.instructions) - 1

    def take(self, count: int = 1) -> int:
        """Return the first of `count` new registers."""
        first = self._top
        self._top += count
        self.most = max(self.most, self._top)
        return first

    @contextmanager
    def scratch(self) -> Generator[None]:
        """Give the registers taken inside back at the end."""
        top = self._top
        try:
            yield
        finally:
            self._top = top

    def operand(self, expr: Expr) -> Operand:
        """Compute an index, a trip count or a condition; return where it is."""
        return self._value(expr, None, is_folded=True)

    def assign(self, register: RegisterRef, value: Expr) -> None:
        """Compute a value into a register. What is not folded is what the timing model counts."""
        with self.scratch():
            row, size = self._rows[register.name]
            if isinstance(register.index, int):
                self._compute(row + register.index, value)
                return
            index = self.operand(register.index)
            is_computed = isinstance(value, Binary)
            operand = self._value(value, None, is_folded=not is_computed)
            self.emit(
                Instruction(Op.PUT, row=row, size=size, a=index, b=operand, is_folded=is_computed)
            )

    def _compute(self, dest: int, value: Expr) -> None:
        """Compute a value into `dest`, with at least one operation that is not folded."""
        operand = self._value(value, dest, is_folded=False)
        is_there = isinstance(value, RegisterRef) and isinstance(value.index, int)
        if is_there or operand != Reg(dest):
            self.emit(Instruction(Op.MOVE, dest=dest, a=operand))

    def _value(self, expr: Expr, dest: int | None, is_folded: bool) -> Operand:
        match expr:
            case int():
                return _word(expr)
            case Iteration():
                return Reg(self.iterations[expr.loop])
            case Input():
                return self._input(expr, dest, is_folded)
            case RegisterRef():
                return self._element(expr, dest, is_folded)
            case Binary():
                return self._binary(expr, dest, is_folded)
            case _:
                raise TypeError(expr)

    def _input(self, leaf: Input, dest: int | None, is_folded: bool) -> Operand:
        if leaf.index is None and leaf.name in self._pinned:
            return Reg(self._pinned[leaf.name])
        with self.scratch():
            index = 0 if leaf.index is None else self.operand(leaf.index)
        result = self.take() if dest is None else dest
        self.emit(
            Instruction(
                Op.LOAD,
                dest=result,
                name=leaf.name,
                a=index,
                size=int(leaf.index is not None),
                is_folded=is_folded,
            )
        )
        return Reg(result)

    def _element(self, leaf: RegisterRef, dest: int | None, is_folded: bool) -> Operand:
        row, size = self._rows[leaf.name]
        if isinstance(leaf.index, int):
            return Reg(row + leaf.index)
        with self.scratch():
            index = self.operand(leaf.index)
        result = self.take() if dest is None else dest
        self.emit(
            Instruction(Op.GET, dest=result, row=row, size=size, a=index, is_folded=is_folded)
        )
        return Reg(result)

    def _binary(self, expr: Binary, dest: int | None, is_folded: bool) -> Operand:
        if expr.operator in ("and", "or") and may_trap(expr.right):
            return self._short(expr, dest, is_folded)
        with self.scratch():
            left = self._value(expr.left, None, is_folded=_is_inner_folded(expr.left, is_folded))
            right = self._value(expr.right, None, is_folded=_is_inner_folded(expr.right, is_folded))
        result = self.take() if dest is None else dest
        function = MNEMONICS[expr.operator]
        self.emit(
            Instruction(
                Op.ALU, dest=result, function=function, a=left, b=right, is_folded=is_folded
            )
        )
        return Reg(result)

    def _short(self, expr: Binary, dest: int | None, is_folded: bool) -> Operand:
        """Compute `and` and `or` so that the right side is computed only if it decides."""
        result = self.take()
        with self.scratch():
            left = self._value(expr.left, None, is_folded=_is_inner_folded(expr.left, is_folded))
            self.emit(
                Instruction(Op.ALU, dest=result, function="ne", a=left, b=0, is_folded=is_folded)
            )
        function = "eq" if expr.operator == "and" else "ne"
        branch = self.emit(
            Instruction(Op.BRANCH, function=function, a=Reg(result), b=0, is_folded=True)
        )
        with self.scratch():
            right = self._value(expr.right, None, is_folded=_is_inner_folded(expr.right, is_folded))
            self.emit(Instruction(Op.ALU, dest=result, function="ne", a=right, b=0, is_folded=True))
        self.land(branch)
        if dest is None:
            return Reg(result)
        self.emit(Instruction(Op.MOVE, dest=dest, a=Reg(result), is_folded=True))
        return Reg(dest)

    def land(self, branch: int) -> None:
        """Let the branch at that place lead to what comes next."""
        target = len(self.instructions)
        self.instructions[branch] = replace(self.instructions[branch], target=target)


def _is_inner_folded(part: Expr, is_folded: bool) -> bool:
    """Operators cost an operation each; a leaf inside an expression is part of its operator."""
    return is_folded or not isinstance(part, Binary)


def _word(value: int) -> int:
    if LEAST <= value <= MOST:
        return value
    raise InvalidProgram(
        Diagnostic(
            f"the number {value} is in an engine program",
            rule="registers and immediates have 32 bits",
            help="use smaller numbers",
        )
    )
