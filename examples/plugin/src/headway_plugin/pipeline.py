"""Read a pipeline: the stages that each of n tiles goes through, with two slots per buffer.

A line has an engine, an instruction, the buffer that it reads, the one that it writes, and the ns
that it takes:

    cube      multiply     a      b       300
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from headway.errors import Diagnostic, Location, SyntaxProblem
from headway.ir.expr import Binary, Input, Iteration
from headway.ir.program import Access, Buffer, Engine, InputDecl, Instr, Loop, Program, Takes

SLOTS = 2
COLUMNS = ("engine", "instruction", "reads", "writes", "ns")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Reads files `*.pipeline`."""

    name: str = "pipeline"
    description: str = "a table of the stages that each tile goes through"
    suffix: str = ".pipeline"

    def read(self, text: str, file: str) -> Program:
        """Return the program. Raise SyntaxProblem at the first line that is not in the form."""
        stages = [
            _stage(line.split(), Location(file, number, 1), line)
            for number, line in enumerate(text.splitlines(), 1)
            if line.split("#")[0].strip()
        ]
        buffers = dict.fromkeys(x.buffer for s in stages for x in (*s.reads, *s.writes))
        return Program(
            Path(file).stem,
            (Loop("i", Input("n"), tuple(stages)),),
            inputs=(InputDecl("n"),),
            engines=tuple(map(Engine, dict.fromkeys(stage.engine for stage in stages))),
            buffers=tuple(Buffer(name, SLOTS) for name in buffers),
        )


def _stage(words: list[str], at: Location, line: str) -> Instr:
    if len(words) != len(COLUMNS) or not words[-1].isdigit():
        rule = f"a line has {len(COLUMNS)} words: {', '.join(COLUMNS)}; - is no buffer"
        raise SyntaxProblem(Diagnostic("this is no stage", at, rule=rule, source=line))
    engine, name, reads, writes, ns = words
    takes = Takes(float(ns), float(ns))
    return Instr(name, engine, None, _access(reads), _access(writes), cost=takes, at=at)


def _access(buffer: str) -> tuple[Access, ...]:
    return () if buffer == "-" else (Access(buffer, Binary("%", Iteration("i"), SLOTS)),)


FRONTEND = Pipeline()
