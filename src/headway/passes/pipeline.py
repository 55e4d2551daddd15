"""The passes in the order in which they fit engine programs to a target.

Dead register operations go first, so that nobody keeps registers or waits for them. Thresholds are
settled before waits are split, so that they are computed before the engine stands still. Registers
are fitted when all that need one are there.
"""

from __future__ import annotations

from collections.abc import Iterable

from headway.errors import InvalidInput
from headway.passes.sync_pass import ConcedingPass, Concession, SyncPass
from headway.registry import Registry, unknown
from headway.sync.program import SyncProgram
from headway.targets.target import Target

ORDER = (
    "drop-dead-registers",
    "settle-thresholds",
    "split-waits",
    "assign-registers",
)
"""What a target needs, and nothing else: passes of other distributions are run if named."""


def chosen(names: Iterable[str] | None, registry: Registry[SyncPass]) -> tuple[SyncPass, ...]:
    """Return the passes of that name in their order; others after them. None = all of `ORDER`.

    Raise InvalidInput on a name that nobody knows.
    """
    wanted = ORDER if names is None else tuple(dict.fromkeys(names))
    for name in wanted:
        if name not in registry.names():
            raise InvalidInput(unknown("pass", name, registry.names()))
    ordered = [name for name in ORDER if name in wanted]
    return tuple(map(registry.load, (*ordered, *(name for name in wanted if name not in ORDER))))


def run(
    sync: SyncProgram, target: Target, steps: Iterable[SyncPass]
) -> tuple[SyncProgram, tuple[Concession, ...]]:
    """Apply passes one after the other; return the result and what was given up.

    Raise UnsupportedByTarget if the target cannot carry the program.
    """
    concessions: tuple[Concession, ...] = ()
    for step in steps:
        if isinstance(step, ConcedingPass):
            sync, given_up = step.fit(sync, target)
            concessions += given_up
        else:
            sync = step.apply(sync, target)
    return sync, concessions
