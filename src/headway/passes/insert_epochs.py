"""Keep counters below what the semaphores of the target can hold: barriers between epochs.

In     engine programs, and the strategy that made them
Out    the same if no semaphore can be full; else a barrier, which sets all counters to 0, before
       one could be
Keeps  no instance early, no deadlock; late at the barriers only. A run that fits into one epoch
       has none. That semaphores of a width behave like unbounded ones then is proved:
       `width_bisim` (docs/theorems.md)
Cost   that of the strategy

    loop i n {                loop epoch.i (n + 14) // 15 {
      A p                       if epoch.i > 0 { barrier }
    }                   ->      loop i min(15, n - 15 * epoch.i) { A p }
                              }

Epochs are counted by iterations, which all engines count alike, and never by the own semaphore.
Semaphores of 32 bits or more are taken to be never full: 2**31 signals take minutes of a kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headway.errors import Diagnostic, UnsupportedByTarget
from headway.ir.program import Program, control_counter
from headway.ir.walk import deep_nests
from headway.passes._between_barriers import between_barriers
from headway.passes._epochs import Epochs
from headway.passes._signals import Signals
from headway.passes.report import waited_for
from headway.passes.sync_pass import Concession
from headway.sync.program import SyncProgram
from headway.targets.target import Target

WIDE = 32

Strategy = Callable[[Program, Target], SyncProgram]


def most_signals(target: Target) -> int:
    """Return the largest count that a semaphore of the target can hold."""
    return 2 ** (int(target.semaphores.width) - target.semaphores.is_signed) - 1


def filled(sync: SyncProgram, most: int) -> tuple[str, ...]:
    """Return the counters that some wait names and that may give more signals without a barrier.

    Conservative: a run-time trip count may be any.
    """
    found = between_barriers(sync, waited_for(sync))
    return tuple(q for q, count in found.items() if count > most)


@dataclass(frozen=True, slots=True)
class InsertEpochs:
    """Synchronize epochs one by one; `strategy` is the one that made the engine programs."""

    name: str = "insert-epochs"
    description: str = "set counters to 0 by a barrier before a narrow semaphore is full"
    strategy: Strategy | None = None

    def fit(self, sync: SyncProgram, target: Target) -> tuple[SyncProgram, tuple[Concession, ...]]:
        """Return the engine programs, with barriers where semaphores could be full.

        Raise UnsupportedByTarget if they could be and `strategy` is not known.
        """
        if int(target.semaphores.width) >= WIDE:
            return sync, ()
        most = most_signals(target)
        full = filled(sync, most)
        if not full:
            return sync, ()
        if self.strategy is None:
            raise UnsupportedByTarget(_cannot(full, target))
        counters = waited_for(sync)
        found = self._cut(sync, target, counters, self.strategy)
        if filled(found, most):  # a piece may wait for more counters than the whole does
            found = self._cut(sync, target, all_counters(sync.program), self.strategy)
        bits = int(target.semaphores.width)
        message = f"barriers before {', '.join(full)} could be full: semaphores of {bits} bits"
        return found, (Concession("epochs", "", message),)

    def apply(self, sync: SyncProgram, target: Target) -> SyncProgram:
        """Do what `fit` does."""
        return self.fit(sync, target)[0]

    def _cut(
        self, sync: SyncProgram, target: Target, counters: tuple[str, ...], strategy: Strategy
    ) -> SyncProgram:
        signals = Signals(sync.program, counters, most_signals(target))
        with deep_nests():
            return Epochs(sync, signals, lambda program: strategy(program, target)).cut()


def all_counters(program: Program) -> tuple[str, ...]:
    """Return every counter of a program."""
    queues = tuple(queue.name for queue in program.queues)
    return (*program.hosts, *queues, *map(control_counter, program.hosts))


def _cannot(full: tuple[str, ...], target: Target) -> Diagnostic:
    return Diagnostic(
        f"the semaphores of target {target.name!r} could be full: {', '.join(full)}",
        rule=f"a semaphore of {int(target.semaphores.width)} bits holds {most_signals(target)}",
        help="run the pass insert-epochs with the strategy that made the program",
    )


PASS = InsertEpochs()
