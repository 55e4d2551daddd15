"""Read a sequential program from `.hwy` text (docs/language.md)."""

from __future__ import annotations

from typing import Any

from headway.errors import Location
from headway.ir.blocks import Block, BlockReader
from headway.ir.clauses import Clause, ClauseReader
from headway.ir.expr import Input
from headway.ir.lexer import Piece, Text
from headway.ir.names import CLAUSES, DECLARATIONS, MARKS
from headway.ir.program import (
    Buffer,
    ControlRead,
    Engine,
    If,
    InputDecl,
    Instr,
    Loop,
    Node,
    Program,
    Queue,
    While,
)
from headway.ir.verify import verify
from headway.ir.walk import deep_nests, no_collection


def parse(text: str, file: str = "<text>") -> Program:
    """Read and verify a program.

    Raises SyntaxProblem at the first word that is not in the language, or InvalidProgram with
    every rule of the model that the program breaks.
    """
    words = Text(text, file)
    with deep_nests(), no_collection():
        reader = ProgramReader(words)
        program = reader.program()
        reader.end()
        verify(program, words.line)
    return program


class ProgramReader(BlockReader[Node, ControlRead]):
    """Reads one `program @name { ... }`."""

    def __init__(self, text: Text, index: int = 0) -> None:
        super().__init__(text, index)
        self._inputs: list[InputDecl] = []
        self._engines: list[Engine] = []
        self._queues: list[Queue] = []
        self._buffers: list[Buffer] = []
        self._known: dict[str, Clause] = {}
        self._hosts: dict[str, Location] = {}  # engines in the order of first use
        self._triggers: dict[str, tuple[str, Location]] = {}  # the same for queues

    def program(self) -> Program:
        """Read the program."""
        at = self.here()
        self.begin("program")
        name = self.program_name()
        self.expect("{")
        while self.words[self.index] in DECLARATIONS:
            self._declaration()
        body = self.body()
        self._declare_what_is_used()
        inputs, engines, queues = self._inputs, self._engines, self._queues
        lists = (tuple(inputs), tuple(engines), tuple(queues), tuple(self._buffers))
        return Program(name, body, *lists, at=at)

    # Declarations

    def _declaration(self) -> None:
        word = self.words[self.index]
        self.index += 1
        at = self.here()
        match word:
            case "input":
                self._inputs.append(self._input(at))
            case "engine":
                name = self.free_name("the name of an engine")
                self._engines.append(Engine(name, self.accept("pipelined"), at))
            case "queue":
                self._queues.append(self._queue(at))
            case _:
                self._buffers.append(self._buffer(at))

    def _input(self, at: Location) -> InputDecl:
        name = self.free_name("the name of an input")
        is_list = self.accept("[")
        if is_list:
            self.expect("]")
        self.names[name] = Input(name)
        return InputDecl(name, is_list, at)

    def _queue(self, at: Location) -> Queue:
        name = self.name("the name of a queue")
        self.expect("on")
        host = self.free_name("the name of an engine")
        self._hosts.setdefault(host, at)
        return Queue(name, host, self.accept("pipelined"), at)

    def _buffer(self, at: Location) -> Buffer:
        name = self.name("the name of a buffer")
        slots, shape, space = 1, (), ""
        if self.accept("slots"):
            slots = self.integer("the number of slots")
        if self.accept("shape"):
            shape = self.enclosed(lambda: self.integer("an extent"))
        if self.accept("space"):
            (space,) = self.enclosed(lambda: self.name("the name of a memory"))
        return Buffer(name, slots, shape, space, at)

    def _declare_what_is_used(self) -> None:
        """Fill in engines and queues; a program that declares an engine declares them all."""
        if self._engines:
            return
        self._engines += (Engine(name, at=at) for name, at in self._hosts.items())
        declared = {queue.name for queue in self._queues}
        for name, (host, at) in self._triggers.items():
            if name not in declared:
                self._queues.append(Queue(name, host, at=at))

    # Statements

    def statement(self) -> Instr:
        """Read one instruction."""
        at = self.here()
        engine = self._engine(at)
        name = self.name("the name of an instruction")
        found: dict[str, Any] = {}
        start = self.index
        while clause := self._clause():
            field, value = clause
            if field in found:
                word = self.words[start].partition("(")[0]
                self.fail(f"a second {word!r} in one instruction", start)
            found[field] = value
            start = self.index
        if "queue" in found:
            self._triggers.setdefault(found["queue"], (engine, at))
        return Instr(name, engine, **found, at=at)

    def _engine(self, at: Location) -> str:
        """Read the engine of an instruction; one that is known is no word of the language."""
        engine = self.words[self.index]
        if engine in self._hosts:
            self.index += 1
            return engine
        if engine in DECLARATIONS:
            self.fail("declarations come before the first instruction and the first loop")
        self._hosts[self.free_name("an instruction")] = at
        return engine

    def _clause(self) -> Clause | None:
        """Read a clause, if one comes. Equal ones share their value, for it never changes."""
        word = self.words[self.index]
        known = self._known.get(word)
        if known is not None:
            self.index += 1
        elif word in MARKS:
            known = word, True
            self.index += 1
        elif word in CLAUSES:
            reader = ClauseReader(self.text, self.index, self.names)
            known = reader.clause()
            self.index = reader.index
        elif word.endswith(")") and len(word) > 1:
            known = ClauseReader(Piece(self.text, self.index), 0, self.names).clause()
            self._known[word] = known
            self.index += 1
        return known

    def control(self, word: str) -> ControlRead | None:
        """Read `load NAME reads(...)` if it is there."""
        if self.words[self.index] != "load":
            return None
        at = self.here()
        self.index += 1
        name = self.name("the name of a control read")
        start, clause = self.index, self._clause()
        if clause is None or clause[0] != "reads":
            self.index = start
            self.expected("'reads'")
        return ControlRead(name, clause[1], at)

    def node(self, block: Block[Node, ControlRead], body: tuple[Node, ...]) -> Node:
        """Build a loop, `while` or `if`."""
        if block.iteration:
            self._known.clear()  # the same words may stand for something else out here
        if block.word == "if":
            then, orelse = (body, ()) if block.then is None else (block.then, body)
            return If(block.expr, then, orelse, block.control, block.at)
        make = Loop if block.word == "loop" else While
        return make(block.iteration, block.expr, body, block.control, block.at)
