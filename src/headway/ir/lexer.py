"""The words of a text and the place of each: one regular expression for both kinds of program.

Words are plain strings in one list. Their places are worked out only when somebody asks: for the
start of a node, or for an error. A text ends with the word `END`, which is empty.

A clause such as `reads(x[i % 2], y)` is one word, and a `Piece` has the words inside it. Big
programs repeat few clauses many times: each is cut up once, which makes reading much faster.
A clause that spans lines or nests parentheses deeply is several words from the start.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from headway.errors import Diagnostic, Location, SyntaxProblem
from headway.ir.names import CLAUSES, NAME, TITLE

END = ""

_NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_SIGN = r"[][(){},%+*-]"  # the frequent ones come first
_FINE = rf"{_SIGN}|{NAME}|{_NUMBER}|@{TITLE}|:=|//|[<>=!]=|\S"
_CLAUSE = rf"(?:{'|'.join(CLAUSES)})\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)"

_WORD = re.compile(_FINE, re.ASCII)
_COARSE_WORD = re.compile(f"{_CLAUSE}|{_FINE}", re.ASCII)
_BLANKS = " \t\r\f\v"


class Text:
    """A text cut into words."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.words: list[str] = []
        self._lines = text.split("\n")
        self._firsts: list[int] = []  # of each line, the number of its first word
        self._starts: tuple[int, list[int]] = (-1, [])  # of one line, where its words start
        find = _COARSE_WORD.findall
        for line in self._lines:
            self._firsts.append(len(self.words))
            self.words += find(_code(line))
        self.words.append(END)

    def place(self, index: int) -> Location:
        """Return the place of the word number `index`."""
        number = bisect_right(self._firsts, index) - 1
        line, nth = self._lines[number], index - self._firsts[number]
        if index == len(self.words) - 1:
            start = len(line.rstrip(_BLANKS))
        elif nth == 0:
            start = len(line) - len(line.lstrip(_BLANKS))
        else:
            start = self._starts_of(number)[nth]
        return Location(self.file, number + 1, start + 1)

    def line(self, at: Location) -> str | None:
        """Return the line at a place of this text."""
        return self._lines[at.line - 1] if at.file == self.file else None

    def line_words(self, index: int) -> list[str]:
        """Return the words of the line of word number `index`, up to and with that word."""
        return self.words[self._firsts[bisect_right(self._firsts, index) - 1] : index + 1]

    def _starts_of(self, number: int) -> list[int]:
        if self._starts[0] != number:
            found = _COARSE_WORD.finditer(_code(self._lines[number]))
            self._starts = (number, [match.start() for match in found])
        return self._starts[1]


class Piece(Text):
    """The words of a clause that is one word of another text; their places are in that text."""

    def __init__(self, whole: Text, index: int) -> None:
        self.file = whole.file
        self.words = [*_WORD.findall(whole.words[index]), END]
        self._whole = whole
        self._index = index

    def place(self, index: int) -> Location:
        """Return the place of the word number `index`."""
        at = self._whole.place(self._index)
        starts = [match.start() for match in _WORD.finditer(self._whole.words[self._index])]
        return at._replace(column=at.column + starts[index])

    def line(self, at: Location) -> str | None:
        """Return the line at a place of the whole text."""
        return self._whole.line(at)

    def line_words(self, index: int) -> list[str]:
        """Return the words of the clause up to and with word number `index`."""
        return self.words[: index + 1]


def _code(line: str) -> str:
    """Return a line without its comment. `//` inside a line is the division."""
    if "#" in line:
        line = line[: line.index("#")]
    return "" if "//" in line and line.lstrip(_BLANKS).startswith("//") else line


def first_word(text: str) -> str:
    """Return the first word of a text, without cutting all of it into words."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        if match := _WORD.search(_code(text[start:end])):
            return match.group()
        start = end
    return END


def decode(data: bytes, file: str) -> str:
    """Return the text of a file. Raise SyntaxProblem if it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        column = error.start - (before.rfind(b"\n") + 1) + 1
        raise SyntaxProblem(
            Diagnostic(
                f"byte 0x{data[error.start]:02x} is not UTF-8 text",
                Location(file, line, column),
                help="a program is a file of UTF-8 text: save it as UTF-8, or name another file",
            )
        ) from None
