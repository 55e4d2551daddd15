"""Write and read binaries: what lies in the sections of `headway.isa.container`."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

from headway.errors import HeadwayError, InvalidInput, UnsupportedByTarget
from headway.ir import parse, to_text
from headway.ir.program import Program
from headway.isa.container import damaged, pack, unpack
from headway.isa.encoding import SIZE, Descriptor, Tables, decode, encode
from headway.isa.instructions import Around, Instruction
from headway.isa.memory import layout
from headway.isa.module import Module, Stream, Tokens
from headway.isa.verify import verify
from headway.sync.program import Flag, Semaphore

ONCE = (b"HEAD", b"SYMB", b"BUFS", b"INPS", b"SEMS", b"FLAG", b"DESC", b"PROG")


def to_binary(module: Module) -> bytes:
    """Return the file of a module: the same bytes for the same module.

    Raise UnsupportedByTarget if a number is larger than its field.
    """
    try:
        return _file(module)
    except struct.error as error:
        message = f"a number of {module.program.name!r} does not fit a binary: {error}"
        raise UnsupportedByTarget(message) from None


def _file(module: Module) -> bytes:
    tables = Tables()
    codes = [(b"CODE", _code(stream, tables)) for stream in module.streams]
    sections = [
        (b"HEAD", _head(module)),
        (b"BUFS", b"".join(_buffers(module.program, tables))),
        (b"INPS", b"".join(_inputs(module.program, tables))),
        (b"SEMS", b"".join(_semaphores(module, tables))),
        (b"FLAG", b"".join(_flags(module, tables))),
        (b"DESC", b"".join(_descriptors(tables))),
        *codes,
        (b"PROG", to_text(module.program).encode()),
    ]
    symbols = b"".join(map(_text, tables.symbols))
    return pack([sections[0], (b"SYMB", symbols), *sections[1:]])


def from_binary(data: bytes, file: str = "<binary>", trust: bool = False) -> Module:
    """Read and verify a module. Raise InvalidInput on a file that is damaged in any way.

    `trust` leaves out the checksums, for tests of what they protect.
    """
    sections = unpack(data, file, trust)
    try:
        module = _module(sections, file)
        verify(module)
    except HeadwayError as error:
        raise damaged(file, error.diagnostics[0].message) from None
    return module


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<H", len(data)) + data


def _head(module: Module) -> bytes:
    meets = struct.pack(f"<B{len(module.meets)}H", len(module.meets), *module.meets)
    return _text(module.strategy) + _text(module.target) + meets


def _buffers(program: Program, tables: Tables) -> Iterable[bytes]:
    for buffer, place in zip(program.buffers, layout(program).values(), strict=True):
        symbol = tables.symbol(buffer.name)
        yield struct.pack("<IIII", symbol, buffer.slots, place.atoms, place.first)


def _inputs(program: Program, tables: Tables) -> Iterable[bytes]:
    for number, decl in enumerate(program.inputs):
        yield struct.pack("<IBI", tables.symbol(decl.name), decl.is_list, number)


def _semaphores(module: Module, tables: Tables) -> Iterable[bytes]:
    for semaphore in module.semaphores:
        symbol = tables.symbol(semaphore.counter)
        yield struct.pack("<HBBI", semaphore.number, semaphore.width, semaphore.is_signed, symbol)


def _flags(module: Module, tables: Tables) -> Iterable[bytes]:
    for number, flag in ((tokens.number, tokens.flag) for tokens in module.tokens):
        names = map(tables.symbol, (flag.name, flag.counter, flag.engine))
        yield struct.pack("<HIIII", number, flag.holds, *names)


def _descriptors(tables: Tables) -> Iterable[bytes]:
    for found in tables.descriptors:
        yield struct.pack("<IH", tables.symbol(found.name), len(found.iterations))
        for around in found.iterations:
            yield struct.pack("<IH", tables.symbol(around.loop), around.register)


def _code(stream: Stream, tables: Tables) -> bytes:
    head = struct.pack("<IH", tables.symbol(stream.engine), stream.registers)
    return head + b"".join(encode(instruction, tables) for instruction in stream.instructions)


class _Data:
    """Reads a section from its beginning to its end."""

    def __init__(self, name: bytes, data: bytes) -> None:
        self._name = name.decode("latin-1")
        self._data = data
        self._at = 0

    @property
    def is_read(self) -> bool:
        return self._at == len(self._data)

    def take(self, size: int) -> bytes:
        found = self._data[self._at : self._at + size]
        if len(found) < size:
            raise InvalidInput(f"section {self._name} ends too early")
        self._at += size
        return found

    def numbers(self, form: str) -> tuple[Any, ...]:
        form = f"<{form}"
        return struct.unpack(form, self.take(struct.calcsize(form)))

    def text(self) -> str:
        (length,) = self.numbers("H")
        try:
            return self.take(length).decode()
        except UnicodeDecodeError:
            raise InvalidInput(f"section {self._name} has text that is not UTF-8") from None

    def end(self) -> None:
        if not self.is_read:
            raise InvalidInput(f"section {self._name} is too long")


def _module(sections: list[tuple[bytes, bytes]], file: str) -> Module:
    names = [name for name, _ in sections]
    expected = [*ONCE[:-1], *[b"CODE"] * names.count(b"CODE"), b"PROG"]
    if names != expected:
        raise InvalidInput("its sections are not those of a binary")
    data = {name: _Data(name, content) for name, content in sections}
    symbols = _read_symbols(data[b"SYMB"])
    strategy, target = data[b"HEAD"].text(), data[b"HEAD"].text()
    (count,) = data[b"HEAD"].numbers("B")
    meets = data[b"HEAD"].numbers(f"{count}H")
    data[b"HEAD"].end()
    program = _read_program(dict(sections)[b"PROG"], file)
    descriptors = _read_descriptors(data[b"DESC"], symbols)
    codes = [_Data(name, content) for name, content in sections if name == b"CODE"]
    module = Module(
        program,
        strategy,
        target,
        tuple(_read_code(code, symbols, descriptors) for code in codes),
        tuple(_read_semaphores(data[b"SEMS"], symbols)),
        tuple(_read_flags(data[b"FLAG"], symbols)),
        meets,
    )
    _check_tables(module, dict(sections), symbols)
    return module


def _check_tables(module: Module, sections: dict[bytes, bytes], symbols: list[str]) -> None:
    """Refuse buffers and inputs that are not those of the program."""
    tables = Tables()
    tables.symbols = {name: number for number, name in enumerate(symbols)}
    tables.descriptors = {}
    for name, rows in ((b"BUFS", _buffers), (b"INPS", _inputs)):
        if b"".join(rows(module.program, tables)) != sections[name]:
            raise InvalidInput(f"section {name.decode()} and the program do not agree")


def _read_program(text: bytes, file: str) -> Program:
    try:
        return parse(text.decode(), f"{file}:PROG")
    except UnicodeDecodeError:
        raise InvalidInput("section PROG is not UTF-8") from None


def _symbol(symbols: list[str], number: int) -> str:
    if number < len(symbols):
        return symbols[number]
    raise InvalidInput(f"there is no symbol {number}: the file has {len(symbols)}")


def _read_symbols(data: _Data) -> list[str]:
    symbols: list[str] = []
    while not data.is_read:
        symbols.append(data.text())
    if len(set(symbols)) < len(symbols):
        raise InvalidInput("a symbol is there twice")
    return symbols


def _read_descriptors(data: _Data, symbols: list[str]) -> list[Descriptor]:
    found: list[Descriptor] = []
    while not data.is_read:
        symbol, count = data.numbers("IH")
        pairs = [data.numbers("IH") for _ in range(count)]
        around = tuple(Around(_symbol(symbols, loop), register) for loop, register in pairs)
        found.append(Descriptor(_symbol(symbols, symbol), around))
    return found


def _read_semaphores(data: _Data, symbols: list[str]) -> Iterable[Semaphore]:
    while not data.is_read:
        number, width, is_signed, symbol = data.numbers("HBBI")
        yield Semaphore(number, _symbol(symbols, symbol), width, bool(is_signed))


def _read_flags(data: _Data, symbols: list[str]) -> Iterable[Tokens]:
    while not data.is_read:
        number, holds, *names = data.numbers("HIIII")
        name, counter, engine = (_symbol(symbols, n) for n in names)
        yield Tokens(number, Flag(name, counter, engine, holds))


def _read_code(data: _Data, symbols: list[str], descriptors: list[Descriptor]) -> Stream:
    symbol, registers = data.numbers("IH")
    engine = _symbol(symbols, symbol)
    instructions: list[Instruction] = []
    while not data.is_read:
        try:
            instructions.append(decode(data.take(SIZE), symbols, descriptors))
        except InvalidInput as error:
            message = error.diagnostics[0].message
            place = f"{engine}: instruction {len(instructions)}"
            raise InvalidInput(f"{place}: {message}") from None
    return Stream(engine, registers, tuple(instructions))
