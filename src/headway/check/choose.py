"""Choose a judge and run it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

from headway.check import judge
from headway.check.advice import with_advice
from headway.check.schedule import with_schedules
from headway.check.verdict import Verdict
from headway.code.rows import TooLarge
from headway.errors import Diagnostic, InvalidInput, OverLimit
from headway.ir.expr import Inputs
from headway.registry import unknown
from headway.spec import MAX_INSTANCES
from headway.sync.program import SyncProgram
from headway.sync.verify import verify_sync

IMPLEMENTATIONS = ("auto", "reference", "compiled")
LIMIT = 100_000_000
"""Instances, events and iterations of one program that the compiled judge goes through."""

SHORT = 20_000
"""Up to so many the reference is faster than starting the other one."""

Progress = Callable[[str], None]


def check(
    sync: SyncProgram,
    inputs: Inputs,
    implementation: str = "auto",
    *,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Verdict:
    """Judge a synchronized program for given inputs.

    `implementation` is `reference` (plain Python), `compiled` (needs the extra `fast`) or `auto`:
    the reference for short runs, for others the compiled one if it is installed. Both say the same.
    `limit` bounds the instances, events and iterations of the sequential program and of each engine
    program; by default it is what the chosen judge can bear. `progress` is told what is done.

    Raise InvalidProgram if it breaks a rule of the language, InvalidInput if the inputs do not fit
    or a program is longer than the limit.
    """
    if implementation not in IMPLEMENTATIONS:
        raise InvalidInput(unknown("judge", implementation, IMPLEMENTATIONS))
    verify_sync(sync)
    run = _Run(sync, inputs, limit, progress or _silent)
    choices = {"reference": run.reference, "compiled": run.compiled, "auto": run.auto}
    found = with_schedules(choices[implementation](), sync, inputs)
    return with_advice(found, sync, inputs)


def _silent(_: str) -> None:
    """Tell nobody."""


class _Run:
    def __init__(
        self, sync: SyncProgram, inputs: Inputs, limit: int | None, progress: Progress
    ) -> None:
        self._sync = sync
        self._inputs = inputs
        self._limit = limit
        self._progress = progress

    def auto(self) -> Verdict:
        if not importlib.util.find_spec("numba"):
            return self.reference()
        if self._limit is not None and self._limit <= SHORT:
            return self.reference()
        try:
            return judge.check(self._sync, self._inputs, SHORT)
        except OverLimit:
            pass
        try:
            return self._compiled()
        except TooLarge:
            return self.reference()

    def reference(self) -> Verdict:
        limit = MAX_INSTANCES if self._limit is None else self._limit
        return judge.check(self._sync, self._inputs, limit)

    def compiled(self) -> Verdict:
        if not importlib.util.find_spec("numba"):
            raise InvalidInput(
                Diagnostic(
                    "the compiled judge needs numba, which is not installed",
                    help="install headway[fast], or take the reference",
                )
            )
        try:
            return self._compiled()
        except TooLarge:
            raise InvalidInput(
                Diagnostic(
                    "the program does not fit the compiled judge",
                    rule="it knows values of 62 bits, semaphores that do not wrap, and no silent"
                    " or fused instructions",
                    help="take the reference",
                )
            ) from None

    def _compiled(self) -> Verdict:
        from headway.check.fast import judge as fast  # numpy takes a while to import

        limit = LIMIT if self._limit is None else self._limit
        return fast.check(self._sync, self._inputs, limit, self._progress)
