"""Find the binary that a command is about, or the engine programs to make one of."""

from __future__ import annotations

from headway.cli.files import display_name, read_bytes
from headway.cli.programs import parsed_synced
from headway.errors import Diagnostic, InvalidInput
from headway.ir import decode
from headway.ir.program import Program
from headway.isa import Module, assemble, from_binary, is_assembly, is_binary, lower
from headway.sync import parse_any
from headway.sync.program import SyncProgram


def load(name: str) -> Module | SyncProgram:
    """Return what is in a binary, in assembly text or in a synchronized `.hwy` file."""
    loaded = load_bytes(read_bytes(name), name)
    return parsed_synced(loaded, name) if isinstance(loaded, Program) else loaded


def load_bytes(data: bytes, name: str) -> Module | SyncProgram | Program:
    """Return what a file of that content holds. Raise HeadwayError."""
    shown = display_name(name)
    if is_binary(data):
        return from_binary(data, shown)
    text = decode(data, shown)
    return assemble(text, shown) if is_assembly(text) else parse_any(text, shown)


def load_module(name: str) -> Module:
    """Return the module in a file; engine programs are lowered. Raise HeadwayError."""
    loaded = load(name)
    return loaded if isinstance(loaded, Module) else lower(loaded)


def load_binary(name: str) -> Module:
    """Return the module in a binary. Raise InvalidInput if the file is none."""
    data = read_bytes(name)
    if is_binary(data):
        return from_binary(data, display_name(name))
    raise InvalidInput(
        Diagnostic(f"{display_name(name)} is not a binary", help=f"headway asm {name} -o FILE.hwb")
    )
