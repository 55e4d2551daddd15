"""Read a synchronized program from `.hwy` text (docs/language.md)."""

from __future__ import annotations

from collections.abc import Iterator

from headway.errors import Location
from headway.ir.blocks import Block, BlockReader
from headway.ir.expr import Expr, Input, Leaf
from headway.ir.lexer import END, Text, first_word
from headway.ir.names import shown, suggestion
from headway.ir.program import Program
from headway.ir.reader import Reader
from headway.ir.text import ProgramReader, parse
from headway.ir.walk import control_reads, deep_nests, no_collection
from headway.sync.program import (
    Assign,
    Barrier,
    EngineProgram,
    Exec,
    Flag,
    Load,
    Register,
    RegisterRef,
    Semaphore,
    SetFlag,
    SyncIf,
    SyncLoop,
    SyncNode,
    SyncProgram,
    SyncWhile,
    TakeFlag,
    Threshold,
    Wait,
    Waits,
)
from headway.sync.verify import verify_sync

_STATEMENTS = ("wait", "barrier", "load", "exec", "set", "take", "loop", "while", "if")
_OTHER_ASSIGNMENTS = ("=", "==", "+", "-")  # the latter two of += and -=
_OTHER_COMPARISONS = ("=", "==", ">", "<", "<=", "!=")


def parse_sync(text: str, file: str = "<text>") -> SyncProgram:
    """Read and verify a synchronized program.

    Raises SyntaxProblem at the first word that is not in the language, or InvalidProgram with
    everything that is wrong with the program.
    """
    words = Text(text, file)
    with deep_nests(), no_collection():
        reader = _SyncReader(words)
        sync = reader.sync()
        reader.end()
        verify_sync(sync, words.line)
    return sync


def parse_any(text: str, file: str = "<text>") -> Program | SyncProgram:
    """Read a program of either kind; the first word decides. Raises as `parse` does."""
    return parse_sync(text, file) if first_word(text) == "sync" else parse(text, file)


class _EngineReader(BlockReader[SyncNode, Load]):
    """Reads the program of one engine."""

    def __init__(self, text: Text, index: int, inputs: dict[str, Leaf], program: Program) -> None:
        super().__init__(text, index, dict(inputs))
        self._program = program
        self._registers: list[Register] = []
        self._firsts: dict[int, int] = {}  # of loops, by where their opening brace stands

    def engine(self, at: Location) -> EngineProgram:
        """Read what follows the word `engine`."""
        name = self.free_name("the name of an engine")
        self.expect("{")
        while self.accept("registers"):
            self._registers += self.listed(self._register)
        return EngineProgram(name, self.body(), tuple(self._registers), at)

    def _register(self) -> Register:
        name = self.free_name("the name of a register")
        self.names[name] = RegisterRef(name)
        size = 1
        if self.accept("["):
            size = self.integer("the size of a row of registers")
            self.expect("]")
        return Register(name, size)

    def indexed(self, leaf: Leaf, index: Expr) -> Leaf:
        """Return the element `index` of a row of registers or of an input."""
        if isinstance(leaf, RegisterRef):
            return RegisterRef(leaf.name, index)
        return super().indexed(leaf, index)

    def kinds(self) -> str:
        """Say what a bare name can be here."""
        return "the iteration of an enclosing loop, a declared input nor a register"

    # Statements

    def statement(self) -> SyncNode:
        """Read one statement without a body."""
        at = self.here()
        match self.words[self.index]:
            case "wait":
                self.index += 1
                return Waits(self.listed(self._wait), at)
            case "barrier":
                self.index += 1
                return Barrier(at)
            case "load":
                return self._load(at)
            case "exec":
                self.index += 1
                return self._exec(self.name("the name of an instruction"), at)
            case "set" | "take" as word:
                self.index += 1
                return (SetFlag if word == "set" else TakeFlag)(self.name("the name of a flag"), at)
            case "registers":
                return self.fail("registers come first in the program of an engine")
            case _:
                return self._assign_or_exec(at)

    def _assign_or_exec(self, at: Location) -> SyncNode:
        if self.words[self.index] != END and self.words[self.index + 1] in (":=", "["):
            register = self._register_ref()
            self.expect(":=")
            return Assign(register, self.expression(), at)
        name = self.free_name("a statement")
        word = self.words[self.index]
        if word in _OTHER_ASSIGNMENTS and isinstance(self.names.get(name), RegisterRef):
            help = f"a register is set so: {name} := {name} + 1"
            self.fail(f"':=' is expected, not {shown(word)}", help=help)
        return self._exec(name, at)

    def _exec(self, name: str, at: Location) -> Exec:
        turns = tuple(self.listed(self._turn)) if self.accept("at") else ()
        return Exec(name, self._waits(), at, turns)

    def _turn(self) -> tuple[str, int]:
        loop = self.name("the name of the iteration of a loop")
        return loop, self.integer("the number of an iteration")

    def _load(self, at: Location) -> Load:
        self.index += 1
        following = self.words[self.index : self.index + 3]
        is_statement = following[0] in _STATEMENTS and not self._is_read(following[0])
        is_wait = following[0] == "waits" and following[-1] == ">="
        if following[0] == "}" or is_statement or is_wait:
            help = "an instruction of that name is issued by: exec load"
            self.fail(f"the name of a control read is expected, not {following[0]!r}", help=help)
        return Load(self.name("the name of a control read"), self._waits(), at)

    def _is_read(self, name: str) -> bool:
        return any(read.name == name for read in control_reads(self._program.body))

    def control(self, word: str) -> Load | None:
        """Read `at FIRST` and `load NAME waits ...` if they are there."""
        first = (
            self.integer("the number of an iteration")
            if word == "loop" and self.accept("at")
            else 0
        )
        load = self._load(self.here()) if self.words[self.index] == "load" else None
        self._firsts[self.index] = first
        return load

    def node(self, block: Block[SyncNode, Load], body: tuple[SyncNode, ...]) -> SyncNode:
        """Build a loop, `while` or `if`."""
        if block.word == "if":
            then, orelse = (body, ()) if block.then is None else (block.then, body)
            return SyncIf(block.expr, then, orelse, block.control, block.at)
        if block.word == "loop":
            first = self._firsts[block.brace]
            return SyncLoop(block.iteration, block.expr, body, block.control, block.at, first)
        return SyncWhile(block.iteration, block.expr, body, block.control, block.at)

    # Waits

    def _waits(self) -> tuple[Wait, ...]:
        return self.listed(self._wait) if self.accept("waits") else ()

    def _wait(self) -> Wait:
        at = self.here()
        counter = self.name("the name of a counter")
        if (word := self.words[self.index]) in _OTHER_COMPARISONS:
            help = f"a wait holds from its threshold on: {counter} >= 1"
            self.fail(f"'>=' is expected, not {shown(word)}", help=help)
        self.expect(">=")
        return Wait(counter, self._threshold(), at)

    def _threshold(self) -> Threshold:
        if self.words[self.index] == "-" or "0" <= self.words[self.index] < ":":
            return Threshold(None, self._offset("a threshold"))
        register = self._register_ref()
        signed = self.words[self.index] in ("+", "-")
        return Threshold(register, self._offset("an offset") if signed else 0)

    def _offset(self, what: str) -> int:
        minus = self.accept("-")
        if not minus:
            self.accept("+")
        number = self.integer(what)
        return -number if minus else number

    def _register_ref(self) -> RegisterRef:
        word = self.words[self.index]
        leaf = self.names.get(word)
        if not isinstance(leaf, RegisterRef):
            known = (name for name, leaf in self.names.items() if isinstance(leaf, RegisterRef))
            help = suggestion(word, known) or (
                "registers are declared first in an engine"
                if leaf is None
                else f"a threshold is a register and a number: set one to {word!r} first"
            )
            self.fail(f"{shown(word)} is not a register of this engine", help=help)
        self.index += 1
        if not self.accept("["):
            return leaf
        index = self.expression()
        self.expect("]")
        return RegisterRef(leaf.name, index)


class _SyncReader(Reader):
    """Reads one `sync @name ... { program ... engine ... }`."""

    def sync(self) -> SyncProgram:
        self.begin("sync")
        title = self.index
        name = self.program_name()
        strategy = self.title("the name of a strategy") if self.accept("strategy") else "manual"
        target = self.title("the name of a target") if self.accept("target") else "generic"
        brace = self.index
        self.expect("{")
        program = self._program()
        if program.name != name:
            self.fail(f"this program is called @{name}, and the one inside @{program.name}", title)
        flags = tuple(self._flags())
        semaphores = tuple(self._semaphores())
        inputs: dict[str, Leaf] = {decl.name: Input(decl.name) for decl in program.inputs}
        engines = tuple(self._engines(inputs, program))
        if self.words[self.index] == END:
            self.never_closed(brace)
        self.expect("}")
        return SyncProgram(program, engines, strategy, target, flags, semaphores)

    def _program(self) -> Program:
        reader = ProgramReader(self.text, self.index)
        program = reader.program()
        self.index = reader.index
        return program

    def _flags(self) -> Iterator[Flag]:
        while self.words[self.index] == "flag":
            at = self.here()
            self.index += 1
            name = self.free_name("the name of a flag")
            self.expect("from")
            counter = self.name("the name of a counter")
            self.expect("to")
            engine = self.name("the name of an engine")
            holds = self.integer("how many tokens a flag holds") if self.accept("holds") else 0
            yield Flag(name, counter, engine, holds, at)

    def _semaphores(self) -> Iterator[Semaphore]:
        while self.words[self.index] == "semaphore":
            at = self.here()
            self.index += 1
            number = self.integer("the number of a semaphore")
            self.expect("counts")
            counter = self.name("the name of a counter")
            self.expect("width")
            width = self.integer("the width of a semaphore in bits")
            yield Semaphore(number, counter, width, self.accept("signed"), at)

    def _engines(self, inputs: dict[str, Leaf], program: Program) -> Iterator[EngineProgram]:
        while self.words[self.index] not in ("}", END):
            at = self.here()
            self.expect("engine")
            reader = _EngineReader(self.text, self.index, inputs, program)
            yield reader.engine(at)
            self.index = reader.index
