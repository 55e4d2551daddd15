"""Look for inputs with which a program goes wrong: all small ones, as far as the budget reaches."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from math import prod

from headway.errors import InvalidInput
from headway.ir.expr import Inputs
from headway.ir.program import InputDecl
from headway.sync.program import Semaphore

MOST = 3
"""All inputs from 0 to this are tried, as far as the budget reaches."""
LENGTH = 8
"""Elements of an input that is a list."""
BUDGET = 500
"""Runs in all."""
LONGEST = 300
"""The largest count of a semaphore around which runs that wrap it are tried: they are as long."""

Fails = Callable[[Inputs], bool]
"""Whether a program goes wrong with given inputs; InvalidInput if they do not fit it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was tried, and the first inputs that fail; `is_exhaustive` within the bounds."""

    tried: int
    is_exhaustive: bool
    has_lists: bool
    beyond: Sequence[int] = ()
    found: Inputs | None = None

    @property
    def bounds(self) -> str:
        """What was tried, in words."""
        kind = "all" if self.is_exhaustive else "some"
        lists = f", lists of {LENGTH} of them" if self.has_lists else ""
        what = f"numbers 0 to {MOST}{lists}"
        more = f", and {', '.join(map(str, self.beyond))}" if self.beyond else ""
        return f"{self.tried:,} inputs tried: {kind} of {what}{more}"


def search(
    declared: Sequence[InputDecl], fails: Fails, beyond: Sequence[int] = (), budget: int = BUDGET
) -> Outcome:
    """Try inputs, the smallest first; stop at the first that fail. Then `beyond`, for all numbers.

    What does not fit the program is not counted.
    """
    tried, has_lists = 0, any(decl.is_list for decl in declared)
    large = [{d.name: [n] * LENGTH if d.is_list else n for d in declared} for n in beyond]
    for inputs in chain(_candidates(declared, budget), large if declared else []):
        try:
            tried += 1
            if fails(inputs):
                return Outcome(tried, False, has_lists, beyond, inputs)
        except InvalidInput:
            tried -= 1
    return Outcome(tried, _size(declared) <= budget, has_lists, beyond)


def where_semaphores_wrap(semaphores: Sequence[Semaphore]) -> list[int]:
    """Return the numbers around which narrow semaphores wrap, if runs as long can be tried."""
    narrow = {semaphore.most for semaphore in semaphores if semaphore.most <= LONGEST}
    return sorted({most + more for most in narrow for more in (0, 1, 2)})


def _size(declared: Sequence[InputDecl]) -> int:
    return prod((MOST + 1) ** (LENGTH if decl.is_list else 1) for decl in declared)


def _candidates(declared: Sequence[InputDecl], budget: int) -> Iterator[Inputs]:
    """Yield everything if that is within the budget, else lists of one value, then random ones."""
    numbers = range(MOST + 1)
    names = [decl.name for decl in declared]
    if _size(declared) <= budget:
        lists = list(product(numbers, repeat=LENGTH)) if any(d.is_list for d in declared) else []
        choices = [lists if decl.is_list else numbers for decl in declared]
        for values in product(*choices):
            yield dict(zip(names, values, strict=True))
        return
    dice = random.Random(0)
    for i in range(budget):
        found: dict[str, int | list[int]] = {}
        for decl in declared:
            same = dice.choice(numbers) if i else 1
            values = [same if i % 2 == 0 else dice.choice(numbers) for _ in range(LENGTH)]
            found[decl.name] = values if decl.is_list else values[0]
        yield found
