"""Names and words of the language, and what to say about a misspelled one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

DECLARATIONS = ("input", "engine", "queue", "buffer")
HEADS = ("loop", "while", "if")
CLAUSES = ("triggers", "reads", "writes", "takes", "does")
MARKS = ("silent", "fused")
"""Clauses of one word."""

SYNC = ("wait", "waits", "barrier", "exec", "registers", "set", "take", "at")

WORDS = frozenset(
    (*DECLARATIONS, *HEADS, *CLAUSES, *MARKS, *SYNC, "else", "load", "and", "or", "min", "max")
)
"""Words that no engine, input, loop or register may be called."""

NAME = r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*"
TITLE = r"[A-Za-z_][A-Za-z0-9_.-]*"
NAME_RULE = "a name has letters, digits and _, in parts joined by dots (docs/language.md#names)"

_NAME = re.compile(NAME, re.ASCII)
_TITLE = re.compile(TITLE, re.ASCII)
_LONGEST = 40


def is_name(word: str) -> bool:
    """Tell whether `word` can be the name of a thing in a program."""
    return _NAME.fullmatch(word) is not None


def is_title(word: str) -> bool:
    """Tell whether `word` can be the name of a program, a strategy or a target."""
    return _TITLE.fullmatch(word) is not None


def shown(word: str) -> str:
    """Quote a word for a message; a long one is cut, an unprintable one is escaped."""
    return repr(word if len(word) <= _LONGEST else word[: _LONGEST - 3] + "...")


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return "did you mean ...?" if `word` looks like one of `known`, else an empty text."""
    if len(word) > _LONGEST or word in (candidates := tuple(known)):
        return ""
    close = get_close_matches(word, candidates, n=1, cutoff=0.7)
    return f"did you mean {close[0]!r}?" if close else ""
