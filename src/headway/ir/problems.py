"""Collect every problem of a program, then raise once."""

from __future__ import annotations

from collections.abc import Callable

from headway.errors import Diagnostic, InvalidProgram, Location, Note

Quote = Callable[[Location], str | None]
"""Returns the line of text at a place, or None if there is no text."""

_MOST = 20
"""Problems that are shown."""

_ENOUGH = 1000
"""Problems after which nobody looks for more."""


def no_quote(at: Location) -> str | None:
    """Quote nothing: the program was not read from a text."""
    return None


class Problems:
    """The problems found so far."""

    def __init__(self, quote: Quote = no_quote) -> None:
        self._quote = quote
        self._found: list[Diagnostic] = []
        self.count = 0

    def add(
        self,
        message: str,
        at: Location | None = None,
        *,
        notes: tuple[Note, ...] = (),
        rule: str = "",
        help: str = "",
    ) -> None:
        """Take note of one problem. Raise InvalidProgram if there are very many already."""
        self.count += 1
        if self.count == _ENOUGH:
            self.raise_any()
        if self.count > _MOST:
            return
        source = (self._quote(at) if at else None) or None
        self._found.append(Diagnostic(message, at, notes, rule, help, source))

    def raise_any(self) -> None:
        """Raise InvalidProgram with all problems in the order of their places, if there are any."""
        self._found.sort(key=lambda problem: problem.at[1:] if problem.at else (0, 0))
        if self.count > _MOST:
            least = "at least " if self.count >= _ENOUGH else ""
            more = f"{least}{self.count - _MOST} more problems are not shown"
            self._found.append(Diagnostic(more))
        if self._found:
            raise InvalidProgram(*self._found)
