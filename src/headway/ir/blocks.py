"""Bodies in braces: loops, `while` and `if` of both kinds of program, read without recursion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from headway.errors import Location
from headway.ir.expr import Expr, Iteration, Leaf
from headway.ir.lexer import END
from headway.ir.names import HEADS, WORDS, is_name
from headway.ir.reader import Reader

N = TypeVar("N")
"""A node of the program."""

C = TypeVar("C")
"""What loads a trip count or condition from memory."""

MAX_NEST = 5_000
"""Most bodies inside each other: far beyond any program, and safe for walks that recurse."""


@dataclass(slots=True)
class Block(Generic[N, C]):
    """A loop, `while` or `if` whose closing brace has not been read yet."""

    word: str
    iteration: str
    expr: Expr
    control: C | None
    at: Location
    brace: int
    outer: list[N]
    hidden: Leaf | None
    then: tuple[N, ...] | None = None


class BlockReader(Reader, Generic[N, C]):
    """Reads bodies; a subclass reads single statements and builds the nodes."""

    def statement(self) -> N:
        """Read one statement that has no body."""
        raise NotImplementedError

    def control(self, word: str) -> C | None:
        """Read what loads the trip count or condition, if it is there; `word` began the block."""
        raise NotImplementedError

    def node(self, block: Block[N, C], body: tuple[N, ...]) -> N:
        """Build the node of a block whose last body is complete."""
        raise NotImplementedError

    def body(self) -> tuple[N, ...]:
        """Read statements and the brace that closes them; the opening one is the last word read."""
        brace = self.index - 1
        blocks: list[Block[N, C]] = []
        nodes: list[N] = []
        while True:
            word = self.words[self.index]
            if word in HEADS:
                blocks.append(self._open(word, len(blocks), nodes))
                nodes = []
            elif word == "}":
                self.index += 1
                if not blocks:
                    return tuple(nodes)
                nodes = self._close(blocks, tuple(nodes))
            elif word == END:
                self.never_closed(blocks[-1].brace if blocks else brace)
            else:
                nodes.append(self.statement())

    def _open(self, word: str, depth: int, outer: list[N]) -> Block[N, C]:
        at = self.here()
        if depth == MAX_NEST:
            self.fail(f"loops and ifs nest more than {MAX_NEST:,} levels deep")
        self.index += 1
        iteration = "" if word == "if" else self._iteration(depth)
        hidden = self.names.get(iteration)
        if word == "while":  # unlike a trip count, a condition is computed in every iteration
            self.names[iteration] = Iteration(iteration)
        expr, control = self.expression(), self.control(word)
        if word == "loop":
            self.names[iteration] = Iteration(iteration)
        self.expect("{")
        return Block(word, iteration, expr, control, at, self.index - 1, outer, hidden)

    def _iteration(self, depth: int) -> str:
        """Read the name of an iteration; without one it is `_` and the depth of the nest.

        A name is there if the word after it begins an expression.
        """
        word = self.words[self.index]
        is_free = is_name(word) and word not in WORDS  # and not END: another word follows
        if is_free and self._begins_expression(self.words[self.index + 1]):
            self.index += 1
            return word
        return f"_{depth + 1}"

    def _begins_expression(self, word: str) -> bool:
        if is_name(word):
            return word not in WORDS or word in ("min", "max")
        return word == "(" or "0" <= word < ":"

    def _close(self, blocks: list[Block[N, C]], body: tuple[N, ...]) -> list[N]:
        """Take note of a closing brace; return the list that the next statement goes into."""
        block = blocks[-1]
        if block.word == "if" and block.then is None and self.accept("else"):
            block.then = body
            block.brace = self.index
            self.expect("{")
            return []
        blocks.pop()
        if block.hidden is not None:
            self.names[block.iteration] = block.hidden
        elif block.iteration:
            del self.names[block.iteration]
        block.outer.append(self.node(block, body))
        return block.outer
