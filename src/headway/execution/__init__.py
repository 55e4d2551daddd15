"""Run a program with values: one instruction after the other, and on engines that run at once."""

from headway.execution.binary import from_instructions
from headway.execution.compare import Outcome, run
from headway.execution.concurrent import concurrent
from headway.execution.sequential import sequential

__all__ = ["Outcome", "concurrent", "from_instructions", "run", "sequential"]
