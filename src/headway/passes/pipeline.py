"""The passes in the order in which they fit engine programs to a target.

What cuts the program comes first, because it asks the strategy again. Waits are brought in front of
regions before anything is computed for them. Dead register operations go
next, so that nobody keeps registers for them. Thresholds are settled before waits are split, so
that they are computed before the engine stands still. Registers are fitted when all that need one
are there, and set earlier when nothing else is put in front of waits or shares them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from headway.errors import InvalidInput
from headway.ir.walk import no_collection
from headway.passes.insert_epochs import InsertEpochs, Strategy
from headway.passes.sync_pass import ConcedingPass, Concession, SyncPass
from headway.passes.unroll_thresholds import UnrollThresholds
from headway.registry import Registry, unknown
from headway.sync.program import SyncProgram
from headway.targets.target import Target

ORDER = (
    "unroll-thresholds",
    "insert-epochs",
    "hoist-waits",
    "drop-dead-registers",
    "merge-counts",
    "merge-slots",
    "settle-thresholds",
    "compute-counts",
    "split-waits",
    "assign-registers",
    "advance-registers",
    "peel-loops",
    "assign-semaphores",
)
"""What a target needs, and nothing else: passes of other distributions are run if named."""


def chosen(
    names: Iterable[str] | None, registry: Registry[SyncPass], strategy: Strategy | None = None
) -> tuple[SyncPass, ...]:
    """Return the passes of that name in their order; others after them. None = all of `ORDER`.

    `strategy` is the one that makes the engine programs, for passes that ask it again.
    Raise InvalidInput on a name that nobody knows.
    """
    wanted = ORDER if names is None else tuple(dict.fromkeys(names))
    known = registry.names()
    for name in wanted:
        if name not in known:
            raise InvalidInput(unknown("pass", name, known))
    ordered = [name for name in ORDER if name in wanted]
    ordered += [name for name in wanted if name not in ORDER]
    return tuple(_with_strategy(registry.load(name), strategy) for name in ordered)


def _with_strategy(step: SyncPass, strategy: Strategy | None) -> SyncPass:
    return (
        replace(step, strategy=strategy)
        if isinstance(step, InsertEpochs | UnrollThresholds)
        else step
    )


def run(
    sync: SyncProgram, target: Target, steps: Iterable[SyncPass]
) -> tuple[SyncProgram, tuple[Concession, ...]]:
    """Apply passes one after the other; return the result and what was given up.

    Raise UnsupportedByTarget if the target cannot carry the program.
    """
    concessions: tuple[Concession, ...] = ()
    for step in steps:
        with no_collection():
            if isinstance(step, ConcedingPass):
                sync, given_up = step.fit(sync, target)
                concessions += given_up
            else:
                sync = step.apply(sync, target)
    return sync, concessions
