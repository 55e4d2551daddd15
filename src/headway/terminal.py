"""What a terminal shows better: lines that fit its width, and colours.

Into a pipe or a file goes the plain text, each line whole. `NO_COLOR` and `TERM=dumb` leave colours
out, and `COLUMNS` is the width if it is set.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from typing import TextIO

NARROWEST = 20
HANG = 4

_RED, _GREEN, _BLUE, _BOLD, _PLAIN = (f"\x1b[{code}m" for code in ("1;31", "32", "36", "1", "0"))
_STYLES = (
    (re.compile(r"^(exact|proved|sound|like the ideal machine)\b"), _GREEN),
    (re.compile(r"^(early|late|deadlock|unsupported|refuted|refused|undecided)\b"), _RED),
    (re.compile(r"(?<=: )(error):(?= )|^(error):"), _RED),
    (re.compile(r"^  (note|rule|help):"), _BLUE),
)


def width(stream: TextIO | None = None) -> int | None:
    """Return how many characters a line has; None if the stream is not a terminal."""
    stream = stream or sys.stdout
    if not stream or not stream.isatty():
        return None
    return max(shutil.get_terminal_size().columns, NARROWEST)


def has_colours(stream: TextIO) -> bool:
    """Tell whether the stream shows colours, and the user wants them (https://no-color.org)."""
    is_wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return is_wanted and stream.isatty()


def show(text: str, stream: TextIO | None = None) -> None:
    """Print a text, fit for where it goes."""
    stream = stream or sys.stdout
    columns = width(stream)
    lines = text.splitlines()
    if columns:
        lines = [part for line in lines for part in _folded(line, columns)]
    if stream and has_colours(stream):
        lines = list(map(_styled, lines))
    print("\n".join(lines), file=stream)


def _folded(line: str, columns: int) -> Iterator[str]:
    """Yield a line in parts that fit, where it has blanks to break at; no word is cut."""
    if len(line) <= columns:
        yield line
        return
    indent = len(line) - len(line.lstrip())
    yield from textwrap.wrap(
        line,
        columns,
        subsequent_indent=" " * min(indent + HANG, columns // 2),
        break_long_words=False,
        break_on_hyphens=False,
        drop_whitespace=True,
    )


def _styled(line: str) -> str:
    for pattern, style in _STYLES:
        found = pattern.search(line)
        if found:
            return f"{line[: found.start()]}{style}{found[0]}{_PLAIN}{line[found.end() :]}"
    return line
