"""Synchronize programs for multi-engine accelerators without barriers.

    import headway as hw

    program = hw.parse(Path("softmax.hwy").read_text())
    synced = hw.synchronize(program, target="trn2", strategy="counted")
    hw.check(synced, inputs={"n": 7}).raise_for_failure()
    print(hw.simulate(synced, inputs={"n": 7}))

These are all public names. Each is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway import strategies, targets
    from headway.check import check
    from headway.comparison import Comparison
    from headway.compiler import compare, synchronize
    from headway.errors import (
        CheckFailed,
        HeadwayError,
        InvalidInput,
        InvalidProgram,
        SyntaxProblem,
        UnsupportedByTarget,
    )
    from headway.ir import Builder, parse
    from headway.ir.program import Program
    from headway.sim import simulate
    from headway.sync.program import SyncProgram

__version__ = "0.1.0"

__all__ = [
    "Builder",
    "CheckFailed",
    "Comparison",
    "HeadwayError",
    "InvalidInput",
    "InvalidProgram",
    "Program",
    "SyncProgram",
    "SyntaxProblem",
    "UnsupportedByTarget",
    "check",
    "compare",
    "parse",
    "simulate",
    "strategies",
    "synchronize",
    "targets",
]

_PACKAGES = ("check", "strategies", "targets")  # `headway.check` can be called
_MODULES = {
    "headway.comparison": ("Comparison",),
    "headway.compiler": ("compare", "synchronize"),
    "headway.errors": (
        "CheckFailed",
        "HeadwayError",
        "InvalidInput",
        "InvalidProgram",
        "SyntaxProblem",
        "UnsupportedByTarget",
    ),
    "headway.ir": ("Builder", "parse"),
    "headway.ir.program": ("Program",),
    "headway.sim": ("simulate",),
    "headway.sync.program": ("SyncProgram",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"headway.{name}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'headway' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
