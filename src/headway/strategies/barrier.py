"""The baseline: all-engine barriers, placed as sparingly as static thresholds allow.

In     a bound program
Out    engine programs whose thresholds are constants that count from the last barrier
Keeps  no instance early; instances may be late, that is the point of the comparison
Cost   linear

A barrier stands before a loop if anything was issued since the last one, at the end of every
iteration (which covers the back edge, the exit and the loop that does not run), and after an if in
which, or before which, anything was issued. It drains all engines and queues before it resets the
counters, and nobody resets before everybody has arrived. Short loops are written out first, as
`counted` does it: there is no iteration boundary then.
"""

from __future__ import annotations

from dataclasses import dataclass

from headway.ir.program import Program
from headway.strategies import _barriers
from headway.sync.program import SyncProgram
from headway.targets.target import Target


@dataclass(frozen=True, slots=True)
class Barrier:
    """Barriers only where a segment of static thresholds has to end."""

    name: str = "barrier"
    description: str = "barriers only where a segment of static thresholds has to end"

    def synchronize(self, program: Program, target: Target) -> SyncProgram:
        """Return the engine programs. Never refuses a program."""
        return _barriers.synchronize(program, target.name, self.name, always=False)


STRATEGY = Barrier()
