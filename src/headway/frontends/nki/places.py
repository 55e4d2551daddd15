"""Where in the kernel's own source we are, and errors that say so."""

from __future__ import annotations

import inspect
import linecache
import os
import re
import sys
from functools import cache
from types import FrameType

from headway.errors import Diagnostic, InvalidProgram, Location

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
_NO_KERNELS = ("<", os.path.dirname(inspect.__file__), _OWN)
"""How the names of files begin that hold no kernels: made by Python, its library, and ours."""
_ASSIGNED = re.compile(r"\s*([A-Za-z_]\w*)(?:\[[^=]*\])?\s*[-+*]?=[^=]")
_LOOPED = re.compile(r"\bfor\s+([A-Za-z_]\w*)\s+in\b")
_LINES_UP = 6


def forget() -> None:
    """Forget what was read of source files, which may have changed since."""
    linecache.checkcache()
    location.cache_clear()
    _assigned.cache_clear()


def kernel_frame() -> FrameType | None:
    """Return the innermost frame that is not Headway's: a line of the kernel or of its helpers."""
    frame: FrameType | None = inspect.currentframe()
    while frame is not None:  # asked for with every operation
        file = frame.f_code.co_filename
        is_own = _is_own.get(file)
        if is_own is None:
            is_own = _is_own[file] = file.startswith(_OWN)
        if not is_own:
            return frame
        frame = frame.f_back
    return None


def is_asked_by_kernel() -> bool:
    """Tell whether the method that calls this was called by a line of the kernel itself."""
    asking = sys._getframe(2).f_code.co_filename  # pyright: ignore[reportPrivateUsage]
    return not asking.startswith(_NO_KERNELS)


_is_own: dict[str, bool] = {}
"""Whether a file is Headway's."""


def here() -> Location:
    """Return the kernel's line that is being executed."""
    frame = kernel_frame()
    if frame is None:
        return Location("<kernel>", 1, 1)
    return location(frame.f_code.co_filename, frame.f_lineno)


@cache
def location(file: str, line: int) -> Location:
    """Return the place where the text of a line begins."""
    text = linecache.getline(file, line)
    return Location(file, line, len(text) - len(text.lstrip()) + 1 if text.strip() else 1)


def problem(
    message: str, at: Location | None = None, rule: str = "", help: str = ""
) -> InvalidProgram:
    """Return an error about the kernel's line that is being executed, or about `at`."""
    return InvalidProgram(diagnostic(message, at or here(), rule, help))


def diagnostic(message: str, at: Location, rule: str = "", help: str = "") -> Diagnostic:
    """Return a message with the kernel's line quoted."""
    text = linecache.getline(at.file, at.line).rstrip("\n")
    return Diagnostic(message, at, rule=rule, help=help, source=text or None)


def assigned_name(at: Location, default: str) -> str:
    """Return the variable that the statement at a line assigns; a guess that only names things."""
    return _assigned(at.file, at.line, default)


@cache
def _assigned(file: str, last: int, default: str) -> str:
    for line in range(last, max(0, last - _LINES_UP), -1):
        match = _ASSIGNED.match(linecache.getline(file, line))
        if match:
            return match.group(1).strip("_") or default
    return default


def loop_name(at: Location, default: str) -> str:
    """Return the variable of the first `for` at a line, of a statement or of a comprehension."""
    match = _LOOPED.search(linecache.getline(at.file, at.line))
    return (match.group(1).strip("_") if match else "") or default
