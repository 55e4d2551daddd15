"""The simple baseline: barriers before and after every loop and at the end of every iteration.

In     a bound program
Out    engine programs whose thresholds are constants that count from the last barrier
Keeps  no instance early; instances may be late
Cost   linear
"""

from __future__ import annotations

from dataclasses import dataclass

from headway.ir.program import Program
from headway.strategies import _barriers
from headway.sync.program import SyncProgram
from headway.targets.target import Target


@dataclass(frozen=True, slots=True)
class BarrierAlways:
    """Barriers around every loop and at the end of every iteration."""

    name: str = "barrier-always"
    description: str = "barriers around every loop and at the end of every iteration"

    def synchronize(self, program: Program, target: Target) -> SyncProgram:
        """Return the engine programs. Never refuses a program."""
        return _barriers.synchronize(program, target.name, self.name, always=True)


STRATEGY = BarrierAlways()
