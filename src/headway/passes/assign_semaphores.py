"""Give each counter that something waits for a semaphore of the target.

In     engine programs
Out    the same, with a semaphore for each counter that some wait names; a counter that nobody
       waits for has none. Where semaphores are never full it need not be said which is which
Keeps  everything, as long as no semaphore is full (insert-epochs)
Cost   linear

    mm waits q >= 1      ->      semaphore 0 counts q width 32 signed
                                 mm waits q >= 1

Completions of different counters are not in order among each other, so that two counters never
share a semaphore (H1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from headway.errors import Diagnostic, UnsupportedByTarget, counted
from headway.passes.report import semaphores
from headway.sync.program import Semaphore, SyncProgram
from headway.targets.target import Target

NEVER_FULL = 64
"""Bits of a semaphore that need not be named."""


class TooFewSemaphores(UnsupportedByTarget):
    """More counters and flags are waited for than the target has semaphores."""


@dataclass(frozen=True, slots=True)
class AssignSemaphores:
    """Number them in the order of their first use."""

    name: str = "assign-semaphores"
    description: str = "give each counter that something waits for a semaphore"

    def apply(self, sync: SyncProgram, target: Target) -> SyncProgram:
        """Return the program with its semaphores. Raise TooFewSemaphores if that is so.

        A flag takes one too; its tokens are few, so that its width does not matter.
        """
        needed, cells = semaphores(sync), target.semaphores
        if len(needed) > cells.count:
            raise TooFewSemaphores(_too_few(needed, target))
        if cells.width >= NEVER_FULL:
            return sync
        flags = {flag.name for flag in sync.flags}
        width, is_signed = int(cells.width), cells.is_signed
        found = (Semaphore(n, q, width, is_signed) for n, q in enumerate(needed) if q not in flags)
        return replace(sync, semaphores=tuple(found))


def _too_few(needed: tuple[str, ...], target: Target) -> Diagnostic:
    are = "is" if len(needed) == 1 else "are"
    return Diagnostic(
        f"{counted(len(needed), 'semaphore')} {are} needed, for {', '.join(needed)}",
        rule=f"target {target.name!r} has {int(target.semaphores.count)}",
        help="let transfers share a queue, or give the work to fewer engines",
    )


PASS = AssignSemaphores()
