"""Read a sequential program from `.hwy` text (docs/language.md)."""

from __future__ import annotations

from headway.errors import Location
from headway.ir.blocks import Block, BlockReader
from headway.ir.expr import Expr, Input
from headway.ir.lexer import Text, no_collection
from headway.ir.names import CLAUSES, DECLARATIONS
from headway.ir.program import (
    Access,
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
    Takes,
    While,
    Work,
)
from headway.ir.verify import verify
from headway.ir.walk import deep_nests

_SHORT = 64
_CLAUSES = frozenset(CLAUSES)
WORK_NUMBERS = ("elements", "bytes")
WORK_FIELDS = (*WORK_NUMBERS, "dtype", "moves")


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
        self._known: dict[tuple[str, ...], tuple[Access, ...]] = {}
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
        if self.words[self.index] in DECLARATIONS:
            self.fail("declarations come before the first instruction and the first loop")
        at = self.here()
        engine = self.free_name("an instruction")
        name = self.name("the name of an instruction")
        self._hosts.setdefault(engine, at)
        queue, cost = None, None
        accesses: dict[str, tuple[Access, ...]] = {}
        while (word := self.words[self.index]) in _CLAUSES:
            if word in ("reads", "writes") and word not in accesses:
                accesses[word] = self._accesses()
            elif word == "triggers" and queue is None:
                queue = self._trigger(engine, at)
            elif word in ("takes", "does") and cost is None:
                cost = self._takes() if word == "takes" else self._does()
            else:
                self.fail(f"a second {word!r} in one instruction")
        reads, writes = accesses.get("reads", ()), accesses.get("writes", ())
        return Instr(name, engine, queue, reads, writes, cost, at)

    def control(self) -> ControlRead | None:
        """Read `load NAME reads(...)` if it is there."""
        if self.words[self.index] != "load":
            return None
        at = self.here()
        self.index += 1
        name = self.name("the name of a control read")
        if self.words[self.index] != "reads":
            self.expected("'reads'")
        return ControlRead(name, self._accesses(), at)

    def node(self, block: Block[Node, ControlRead], body: tuple[Node, ...]) -> Node:
        """Build a loop, `while` or `if`."""
        if block.iteration:
            self._known.clear()  # the same words may stand for something else out here
        if block.word == "if":
            then, orelse = (body, ()) if block.then is None else (block.then, body)
            return If(block.expr, then, orelse, block.control, block.at)
        make = Loop if block.word == "loop" else While
        return make(block.iteration, block.expr, body, block.control, block.at)

    # Clauses

    def _accesses(self) -> tuple[Access, ...]:
        """Skip `reads` or `writes` and read what follows in parentheses.

        Equal clauses share one result: big programs repeat few of them, and read twice as fast.
        """
        self.index += 1
        key = self._parenthesized()
        known = self._known.get(key)
        if known is not None:
            self.index += len(key)
            return known
        accesses = self.enclosed(self._access)
        if key:
            self._known[key] = accesses
        return accesses

    def _parenthesized(self) -> tuple[str, ...]:
        """Return the next words until the first `(` is closed; none if they are many."""
        start = end = self.index
        try:
            while True:
                end = self.words.index(")", end, start + _SHORT) + 1
                words = tuple(self.words[start:end])
                if words.count("(") == words.count(")"):
                    return words
        except ValueError:
            return ()

    def _access(self) -> Access:
        buffer = self.name("the name of a buffer")
        if self.words[self.index] != "[":
            return Access(buffer)
        self.index += 1
        slot = self.expression()
        self.expect("]")
        if self.words[self.index] != "[":
            return Access(buffer, slot)
        self.index += 1
        region = self.listed(self._interval)
        self.expect("]")
        return Access(buffer, slot, region)

    def _interval(self) -> tuple[Expr, Expr]:
        low = self.expression()
        self.expect(":")
        return low, self.expression()

    def _trigger(self, host: str, at: Location) -> str:
        self.index += 1
        self.expect("(")
        queue = self.name("the name of a queue")
        self.expect(")")
        self._triggers.setdefault(queue, (host, at))
        return queue

    def _takes(self) -> Takes:
        self.index += 1
        self.expect("(")
        latency = occupancy = self._duration()
        if self.accept(","):
            occupancy = self._duration()
        self.expect(")")
        return Takes(latency, occupancy)

    def _duration(self) -> float:
        word = self.words[self.index]
        if not "0" <= word < ":":
            self.expected("a duration in ns")
        self.index += 1
        return float(word)

    def _does(self) -> Work:
        self.index += 1
        self.expect("(")
        operation = self.name("the name of an operation")
        fields: dict[str, str] = {}
        while self.accept(","):
            name = self.words[self.index]
            if name not in WORK_FIELDS:
                self.expected(" or ".join(WORK_FIELDS))
            if name in fields:
                self.fail(f"a second {name!r} in one instruction")
            self.index += 1
            self.expect("=")
            read = self.integer if name in WORK_NUMBERS else self.name
            fields[name] = str(read(f"the value of {name!r}"))
        self.expect(")")
        elements, size = (int(fields.get(name, 0)) for name in WORK_NUMBERS)
        dtype, moves = fields.get("dtype", "float32"), fields.get("moves", "")
        return Work(operation, elements, size, dtype, moves)
