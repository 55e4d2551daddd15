"""Waits that a run could do without, and which of them a placement could do without.

`python -m headway.bench.waits --why` prints it. A wait that is executed is one of:

    needed    the instance would be early without it
    at once   its threshold is 0 or less: in the first iterations nothing was there before
    known     earlier waits of the engine say as much: mostly in all but the first turn of a loop
    beside    another wait of the same instance says as much

What is executed in a loop is there in all turns or in none, so that most of the surplus belongs to
places that some turn needs. A *place* is one wait of an engine program. It can be left out if no
instance is early without it, for any inputs: for each other one the inputs are found for which an
instance is. So a program of which no place can be left out has no fewer waits at these places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random
from typing import NamedTuple

from headway.check.judge import check
from headway.check.knowledge import Knowledge
from headway.check.mutate import mutants
from headway.errors import InvalidInput
from headway.ir.expr import Inputs
from headway.ir.program import ControlRead, Program, control_counter
from headway.spec import required
from headway.sync.expand import Event, expand
from headway.sync.program import SyncProgram

NEEDED, AT_ONCE, KNOWN, BESIDE = CLASSES = ("needed", "at once", "known", "beside")

ALIKE, TRIES = 6, 12
"""What is tried for each program: all numbers alike, below the first; then random ones below it."""


def surplus(sync: SyncProgram, inputs: Inputs) -> Counter[str]:
    """Count the waits of a run by class. Raise InvalidInput if the inputs do not fit."""
    return Counter(_classes(sync, inputs))


def _classes(sync: SyncProgram, inputs: Inputs) -> Iterator[str]:
    program = sync.program
    events = {
        engine: (event for event in found if event.kind in ("exec", "load"))
        for engine, found in expand(sync, inputs).items()
    }
    queues = (queue.name for queue in program.queues)
    knowledge = Knowledge((*program.hosts, *queues, *map(control_counter, program.hosts)))
    known = dict.fromkeys(program.hosts, knowledge.nothing)
    for instance, _ in required(program, inputs):
        engine, counter = instance.engine, instance.counter
        before = known[engine]
        if counter == engine and engine in program.serial:
            before = knowledge.after(before, [(engine, instance.position - 1)])
        event = next(events[engine])
        fresh = [(q, t) for q, t in _waits(event) if t > before[knowledge.index[q]]]
        for q, threshold in _waits(event):
            if threshold <= 0:
                yield AT_ONCE
            elif (q, threshold) not in fresh:
                yield KNOWN
            else:
                yield BESIDE if _is_implied(knowledge, (q, threshold), fresh) else NEEDED
        after = knowledge.after(before, fresh)
        told = knowledge.signal(counter, after)
        known[engine] = told if isinstance(instance.node, ControlRead) else after


def _waits(event: Event) -> list[tuple[str, int]]:
    return [(wait.counter, wait.threshold) for wait in event.waits]


def _is_implied(
    knowledge: Knowledge, wait: tuple[str, int], others: Iterable[tuple[str, int]]
) -> bool:
    q, threshold = wait
    at = knowledge.index[q]
    return any(
        p > threshold if other == q else knowledge.signals[other][p - 1][at] >= threshold
        for other, p in others
    )


class Least(NamedTuple):
    """Places of waits, how many of them can be left out together, and the waits that remain."""

    places: int
    idle: int
    waits: int


def least(sync: SyncProgram, inputs: Inputs) -> Least:
    """Leave out one place after the other as long as no inputs are found that show an early one.

    Raise InvalidInput if the inputs do not fit.
    """
    tried = [inputs, *_others(sync.program, inputs)]
    places = sum(1 for _ in mutants(sync, ["wait-deleted"]))
    idle, at = 0, 0
    while True:
        mutant = next((m for n, m in enumerate(mutants(sync, ["wait-deleted"])) if n == at), None)
        if mutant is None:
            return Least(places, idle, check(sync, inputs).waits)
        if all(check(mutant.program, each).verdict in ("exact", "late") for each in tried):
            sync, idle = mutant.program, idle + 1
        else:
            at += 1


def _others(program: Program, inputs: Inputs) -> Iterator[Inputs]:
    """Yield other inputs that fit: all numbers alike, then random ones. Lists keep their length."""
    random = Random(0)
    for number in (*range(ALIKE), *(None for _ in range(TRIES))):

        def value(number: int | None = number) -> int:
            return random.randrange(ALIKE) if number is None else number

        found = {
            name: value() if isinstance(usual, int) else [value() for _ in usual]
            for name, usual in inputs.items()
        }
        try:
            sum(1 for _ in required(program, found))
        except InvalidInput:
            continue
        yield found
