"""Find plug-ins by name: one file of a package folder, or an entry point of another distribution.

The strategy `barrier-always` is the object `STRATEGY` of `headway/strategies/barrier_always.py`.
Another distribution adds one by an entry point of that name in the group `headway.strategies`.
Names are listed without importing a plug-in. Folder and entry points are looked at once.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from headway.errors import Diagnostic, InvalidInput

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


@dataclass(frozen=True)  # with slots, Python 3.11 cannot make a `Registry[T](...)`
class Registry(Generic[T]):
    """The plug-ins of one kind. `package` names the folder and the group of entry points."""

    kind: str
    package: str
    attribute: str

    def names(self) -> tuple[str, ...]:
        """Return every name that `load` knows, sorted."""
        return tuple(sorted({*self._modules, *self._entry_points}))

    def load(self, name: str) -> T:
        """Return the plug-in of that name; Headway's own come first. Raise InvalidInput."""
        module = self._modules.get(name)
        if module is not None:
            return getattr(importlib.import_module(module), self.attribute)
        entry = self._entry_points.get(name)
        if entry is None:
            raise InvalidInput(unknown(self.kind, name, self.names()))
        try:
            return entry.load()
        except Exception as error:
            raise InvalidInput(self._broken(entry, error)) from error

    def all(self) -> dict[str, T]:
        """Return every plug-in by name, sorted."""
        return {name: self.load(name) for name in self.names()}

    @cached_property
    def _modules(self) -> dict[str, str]:
        """Return the full names of the modules that assign the attribute, by plug-in name."""
        assignment = re.compile(rf"^{self.attribute}\b[^=\n]*= ", re.MULTILINE)
        return {
            path.stem.replace("_", "-"): f"{self.package}.{path.stem}"
            for path in self._files()
            if assignment.search(path.read_text(encoding="utf-8"))
        }

    def _files(self) -> Iterator[Path]:
        spec = find_spec(self.package)
        for folder in (spec.submodule_search_locations if spec else None) or ():
            for module in pkgutil.iter_modules([folder]):
                if not module.ispkg:
                    yield Path(folder, f"{module.name}.py")

    @cached_property
    def _entry_points(self) -> dict[str, EntryPoint]:
        from importlib.metadata import entry_points  # slow to import

        return {entry.name: entry for entry in entry_points(group=self.package)}

    def _broken(self, entry: EntryPoint, error: Exception) -> Diagnostic:
        message = f"{self.kind} {entry.name!r} cannot be loaded from {entry.value!r}: {error}"
        return Diagnostic(message, help="repair or remove the package that registers it")


def unknown(kind: str, name: str, known: tuple[str, ...]) -> Diagnostic:
    """Return the message for a name that is not in `known`, with the closest one that is."""
    close = get_close_matches(name, known, n=1)
    question = f"did you mean {close[0]!r}? " if close else ""
    listed = ", ".join(known) or "none"
    return Diagnostic(f"unknown {kind} {name!r}", help=f"{question}known: {listed}")
