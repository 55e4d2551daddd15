"""The judge of synchronized programs. It never imports what it judges."""

import sys
from types import ModuleType

from headway.check import judge
from headway.check.verdict import Finding, Verdict
from headway.ir.expr import Inputs
from headway.sync.program import SyncProgram
from headway.sync.verify import verify_sync

__all__ = ["Finding", "Verdict", "check"]


def check(sync: SyncProgram, inputs: Inputs) -> Verdict:
    """Judge a synchronized program for given inputs.

    Raise InvalidProgram if it breaks a rule of the language, InvalidInput if the inputs do not fit
    or the program does not end.
    """
    verify_sync(sync)
    return judge.check(sync, inputs)


class _Check(ModuleType):
    """Lets `headway.check(...)` be the function although `headway.check` is this package."""

    __call__ = staticmethod(check)


sys.modules[__name__].__class__ = _Check
