"""What a pass is: a rule that turns engine programs into others that implement the same program.

A pass is one file of this folder, named like the pass, with one object `PASS`.
Packages outside register theirs under the entry-point group `headway.passes`.
"""

from __future__ import annotations

from typing import Protocol

from headway.sync.program import SyncProgram
from headway.targets.target import Target


class SyncPass(Protocol):
    """A step between a strategy and a target."""

    @property
    def name(self) -> str:
        """The name on the command line, in kebab case."""
        ...

    @property
    def description(self) -> str:
        """One line for lists and help."""
        ...

    def apply(self, sync: SyncProgram, target: Target) -> SyncProgram:
        """Return engine programs that are never early where those given are not.

        Raise UnsupportedByTarget if the target cannot carry them.
        """
        ...
