"""Make every threshold a number, for targets whose waits cannot compare with a register.

In     engine programs, and the strategy that made them
Out    the same if all thresholds are numbers, or if the target can compare with registers; else
       pieces of straight-line code as the strategy synchronizes them alone, with barriers between
Keeps  no instance early, no deadlock; late at the barriers only
Cost   that of the strategy, on groups of iterations whose code is there several times

    loop i n {                loop group.i n // 8 {
      A p writes(b)             if group.i > 0 { barrier }
      B c reads(b)              c waits A >= 1
    }                   ->      c waits A >= 2  ... and so on, 8 times
                              }
                              barrier
                              loop i n % 8 {
                                if i > 0 { barrier }
                                c waits A >= 1
                              }

The counters are 0 behind a barrier, so that positions are known in straight-line code. Iterations
that fill no group have a barrier each, and so has a loop around another loop, an if or a while.
Where a subscript is known at run time only, all slots of the buffer are taken for one. No epoch is
longer than the semaphores are wide.
"""

from __future__ import annotations

from dataclasses import dataclass

from headway.errors import Diagnostic, UnsupportedByTarget
from headway.ir.walk import deep_nests
from headway.passes._unrolled import Straight, Unrolled, has_register_thresholds
from headway.passes.insert_epochs import Strategy, all_counters, most_signals
from headway.passes.sync_pass import Concession
from headway.sync.program import SyncProgram
from headway.targets.target import Target


@dataclass(frozen=True, slots=True)
class UnrollThresholds:
    """Synchronize straight-line pieces; `strategy` is the one that made the engine programs."""

    name: str = "unroll-thresholds"
    description: str = "make every threshold a number, between barriers, where it has to be one"
    strategy: Strategy | None = None

    def fit(self, sync: SyncProgram, target: Target) -> tuple[SyncProgram, tuple[Concession, ...]]:
        """Return engine programs without registers in thresholds.

        Raise UnsupportedByTarget if there are some and `strategy` is not known.
        """
        strategy = self.strategy
        if target.has_register_thresholds or not has_register_thresholds(sync):
            return sync, ()
        if strategy is None:
            raise UnsupportedByTarget(_cannot(target))
        signals = Straight(sync.program, all_counters(sync.program), most_signals(target))
        with deep_nests():
            found = Unrolled(sync, signals, lambda program: strategy(program, target)).cut()
        if has_register_thresholds(found):
            raise UnsupportedByTarget(_cannot(target))
        message = "barriers between groups of iterations: thresholds have to be numbers"
        return found, (Concession("thresholds", "", message),)

    def apply(self, sync: SyncProgram, target: Target) -> SyncProgram:
        """Do what `fit` does."""
        return self.fit(sync, target)[0]


def _cannot(target: Target) -> Diagnostic:
    return Diagnostic(
        "a wait compares with a register",
        rule=f"a threshold of target {target.name!r} is a number",
        help="run the pass unroll-thresholds with the strategy that made the program",
    )


PASS = UnrollThresholds()
