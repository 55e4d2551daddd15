"""Read assembly text (docs/isa.md)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from headway.errors import Diagnostic, Location, SyntaxProblem
from headway.ir import parse
from headway.ir.program import Program
from headway.isa.instructions import (
    COMPARISONS,
    FOLDABLE,
    FUNCTIONS,
    LEAST,
    MOST,
    Around,
    Instruction,
    Op,
    Operand,
    Reg,
    WaitFor,
)
from headway.isa.module import Module, Stream, Tokens
from headway.isa.verify import verify
from headway.sync.program import Flag, Semaphore

_WORD = re.compile(r"\s*(?:(-?\d+|[A-Za-z_@][\w.@-]*|>=|[\[\](),:+-])|(#.*)|(\S))")
_DIGITS = 18
MOST_8, MOST_16 = 2**8 - 1, 2**16 - 1


def is_assembly(text: str) -> bool:
    """Tell whether a text begins like assembly."""
    return re.match(r"\s*module\s+@", text) is not None


def assemble(text: str, file: str = "<text>") -> Module:
    """Read and verify a module. Raise SyntaxProblem at the first wrong word, or InvalidProgram."""
    head, program = _split(text)
    module = _Reader(file).module(head, parse(program, file))
    verify(module)
    return module


def _split(text: str) -> tuple[list[str], str]:
    """Return the lines in front of the program, and the program at its place in the file."""
    lines = text.splitlines(keepends=True)
    starts = (n for n, line in enumerate(lines) if line.split()[:1] == ["program"])
    start = next(starts, len(lines))
    return lines[:start], "\n" * start + "".join(lines[start:])


class _Line:
    """The words of a line, read one by one."""

    def __init__(self, text: str, file: str, number: int) -> None:
        self._text = text
        self._file = file
        self._number = number
        self._words = [
            (m[1] or m[3], m.start(1) if m[1] else m.start(3))
            for m in _WORD.finditer(text)
            if m[1] or m[3]
        ]
        self._at = 0

    @property
    def word(self) -> str:
        return self._words[self._at][0] if self._at < len(self._words) else ""

    def fail(self, message: str) -> SyntaxProblem:
        column = self._words[self._at][1] if self._at < len(self._words) else len(self._text) - 1
        at = Location(self._file, self._number, column + 1)
        return SyntaxProblem(Diagnostic(message, at, source=self._text.rstrip("\n")))

    def next(self, what: str) -> str:
        word = self.word
        if not word:
            raise self.fail(f"the line ends where {what} should be")
        self._at += 1
        return word

    def accept(self, word: str) -> bool:
        found = self.word == word
        self._at += found
        return found

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise self.fail(f"expected {word!r}, found {self.word or 'the end of the line'!r}")

    def end(self) -> None:
        if self.word:
            raise self.fail(f"{self.word!r} is one word too many")

    def name(self, what: str) -> str:
        if not re.fullmatch(r"[A-Za-z_][\w.]*", self.word):
            raise self.fail(f"expected {what}, found {self.word or 'the end of the line'!r}")
        return self.next(what)

    def title(self, what: str) -> str:
        if not re.fullmatch(r"[A-Za-z_0-9][\w.-]*", self.word):
            raise self.fail(f"expected {what}, found {self.word or 'the end of the line'!r}")
        return self.next(what)

    def integer(self, what: str, least: int = 0, most: int = MOST_16) -> int:
        digits = self.word.removeprefix("-")
        if not digits.isdecimal() or len(digits) > _DIGITS or not least <= int(self.word) <= most:
            raise self.fail(f"expected {what}, {least} to {most}, found {self.word!r}")
        return int(self.next(what))

    def numbered(self, letter: str, what: str) -> int:
        """Read `r3` or `s3`."""
        if not re.fullmatch(rf"{letter}\d{{1,5}}", self.word) or int(self.word[1:]) > MOST_16:
            raise self.fail(f"expected {what} such as {letter}0, found {self.word!r}")
        return int(self.next(what)[1:])

    def starts(self, word: str) -> bool:
        return self.word == word

    def size(self) -> int:
        return self.integer("how many there are", 1)

    def register(self) -> int:
        return self.numbered("r", "a register")

    def semaphore(self) -> int:
        return self.numbered("s", "a semaphore")

    def operand(self) -> Operand:
        if re.fullmatch(r"r\d+", self.word):
            return Reg(self.register())
        return self.integer("a register or a number", LEAST, MOST)

    def row(self) -> tuple[int, Operand]:
        """Read `r5[r2]`."""
        row = self.register()
        self.expect("[")
        index = self.operand()
        self.expect("]")
        return row, index

    def wait(self) -> WaitFor:
        semaphore = self.semaphore()
        self.expect(">=")
        base = self.operand()
        if isinstance(base, int):
            return WaitFor(semaphore, None, base)
        if self.word in ("+", "-"):
            sign = 1 if self.next("an offset") == "+" else -1
            return WaitFor(semaphore, base, sign * self.integer("an offset", 0, -LEAST))
        return WaitFor(semaphore, base, 0)


class _Reader:
    def __init__(self, file: str) -> None:
        self._file = file
        self._streams: list[Stream] = []
        self._semaphores: list[Semaphore] = []
        self._tokens: list[Tokens] = []
        self._meets: list[int] = []
        self._stream: _StreamReader | None = None
        self._title = ("", "", "")

    def module(self, lines: list[str], program: Program) -> Module:
        for number, text in enumerate(lines, 1):
            line = _Line(text, self._file, number)
            if line.word:
                self._line(line)
                line.end()
        self._finish()
        name, strategy, target = self._title
        if name != program.name:
            place = Location(self._file, 1, 1)
            message = f"the module is called @{name}, and its program @{program.name}"
            raise SyntaxProblem(Diagnostic(message, place))
        return Module(
            program,
            strategy,
            target,
            tuple(self._streams),
            tuple(self._semaphores),
            tuple(self._tokens),
            tuple(self._meets),
        )

    def _line(self, line: _Line) -> None:
        if not self._title[0]:
            self._begin(line)
        elif self._stream and not line.starts("engine"):
            self._stream.line(line)
        elif line.accept("semaphore"):
            self._semaphore(line)
        else:
            line.expect("engine")
            self._finish()
            name = line.name("the name of an engine")
            line.expect("registers")
            self._stream = _StreamReader(name, line.integer("how many registers it has"))

    def _begin(self, line: _Line) -> None:
        line.expect("module")
        if not line.word.startswith("@"):
            raise line.fail("expected the name of the module, such as @name")
        name = line.next("the name of the module")[1:]
        line.expect("strategy")
        strategy = line.title("the name of a strategy")
        line.expect("target")
        self._title = (name, strategy, line.title("the name of a target"))

    def _semaphore(self, line: _Line) -> None:
        number = line.integer("the number of a semaphore")
        if line.accept("counts"):
            counter = line.name("the name of a counter")
            line.expect("width")
            width = line.integer("the width of a semaphore in bits", 1, MOST_8)
            self._semaphores.append(Semaphore(number, counter, width, line.accept("signed")))
        elif line.accept("flag"):
            self._tokens.append(Tokens(number, self._flag(line)))
        else:
            line.expect("meets")
            self._meets.append(number)

    def _flag(self, line: _Line) -> Flag:
        name = line.name("the name of a flag")
        line.expect("from")
        counter = line.name("the name of a counter")
        line.expect("to")
        engine = line.name("the name of an engine")
        holds = line.integer("how many tokens it holds", 0, MOST) if line.accept("holds") else 0
        return Flag(name, counter, engine, holds)

    def _finish(self) -> None:
        if self._stream:
            self._streams.append(self._stream.stream())
            self._stream = None


class _StreamReader:
    """Reads the instructions of one engine; labels are found when all are there."""

    def __init__(self, engine: str, registers: int) -> None:
        self._engine = engine
        self._registers = registers
        self._instructions: list[Instruction] = []
        self._labels: dict[str, int] = {}
        self._uses: dict[int, tuple[str, _Line]] = {}

    def line(self, line: _Line) -> None:
        word = line.next("an instruction")
        if line.accept(":"):
            if word in self._labels:
                raise line.fail(f"label {word!r} is there twice")
            self._labels[word] = len(self._instructions)
            return
        is_folded = word.endswith(".f")
        mnemonic = word.removesuffix(".f")
        instruction = self._instruction(mnemonic, line)
        if is_folded and instruction.op not in FOLDABLE:
            raise line.fail(f"{mnemonic!r} serves no other instruction")
        self._instructions.append(replace(instruction, is_folded=is_folded))

    def stream(self) -> Stream:
        """Return the stream, with its labels resolved."""
        for at, (label, line) in self._uses.items():
            if label not in self._labels:
                raise line.fail(f"there is no label {label!r} in the stream of {self._engine}")
            found = replace(self._instructions[at], target=self._labels[label])
            self._instructions[at] = found
        return Stream(self._engine, self._registers, tuple(self._instructions))

    def _instruction(self, mnemonic: str, line: _Line) -> Instruction:
        if mnemonic in FUNCTIONS:
            dest, a, b = self._commas(line, line.register, line.operand, line.operand)
            return Instruction(Op.ALU, dest, a, b, function=mnemonic)
        kind, _, function = mnemonic.partition(".")
        if kind in ("if", "leave") and function in COMPARISONS:
            op = Op.BRANCH if kind == "if" else Op.LEAVE
            a, b, _ = self._commas(line, line.operand, line.operand, lambda: self._target(line))
            return Instruction(op, a=a, b=b, function=function)
        op = OPS.get(mnemonic)
        if op is None:
            raise line.fail(f"there is no instruction {mnemonic!r}")
        return self._plain(op, line)

    def _plain(self, op: Op, line: _Line) -> Instruction:
        match op:
            case Op.MOVE:
                dest, a = self._commas(line, line.register, line.operand)
                return Instruction(op, dest, a)
            case Op.GET:
                dest, (row, a), size = self._commas(line, line.register, line.row, line.size)
                return Instruction(op, dest, a, row=row, size=size)
            case Op.PUT:
                (row, a), b, size = self._commas(line, line.row, line.operand, line.size)
                return Instruction(op, a=a, b=b, row=row, size=size)
            case Op.LOAD:
                return self._load(line)
            case Op.ENTER | Op.NEXT:
                target = lambda: self._target(line)  # noqa: E731
                dest, b, _ = self._commas(line, line.register, line.operand, target)
                return Instruction(op, dest, b=b)
            case Op.JUMP:
                self._target(line)
                return Instruction(op)
            case Op.WAIT:
                return Instruction(op, wait=line.wait())
            case Op.EXEC | Op.TRIGGER | Op.READ:
                return self._issued(op, line)
            case _:
                return self._shared(op, line)

    def _shared(self, op: Op, line: _Line) -> Instruction:
        match op:
            case Op.SET:
                row, name = self._commas(line, line.semaphore, lambda: line.name("a counter"))
                return Instruction(op, row=row, name=name)
            case Op.DRAIN:
                return Instruction(op, name=line.name("the name of a counter"))
            case Op.CLEAR:
                row, size = self._commas(line, line.semaphore, line.size)
                return Instruction(op, row=row, size=size)
            case Op.TAKE | Op.MEET:
                return Instruction(op, row=line.semaphore())
            case _:
                return Instruction(op)

    def _load(self, line: _Line) -> Instruction:
        dest, name = self._commas(line, line.register, lambda: line.name("the name of an input"))
        if not line.accept("["):
            return Instruction(Op.LOAD, dest, name=name)
        index = line.operand()
        line.expect("]")
        return Instruction(Op.LOAD, dest, index, size=1, name=name)

    def _issued(self, op: Op, line: _Line) -> Instruction:
        name = line.name("the name of an instruction")
        line.expect("(")
        around: list[Around] = []
        while not line.accept(")"):
            if around:
                line.expect(",")
            around.append(Around(line.name("the name of a loop"), line.register()))
        wait: WaitFor | None = None
        post: int | None = None
        while line.accept(","):
            if wait is None and post is None and line.accept("wait"):
                wait = line.wait()
            else:
                line.expect("post")
                post = line.semaphore()
        return Instruction(op, name=name, iterations=tuple(around), wait=wait, post=post)

    def _target(self, line: _Line) -> None:
        self._uses[len(self._instructions)] = (line.name("a label"), line)

    @staticmethod
    def _commas(line: _Line, *parts: Callable[[], Any]) -> list[Any]:
        """Read operands with commas between them."""
        found = [parts[0]()]
        for part in parts[1:]:
            line.expect(",")
            found.append(part())
        return found


_OTHERS = {Op.MOVE: "mov", Op.ALU: "", Op.BRANCH: "", Op.LEAVE: ""}
OPS = {name: op for op in Op if (name := _OTHERS.get(op, op.name.lower()))}
"""Mnemonics that are instructions as they are."""
