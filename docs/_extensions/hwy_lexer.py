"""Colours for the `.hwy` language."""

from __future__ import annotations

from typing import ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, Text
from sphinx.application import Sphinx

from headway.ir.names import WORDS

TITLES = words(("program", "sync", "strategy", "target"), suffix=r"\b(?= +[@\w])")
MORE = words(("on", "pipelined", "slots", "shape", "space", "flag", "semaphore"), suffix=r"\b")


class HwyLexer(RegexLexer):
    """Words, names, numbers and comments."""

    name = "hwy"
    aliases: ClassVar = ["hwy"]
    filenames: ClassVar = ["*.hwy"]
    tokens: ClassVar = {
        "root": [
            (r"^\s*//.*$|#.*$", Comment.Single),
            (r"@[\w-]+", Name.Function),
            (words(tuple(WORDS), suffix=r"\b"), Keyword),
            (TITLES, Keyword),
            (MORE, Keyword),
            (r"\d+(\.\d+)?", Number),
            (r"[A-Za-z_][\w.]*", Name),
            (r":=|>=|<=|==|!=|//|[-+*%<>=]", Operator),
            (r"[{}()\[\],:;.]", Punctuation),
            (r"\s+", Text.Whitespace),
            (r".", Text),
        ]
    }


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect with Sphinx."""
    app.add_lexer("hwy", HwyLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
