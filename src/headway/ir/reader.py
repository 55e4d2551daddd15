"""A cursor over the words of a text, with the parts that both kinds of program share."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

from headway.errors import Diagnostic, Location, Note, SyntaxProblem
from headway.ir.expr import Binary, Expr, Input, Iteration, Leaf
from headway.ir.expr_text import COMPARISON, MAX_DEPTH, PRECEDENCE, TOO_BIG, is_too_big
from headway.ir.lexer import END, Text
from headway.ir.names import WORDS, is_name, shown, suggestion

T = TypeVar("T")

_NAME_STARTS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
_MAX_DIGITS = 18
_KINDS = {"program": "a sequential program", "sync": "a synchronized program"}
_MAX_LEVEL = 4 * MAX_DEPTH  # of parentheses and operations in text; the tree is judged later


class Reader:
    """Reads words from `index` on. `names` says what a bare name in an expression stands for."""

    def __init__(self, text: Text, index: int = 0, names: dict[str, Leaf] | None = None) -> None:
        self.text = text
        self.words = text.words
        self.index: int = index
        self.names: dict[str, Leaf] = {} if names is None else names

    # Errors

    def fail(
        self, message: str, index: int | None = None, help: str = "", notes: tuple[Note, ...] = ()
    ) -> NoReturn:
        """Raise SyntaxProblem at the word number `index`, by default the next one."""
        index = self.index if index is None else index
        at = self.text.place(index)
        help = help or self._spelling(index)
        source = self.text.line(at) or None  # an empty line says nothing
        raise SyntaxProblem(Diagnostic(message, at, notes=notes, help=help, source=source))

    def expected(self, what: str) -> NoReturn:
        """Raise SyntaxProblem: `what` should stand where the next word stands."""
        word = self.words[self.index]
        if word == END:
            self.fail(f"the text ends where {what} is expected")
        self.fail(f"{what} is expected, not {shown(word)}")

    def never_closed(self, brace: int) -> NoReturn:
        """Raise SyntaxProblem: the text has ended inside the braces opened at word `brace`."""
        note = Note("this '{' is not closed", self.text.place(brace))
        self.fail("the text ends where '}' is expected", notes=(note,))

    def _spelling(self, index: int) -> str:
        """A misspelled word is taken for a name, and what follows it fails: look at them all."""
        if self.words[index] == "//":
            return "inside a line // is the division; a comment starts with #"
        if self.words[index].isalpha() and not self.words[index].isascii():
            return "names have the letters A to Z and a to z only"
        for word in self.text.line_words(index)[-5:]:
            is_unknown = is_name(word) and word not in self.names
            if is_unknown and (help := suggestion(word, WORDS)):
                return help
        return ""

    # Words

    def here(self) -> Location:
        """Return the place of the next word."""
        return self.text.place(self.index)

    def expect(self, word: str) -> None:
        """Skip `word`; it has to be the next one."""
        if self.words[self.index] != word:
            self.expected(shown(word))
        self.index += 1

    def accept(self, word: str) -> bool:
        """Skip `word` if it is the next one, and tell whether it was."""
        if self.words[self.index] != word:
            return False
        self.index += 1
        return True

    def name(self, what: str) -> str:
        """Read a name; `what` is what it names."""
        word = self.words[self.index]
        if word[:1] not in _NAME_STARTS:
            self.expected(what)
        self.index += 1
        return word

    def free_name(self, what: str) -> str:
        """Read a name that is not a word of the language."""
        word = self.words[self.index]
        if word in WORDS:
            self.fail(f"{what} is expected, and {word!r} is a word of the language")
        return self.name(what)

    def title(self, what: str) -> str:
        """Read the name of a strategy or target, which may have hyphens."""
        parts = [self.name(what)]
        while self.accept("-"):
            word = self.words[self.index]
            parts.append(str(self.integer(what)) if word.isdecimal() else self.name(what))
        return "-".join(parts)

    def integer(self, what: str) -> int:
        """Read a number without sign, point or exponent."""
        word = self.words[self.index]
        if not "0" <= word < ":":
            self.expected(what)
        if not word.isdecimal():
            self.fail(f"{what} is expected, and {shown(word)} is not a whole number")
        if len(word) > _MAX_DIGITS:
            self.fail(f"a number has at most {_MAX_DIGITS} digits, and this one has {len(word)}")
        self.index += 1
        return int(word)

    def listed(self, item: Callable[[], T]) -> tuple[T, ...]:
        """Read one or more items with commas between them."""
        items = [item()]
        while self.words[self.index] == ",":
            self.index += 1
            items.append(item())
        return tuple(items)

    def enclosed(self, item: Callable[[], T]) -> tuple[T, ...]:
        """Read one or more items with commas between them and parentheses around them."""
        self.expect("(")
        items = self.listed(item)
        self.expect(")")
        return items

    def program_name(self) -> str:
        """Read `@name`."""
        word = self.words[self.index]
        if len(word) < 2 or word[0] != "@":
            self.expected("the name of the program, as @name,")
        self.index += 1
        return word[1:]

    def begin(self, word: str) -> None:
        """Skip the word that a text starts with."""
        first = self.words[self.index]
        if first == END and self.index == 0:
            self.fail("the text is empty", help="a program starts with: program @name {")
        if first != word and first in _KINDS:
            self.fail(f"{_KINDS[word]} is expected, and this is {_KINDS[first]}")
        if first == END:
            self.expected(shown(word))
        if first != word:
            self.fail(
                f"{shown(word)} is expected, not {shown(first)}",
                help=suggestion(first, _KINDS) or f"a text starts with: {word} @name {{",
            )
        self.index += 1

    def end(self) -> None:
        """Check that no word is left."""
        if self.words[self.index] != END:
            self.fail(
                f"{shown(self.words[self.index])} comes after the end of the program",
                help="a text holds one program; each '}' closes one '{'",
            )

    # Expressions

    def expression(self) -> Expr:
        """Read an expression within the limits of `headway.ir.expr_text`."""
        start = self.index
        expr = self._binary(1, 0)
        if self.index - start > MAX_DEPTH and is_too_big(expr):
            self._too_big(start)
        return expr

    def _too_big(self, index: int) -> NoReturn:
        self.fail(TOO_BIG, index, help="compute a part of it beforehand, as an input")

    def _binary(self, floor: int, level: int) -> Expr:
        """Read operations that bind at least as tightly as `floor`, from left to right."""
        words = self.words
        left = self._operand(level)
        chained = 0
        while (rank := PRECEDENCE.get(words[self.index], 0)) >= floor:
            operator = words[self.index]
            chained += 1
            if chained > MAX_DEPTH:
                self._too_big(self.index)
            self.index += 1
            left = Binary(operator, left, self._binary(rank + 1, level + 1))
            if rank == COMPARISON == PRECEDENCE.get(words[self.index]):
                self.fail("comparisons do not chain", help="join them with 'and'")
        return left

    def _operand(self, level: int) -> Expr:
        word = self.words[self.index]
        leaf = self.names.get(word)
        if leaf is not None:
            self.index += 1
            return leaf if self.words[self.index] != "[" else self._element(leaf, level)
        if "0" <= word < ":":
            return self.integer("a number")
        if level >= _MAX_LEVEL:
            self._too_big(self.index)
        return self._compound(word, level + 1)

    def _compound(self, word: str, level: int) -> Expr:
        if word == "(":
            self.index += 1
            inner = self._binary(1, level)
            self.expect(")")
            return inner
        if word == "-":
            self.index += 1
            inner = self._operand(level)
            return -inner if isinstance(inner, int) else Binary("-", 0, inner)
        if word in ("min", "max"):
            return self._call(word, level)
        return self._unknown(word)

    def _call(self, function: str, level: int) -> Expr:
        self.index += 1
        self.expect("(")
        left = self._binary(1, level)
        self.expect(",")
        right = self._binary(1, level)
        self.expect(")")
        return Binary(function, left, right)

    def _unknown(self, word: str) -> NoReturn:
        if word[:1] not in _NAME_STARTS or word in WORDS:
            self.expected("an expression")
        self.fail(
            f"{shown(word)} is neither {self.kinds()}",
            help=suggestion(word, self.names) or f"declare it: input {word[:40]}",
        )

    def _element(self, leaf: Leaf, level: int) -> Expr:
        if isinstance(leaf, Iteration):
            self.fail(f"{leaf.loop!r} is the number of an iteration and has no elements")
        self.index += 1
        index = self._binary(1, level + 1)
        self.expect("]")
        return self.indexed(leaf, index)

    def indexed(self, leaf: Leaf, index: Expr) -> Leaf:
        """Return the element `index` of an input or, in engine programs, of a register."""
        assert isinstance(leaf, Input)
        return Input(leaf.name, index)

    def kinds(self) -> str:
        """Say what a bare name can be here."""
        return "the iteration of an enclosing loop nor a declared input"
