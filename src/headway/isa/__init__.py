"""The back end: an instruction set, binaries, and machines that run them. See docs/isa.md."""

from headway.isa.assembler import assemble, is_assembly
from headway.isa.binary import from_binary, to_binary
from headway.isa.container import is_binary
from headway.isa.disassembler import disassemble
from headway.isa.judge import check
from headway.isa.lower import lower
from headway.isa.module import Module, Stream
from headway.isa.timing import simulate
from headway.isa.verify import verify

__all__ = [
    "Module",
    "Stream",
    "assemble",
    "check",
    "disassemble",
    "from_binary",
    "is_assembly",
    "is_binary",
    "lower",
    "simulate",
    "to_binary",
    "verify",
]
