"""The file of a binary, `.hwb`: sections behind a table of them, each with its checksum.

    header    "HWB\\0", version, number of sections        4s H H
    table     name, offset, length, CRC-32 of each section 4s I I I
    checksum  CRC-32 of header and table                   I

    HEAD  strategy, target, and the two semaphores of barriers
    SYMB  the symbol table: names
    BUFS  buffers: symbol, slots, atoms of a slot, its first cell in memory
    INPS  inputs: symbol, whether it is a list, its number in memory
    SEMS  semaphores: number, width, is signed, symbol of the counter
    FLAG  flags: semaphore, tokens that fit, symbols of the flag, its counter, its engine
    DESC  descriptors: symbol of an instruction, and of each loop around with its register
    CODE  one for each engine: symbol, registers, then 32 bytes for each instruction
    PROG  the sequential program as `.hwy` text: what the judge needs

All numbers are little-endian; a text is its length in bytes and UTF-8.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from headway.errors import Diagnostic, InvalidInput

MAGIC = b"HWB\0"
VERSION = 1
HEADER = struct.Struct("<4sHH")
ENTRY = struct.Struct("<4sIII")
CHECKSUM = struct.Struct("<I")
MOST_SECTIONS = 4096


def is_binary(data: bytes) -> bool:
    """Tell whether data begins like a binary."""
    return data.startswith(MAGIC)


def pack(sections: list[tuple[bytes, bytes]]) -> bytes:
    """Return the file of sections, each a name of four letters and its content."""
    table = HEADER.pack(MAGIC, VERSION, len(sections))
    offset = HEADER.size + ENTRY.size * len(sections) + CHECKSUM.size
    for name, content in sections:
        table += ENTRY.pack(name, offset, len(content), zlib.crc32(content))
        offset += len(content)
    contents = (content for _, content in sections)
    return b"".join((table, CHECKSUM.pack(zlib.crc32(table)), *contents))


def unpack(data: bytes, file: str, trust: bool = False) -> list[tuple[bytes, bytes]]:
    """Return the sections of a file. Raise InvalidInput if it is damaged.

    `trust` leaves out the checksums, for tests of what they protect.
    """
    try:
        return list(_sections(data, trust))
    except _Damaged as damage:
        raise damaged(file, str(damage)) from None


def damaged(file: str, how: str) -> InvalidInput:
    """Return the error of a file that is no binary, or is damaged."""
    return InvalidInput(
        Diagnostic(
            f"{file}: {how}",
            rule="a .hwb file is what `headway asm` writes",
            help="write it again: headway asm SYNCED -o FILE.hwb",
        )
    )


class _Damaged(Exception):
    pass


def _sections(data: bytes, trust: bool) -> Iterator[tuple[bytes, bytes]]:
    if not is_binary(data):
        raise _Damaged("it does not begin like a binary")
    if len(data) < HEADER.size:
        raise _Damaged("it ends inside its header")
    _, version, count = HEADER.unpack_from(data)
    if version != VERSION:
        raise _Damaged(f"it has version {version}, and only {VERSION} is known")
    table = HEADER.size + ENTRY.size * count
    if count > MOST_SECTIONS or len(data) < table + CHECKSUM.size:
        raise _Damaged("it ends inside its table of sections")
    if not trust and CHECKSUM.unpack_from(data, table)[0] != zlib.crc32(data[:table]):
        raise _Damaged("the checksum of its header is wrong")
    end = table + CHECKSUM.size
    for number in range(count):
        name, offset, length, checksum = ENTRY.unpack_from(data, HEADER.size + ENTRY.size * number)
        if offset != end or offset + length > len(data):
            raise _Damaged(f"section {_shown(name)} is not where it should be, or cut off")
        content = data[offset : offset + length]
        if not trust and zlib.crc32(content) != checksum:
            raise _Damaged(f"the checksum of section {_shown(name)} is wrong")
        end += length
        yield name, content
    if end != len(data):
        raise _Damaged(f"{len(data) - end} bytes follow its last section")


def _shown(name: bytes) -> str:
    return ascii(name.decode("latin-1"))
