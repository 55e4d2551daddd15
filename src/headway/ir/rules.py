"""Rules for expressions, loops and names that sequential and synchronized programs share."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

from headway.errors import InvalidInput, Location, Note
from headway.ir.expr import (
    OPERATORS,
    Binary,
    Expr,
    Input,
    Iteration,
    Leaf,
    evaluate,
    leaves,
)
from headway.ir.expr_text import TOO_BIG, expression_text, is_too_big
from headway.ir.names import NAME_RULE, WORDS, is_name, shown, suggestion
from headway.ir.problems import Problems
from headway.ir.program import InputDecl


def check_name(problems: Problems, kind: str, name: str, at: Location | None) -> None:
    """Check that a name can be written in text."""
    if not is_name(name):
        problems.add(f"{shown(name)} is not the name of {kind}", at, rule=NAME_RULE)


def check_free_name(problems: Problems, kind: str, name: str, at: Location | None) -> None:
    """Check a name that stands where a word of the language can stand."""
    if name in WORDS:
        problems.add(f"{name!r} is a word of the language and cannot name {kind}", at)
    check_name(problems, kind, name, at)


def check_unique(problems: Problems, named: Iterable[tuple[str, str, Location | None]]) -> None:
    """Check that no two things of `(kind, name, place)` share a name."""
    first: dict[str, tuple[str, Location | None]] = {}
    for kind, name, at in named:
        if name not in first:
            first[name] = kind, at
            continue
        other, place = first[name]
        what = f"two {kind}s have" if kind == other else f"{other} and {kind} share"
        problems.add(
            f"{what} the name {shown(name)}", at, notes=(Note(f"the {other} is here", place),)
        )


class Rules:
    """Checks expressions; knows the iterations of the loops around them."""

    def __init__(self, problems: Problems, inputs: Sequence[InputDecl]) -> None:
        self.problems = problems
        self._inputs = {decl.name: decl for decl in inputs}
        self._around: dict[str, Location | None] = {}
        self._sound: dict[int, Expr] = {}  # by identity: found right, with these loops around

    @contextmanager
    def iteration(self, name: str, at: Location | None) -> Generator[None, None, None]:
        """Enter a loop whose iteration has that name, and leave it again."""
        self.check_iteration(name, at)
        is_hiding, hidden = name in self._around, self._around.get(name)
        self._around[name] = at
        yield
        self._sound.clear()
        if is_hiding:
            self._around[name] = hidden
        else:
            del self._around[name]

    def check_iteration(self, name: str, at: Location | None) -> None:
        """Check the name of an iteration; it hides no other name."""
        check_free_name(self.problems, "an iteration", name, at)
        if name in self._inputs:
            note = Note("the input is declared here", self._inputs[name].at)
            self.problems.add(f"iteration {name!r} hides the input of that name", at, notes=(note,))
        if name in self._around:
            self.problems.add(
                f"iteration {name!r} hides that of an enclosing loop",
                at,
                notes=(Note("the enclosing loop is here", self._around[name]),),
                rule="expressions name iterations, so loops inside each other have different names",
            )

    def expression(self, expr: Expr, at: Location | None) -> int | None:
        """Check an expression; return its value if it is the same in every run, else None."""
        if isinstance(expr, int):
            return expr
        if id(expr) in self._sound:
            return None
        if is_too_big(expr):
            self.problems.add(TOO_BIG, at, help="compute a part of it beforehand, as an input")
            return None
        before = self.problems.count
        sound = self._operators(expr, at)
        constant = True
        for leaf in leaves(expr):
            constant = False
            self.leaf(leaf, at)
        if not sound or self.problems.count > before:
            return None
        if not constant:
            self._sound[id(expr)] = expr
            return None
        return self._value(expr, at)

    def _operators(self, expr: Expr, at: Location | None) -> bool:
        before, stack = self.problems.count, [expr]
        while stack:
            node = stack.pop()
            if isinstance(node, Leaf):
                stack += node.parts()
            elif isinstance(node, Binary):
                stack += (node.left, node.right)
                if node.operator not in OPERATORS:
                    self.problems.add(f"{shown(node.operator)} is not an operator", at)
                elif node.right == 0 and node.operator in ("//", "%"):
                    self.problems.add(f"division by zero in {expression_text(node)!r}", at)
        return self.problems.count == before

    def _value(self, expr: Expr, at: Location | None) -> int | None:
        try:
            return evaluate(expr, {}, {})
        except InvalidInput as error:
            self.problems.add(error.diagnostics[0].message, at)
            return None

    def leaf(self, leaf: Leaf, at: Location | None) -> None:
        """Check one name in an expression."""
        if isinstance(leaf, Iteration):
            self._iteration(leaf, at)
        elif isinstance(leaf, Input):
            self._input(leaf, at)
        else:
            self.problems.add(f"{shown(str(leaf))} has no place in a sequential program", at)

    def _iteration(self, leaf: Iteration, at: Location | None) -> None:
        if leaf.loop not in self._around:
            self.problems.add(
                f"no loop around this has the iteration {shown(leaf.loop)}",
                at,
                help=suggestion(leaf.loop, self._around),
            )

    def _input(self, leaf: Input, at: Location | None) -> None:
        name = shown(leaf.name)
        decl = self._inputs.get(leaf.name)
        if decl is None:
            help = suggestion(leaf.name, self._inputs) or f"declare it: input {leaf.name}"
            self.problems.add(f"input {name} is not declared", at, help=help)
        elif decl.is_list and leaf.index is None:
            help = f"name one element, as {leaf.name}[i]"
            self.problems.add(f"input {name} is a list and stands for a number here", at, help=help)
        elif leaf.index is not None and not decl.is_list:
            help = f"declare it as a list: input {leaf.name}[]"
            self.problems.add(f"input {name} is a number and has no elements", at, help=help)

    def trip(self, expr: Expr, at: Location | None) -> None:
        """Check a trip count."""
        value = self.expression(expr, at)
        if value is not None and value < 0:
            self.problems.add(f"the trip count is {value}", at, rule="a trip count is 0 or more")

    def condition(self, expr: Expr, iteration: str, at: Location | None) -> None:
        """Check the condition of a `while`: it has to come to an end."""
        if self.expression(expr, at):
            self.problems.add(
                "this loop never ends", at, rule="the condition of a while becomes 0 some time"
            )
        elif not isinstance(expr, int) and not self._can_change(expr, iteration):
            self.problems.add(
                "this loop never ends once it has begun",
                at,
                notes=(Note("its condition is the same in every iteration"),),
                help=f"name the iteration in it, as in: while {iteration} ({iteration} < n)",
            )

    def _can_change(self, expr: Expr, iteration: str) -> bool:
        """Tell whether `expr` may differ between iterations; no false is wrong."""
        own = Iteration(iteration)
        return any(leaf == own or not isinstance(leaf, Input | Iteration) for leaf in leaves(expr))
