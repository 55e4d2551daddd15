"""What a front end is: it reads files of a form of its own as sequential programs.

A front end is one file of this folder, with one object `FRONTEND`. Packages outside register
theirs under the entry-point group `headway.frontends`. Every command takes the files of a front end
where it takes a `.hwy` file. NKI kernels have arguments, so that they have a command: `headway
trace`.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Protocol

from headway.ir.program import Program
from headway.registry import Registry


class FrontEnd(Protocol):
    """A reader of programs."""

    @property
    def name(self) -> str:
        """The name in lists, in kebab case."""
        ...

    @property
    def description(self) -> str:
        """One line for lists and help."""
        ...

    @property
    def suffix(self) -> str:
        """How the names of its files end, such as `.mlir`."""
        ...

    def read(self, text: str, file: str) -> Program:
        """Return the program in a text; `file` is what messages call it.

        Raise SyntaxProblem with a place if the text is not in the form.
        """
        ...


REGISTRY = Registry[FrontEnd]("front end", "headway.frontends", "FRONTEND")


def front_end_of(file: str) -> FrontEnd | None:
    """Return the front end that reads files of such a name, if there is one."""
    suffix = PurePath(file).suffix
    return next((known for known in REGISTRY.all().values() if known.suffix == suffix), None)
