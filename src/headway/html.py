"""Pieces of HTML with which results show themselves in a notebook.

They work on light and dark pages: colours of text are those of the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

MOST_LINES = 400
"""Lines of a program that are shown; the others are counted."""

RIGHT, LEFT = (
    f' style="text-align:{side};padding:2px 8px;white-space:nowrap"' for side in ("right", "left")
)
GOOD, BAD = "#1a7f37", "#c62828"


def program(text: str) -> str:
    """Return a program, or its beginning."""
    lines = text.rstrip("\n").split("\n")
    more = len(lines) - MOST_LINES
    shown = lines[:MOST_LINES] + ([f"... and {more:,} more lines"] if more > 0 else [])
    style = "max-height:28em;overflow:auto;line-height:1.35;font-size:85%;margin:0.3em 0"
    body = escape("\n".join(shown))
    return f'<pre style="{style}">{body}</pre>'


def columns(titled: Iterable[tuple[str, str]]) -> str:
    """Return programs beside each other, each with its title."""
    parts = "".join(
        f'<div style="flex:1 1 18em;min-width:0"><b>{escape(title)}</b>{program(text)}</div>'
        for title, text in titled
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:1em">{parts}</div>'


def table(rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """Return a table; the first row is its header, and the first column stands left."""
    head, *body = ("".join(_cells(row, "td" if n else "th")) for n, row in enumerate(rows))
    title = f'<caption style="text-align:left">{escape(caption)}</caption>' if caption else ""
    rest = "".join(f"<tr>{row}</tr>" for row in body)
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{rest}</tbody></table>"


def _cells(row: Sequence[str], tag: str) -> Iterable[str]:
    for number, text in enumerate(row):
        style = RIGHT if number else LEFT
        yield f"<{tag}{style}>{escape(text)}</{tag}>"


def notes(texts: Iterable[str]) -> str:
    """Return lines of text."""
    return "".join(f"<div>{escape(text)}</div>" for text in texts)


def verdict(word: str, is_good: bool, rest: str) -> str:
    """Return a word in the colour of its meaning, and text."""
    colour = GOOD if is_good else BAD
    style = f"background:{colour};color:white;border-radius:4px;padding:1px 7px"
    return f'<div><b style="{style}">{escape(word)}</b> {escape(rest)}</div>'
