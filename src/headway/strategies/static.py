"""Static thresholds: in code without loops and ifs every wait is for a fixed count.

In     a bound program of instructions only
Out    one wait with a constant threshold for each dependence that is not implied by others
Keeps  no instance early, none late
Cost   linear

    vector add writes(x)                 engine tensor {
    tensor mm reads(x)            ->       mm waits vector >= 1
                                         }
"""

from __future__ import annotations

from dataclasses import dataclass

from headway.analysis.segment import Segment
from headway.errors import Diagnostic, Location, UnsupportedByTarget
from headway.ir.atoms import Atoms
from headway.ir.program import Instr, Program
from headway.sync.program import EngineProgram, Exec, SyncNode, SyncProgram, Threshold, Wait
from headway.targets.target import Target


@dataclass(frozen=True, slots=True)
class Static:
    """Constant thresholds; straight-line code only."""

    name: str = "static"
    description: str = "constant thresholds, for programs without loops and ifs"

    def synchronize(self, program: Program, target: Target) -> SyncProgram:
        """Return the engine programs. Raise UnsupportedByTarget at the first loop or if."""
        segment = Segment(program, Atoms(program))
        bodies: dict[str, list[SyncNode]] = {engine: [] for engine in program.hosts}
        for node in program.body:
            if not isinstance(node, Instr):
                raise UnsupportedByTarget(_no_control(node.at))
            waits = tuple(
                Wait(q, Threshold(None, position)) for q, position in segment.add(node).items()
            )
            bodies[node.engine].append(Exec(node.name, waits, node.at))
        engines = tuple(EngineProgram(engine, tuple(body)) for engine, body in bodies.items())
        return SyncProgram(program, engines, self.name, target.name)


def _no_control(at: Location | None) -> Diagnostic:
    return Diagnostic(
        "'static' cannot synchronize loops and ifs",
        at,
        rule="a fixed count of completions exists in straight-line code only",
        help="choose another strategy: `headway list strategies`",
    )


STRATEGY = Static()
