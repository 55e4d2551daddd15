"""What a pass is: a rule that turns engine programs into others that implement the same program.

A pass is one file of this folder, named like the pass, with one object `PASS`.
Packages outside register theirs under the entry-point group `headway.passes`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from headway.sync.program import SyncProgram
from headway.targets.target import Target


@dataclass(frozen=True, slots=True)
class Concession:
    """What a pass gave up, because the target has too little: `engine` is "" if all are meant."""

    kind: str
    engine: str
    message: str

    def __str__(self) -> str:
        return f"{self.engine}: {self.message}" if self.engine else self.message

    def to_json(self) -> dict[str, str]:
        """Return the documented JSON form."""
        return {"kind": self.kind, "engine": self.engine, "message": self.message}


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


@runtime_checkable
class ConcedingPass(SyncPass, Protocol):
    """A pass that gives something up where the target has too little, and says so."""

    def fit(self, sync: SyncProgram, target: Target) -> tuple[SyncProgram, tuple[Concession, ...]]:
        """Do what `apply` does, and return what was given up."""
        ...
