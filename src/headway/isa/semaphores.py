"""Give every counter and flag that something waits for a semaphore, and barriers two of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from headway.errors import Diagnostic, UnsupportedByTarget
from headway.isa.instructions import WORD
from headway.isa.module import Tokens
from headway.sync.program import (
    Barrier,
    Exec,
    Load,
    Semaphore,
    SyncProgram,
    Waits,
    walk_sync,
)
from headway.targets.target import Target

MOST = 2**16 - 1
"""Semaphores that the encoding can number."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """`number` finds the semaphore of a counter or a flag; `ranges` are those of counters.

    `counting` hold counters, `tokens` flags, `meets` are for barriers.

    `source` finds the counter that a flag comes from.
    """

    counting: tuple[Semaphore, ...]
    tokens: tuple[Tokens, ...]
    meets: tuple[int, ...]
    number: dict[str, int]
    source: dict[str, str]
    ranges: tuple[tuple[int, int], ...]


def assign_semaphores(sync: SyncProgram, target: Target) -> Assigned:
    """Return the semaphores of a program. Raise UnsupportedByTarget if there are too few.

    Those that the program declares keep their numbers.
    """
    free = _free({semaphore.number for semaphore in sync.semaphores})
    semaphores = list(sync.semaphores)
    declared = {semaphore.counter for semaphore in semaphores}
    for counter in _waited_for(sync):
        if counter not in declared:
            semaphores.append(Semaphore(next(free), counter, WORD, True))
            declared.add(counter)
    tokens = tuple(Tokens(next(free), flag) for flag in sync.flags)
    nodes = (node for engine in sync.engines for node in walk_sync(engine.body))
    has_barrier = any(isinstance(node, Barrier) for node in nodes)
    meets = (next(free), next(free)) if has_barrier else ()
    count = len(semaphores) + len(tokens) + len(meets)
    if count > min(int(target.semaphores.count), MOST):
        raise UnsupportedByTarget(_too_few(count, len(meets), target))
    number = {s.counter: s.number for s in semaphores} | {t.flag.name: t.number for t in tokens}
    source = {flag.name: flag.counter for flag in sync.flags}
    ranges = tuple(_ranges(sorted(s.number for s in semaphores)))
    return Assigned(tuple(semaphores), tokens, meets, number, source, ranges)


def _free(taken: set[int]) -> Iterator[int]:
    return (number for number in range(MOST) if number not in taken)


def _waited_for(sync: SyncProgram) -> Iterator[str]:
    flags = {flag.name for flag in sync.flags}
    for engine in sync.engines:
        for node in walk_sync(engine.body):
            if isinstance(node, Exec | Load | Waits):
                yield from (wait.counter for wait in node.waits if wait.counter not in flags)


def _ranges(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield runs of consecutive numbers: the first, and how many."""
    low, size = 0, 0
    for number in numbers:
        if size and number == low + size:
            size += 1
            continue
        if size:
            yield low, size
        low, size = number, 1
    if size:
        yield low, size


def _too_few(count: int, meets: int, target: Target) -> Diagnostic:
    barriers = f", {meets} of them for barriers" if meets else ""
    return Diagnostic(
        f"{count} semaphores are needed{barriers}",
        rule=f"target {target.name!r} has {int(target.semaphores.count)}",
        help="let transfers share a queue, or give the work to fewer engines",
    )
