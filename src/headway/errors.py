"""Everything that Headway raises on purpose, and the places it points at.

HeadwayError            any problem a user can mend; carries a Diagnostic
├── SyntaxProblem       text that is not in the language, with file, line and column
├── InvalidProgram      a well-formed text that breaks a rule of the model
├── InvalidInput        a run-time input, option or file that does not fit the program
│   └── OverLimit       a run that is longer than its limit
├── UnsupportedByTarget a program that the chosen target or strategy cannot carry
└── CheckFailed         a synchronized program that was judged and is not exact

The command line prints the diagnostic and exits with 1, or with 3 for CheckFailed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Location(NamedTuple):
    """A place in a source text; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Note:
    """A second place that explains the first."""

    message: str
    at: Location | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem: the fact, its place, related places, the rule it breaks and the way out.

    `source` is the text of the line at `at`; it is quoted with a caret under the column.
    """

    message: str
    at: Location | None = None
    notes: tuple[Note, ...] = ()
    rule: str = ""
    help: str = ""
    source: str | None = None

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterable[str]:
        yield f"{_prefix(self.at)}error: {self.message}"
        if self.at and self.source is not None:
            yield from _quote(self.source, self.at)
        for note in self.notes:
            yield f"  note: {_prefix(note.at)}{note.message}"
        if self.rule:
            yield f"  rule: {self.rule}"
        if self.help:
            yield f"  help: {self.help}"


_QUOTE_WIDTH = 100


def _quote(source: str, at: Location) -> Iterable[str]:
    """Quote at most `_QUOTE_WIDTH` characters of the line around the column."""
    start = max(0, at.column - 1 - _QUOTE_WIDTH // 2) if len(source) > _QUOTE_WIDTH else 0
    number = f"{at.line:>4} | "
    shown = source[start : start + _QUOTE_WIDTH]
    yield number + "".join(c if c.isprintable() else " " for c in shown)
    yield " " * (len(number) - 2) + "| " + " " * (at.column - 1 - start) + "^"


def _prefix(at: Location | None) -> str:
    return f"{at}: " if at else ""


def counted(number: int, noun: str) -> str:
    """Return the number and the noun, which takes an `s` unless there is one: `1 wait`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class HeadwayError(Exception):
    """A problem that the user can mend. `diagnostics` holds at least one."""

    def __init__(self, *diagnostics: Diagnostic | str) -> None:
        self.diagnostics = tuple(
            d if isinstance(d, Diagnostic) else Diagnostic(d) for d in diagnostics
        )
        super().__init__("\n".join(map(str, self.diagnostics)))


class SyntaxProblem(HeadwayError):
    """The text is not in the language."""


class InvalidProgram(HeadwayError):
    """The program breaks a rule of the model."""


class InvalidInput(HeadwayError):
    """A run-time input, an option or a file does not fit."""


class OverLimit(InvalidInput):
    """A run is longer than its limit."""


class UnsupportedByTarget(HeadwayError):
    """The target or the strategy cannot carry this program."""


class CheckFailed(HeadwayError):
    """A synchronized program was judged and is not exact."""
