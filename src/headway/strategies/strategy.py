"""What a strategy is: a rule that turns a sequential program into engine programs.

A strategy is one file of this folder, named like the strategy, with one object `STRATEGY`.
Packages outside register theirs under the entry-point group `headway.strategies`.
"""

from __future__ import annotations

from typing import Protocol

from headway.ir.program import Program
from headway.sync.program import SyncProgram
from headway.targets.target import Target


class Strategy(Protocol):
    """A way to synchronize."""

    @property
    def name(self) -> str:
        """The name on the command line, in kebab case."""
        ...

    @property
    def description(self) -> str:
        """One line for lists and help."""
        ...

    def synchronize(self, program: Program, target: Target) -> SyncProgram:
        """Return the engine programs of a verified program that is bound to `target`.

        Raise UnsupportedByTarget if the strategy cannot carry the program.
        """
        ...
