"""Choose a simulator and run it."""

from __future__ import annotations

import importlib.util

from headway import targets
from headway.code.rows import TooLarge
from headway.errors import Diagnostic, InvalidInput, OverLimit
from headway.ir.expr import Inputs
from headway.registry import unknown
from headway.sim import reference
from headway.sim.model import Model, model
from headway.sim.timeline import Timeline
from headway.sync.program import SyncProgram
from headway.sync.verify import verify_sync
from headway.targets.target import Target

IMPLEMENTATIONS = ("auto", "reference", "compiled")
LIMIT = 50_000_000
"""Instances and iterations of a run, some minutes of the compiled simulator."""
SHORT = 50_000
"""Up to so many instances and iterations the reference is faster than starting the other one."""


def simulate(
    sync: SyncProgram,
    inputs: Inputs,
    target: Target | str | None = None,
    implementation: str = "auto",
    *,
    limit: int = LIMIT,
    detail: bool = False,
) -> Timeline:
    """Run a synchronized program on `target`, by default the one that it was made for.

    `implementation` is `reference` (plain Python), `compiled` (needs the extra `fast`) or `auto`:
    the reference for short runs, for others the compiled one if it is installed. Both find the same
    times. `detail` keeps a log of every step too, from which `headway.sim.attribution` tells where
    the time goes; only the reference can, and only it knows semaphores of fewer than 32 bits.
    `limit` bounds the instances and iterations of all engines together.

    Raise InvalidInput on an input that does not fit or a run over the limit, InvalidProgram on a
    deadlock or a program that is not well formed, UnsupportedByTarget on a queue whose engine
    cannot trigger.
    """
    if implementation not in IMPLEMENTATIONS:
        raise InvalidInput(unknown("simulator", implementation, IMPLEMENTATIONS))
    if target is None or isinstance(target, str):
        target = targets.load(target or sync.target)
    verify_sync(sync)
    run = _Run(
        sync, model(sync.program, target, sync.flags, sync.semaphores), inputs, limit, target.name
    )
    if implementation == "reference" or detail:
        return run.reference(detail)
    return run.compiled() if implementation == "compiled" else run.auto()


class _Run:
    def __init__(
        self, sync: SyncProgram, model: Model, inputs: Inputs, limit: int, target: str
    ) -> None:
        self._sync = sync
        self._model = model
        self._inputs = inputs
        self._limit = limit
        self._target = target

    def auto(self) -> Timeline:
        is_plain = not (self._model.narrow or self._model.silent)
        if self._limit <= SHORT or not is_plain or not importlib.util.find_spec("numba"):
            return self.reference()
        try:
            return self.reference(limit=SHORT)
        except OverLimit:
            pass
        try:
            return self._compiled()
        except TooLarge:
            return self.reference()

    def reference(self, detail: bool = False, limit: int | None = None) -> Timeline:
        limit = self._limit if limit is None else limit
        return reference.run(self._sync, self._model, self._inputs, limit, detail, self._target)

    def compiled(self) -> Timeline:
        if self._model.narrow:
            raise InvalidInput(
                Diagnostic(
                    "the compiled simulator knows no semaphores of fewer than 32 bits",
                    help="take the reference simulator",
                )
            )
        if self._model.silent:
            raise InvalidInput(
                Diagnostic(
                    "the compiled simulator knows no silent instructions",
                    help="take the reference simulator",
                )
            )
        if not importlib.util.find_spec("numba"):
            raise InvalidInput(
                Diagnostic(
                    "the compiled simulator needs numba, which is not installed",
                    help="install headway[fast], or take the reference simulator",
                )
            )
        try:
            return self._compiled()
        except TooLarge:
            raise InvalidInput(
                Diagnostic(
                    "a value does not fit the 62 bits of the compiled simulator",
                    help="take the reference simulator",
                )
            ) from None

    def _compiled(self) -> Timeline:
        from headway.sim import compiled  # numpy takes a while to import

        return compiled.run(self._sync, self._model, self._inputs, self._limit, self._target)
