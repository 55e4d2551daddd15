"""Engine programs by hand, for kernels of the suite as they are without other parameters.

A file holds the engines of one kernel, with waits and counts as one would place them who knows the
kernel: each engine counts what it waits for in steps of one iteration.
"""

from __future__ import annotations

from pathlib import Path

from headway import kernels
from headway.ir import to_text
from headway.sync import parse_sync
from headway.sync.program import SyncProgram
from headway.targets import Target, bind

FOLDER = Path(__file__).parent


def names() -> tuple[str, ...]:
    """Return the kernels that were synchronized by hand, sorted."""
    return tuple(sorted(path.stem.replace("_", "-") for path in FOLDER.glob("*.hwy")))


def load(name: str, target: Target) -> SyncProgram:
    """Return the synchronized program of a kernel, bound to `target`."""
    path = FOLDER / f"{name.replace('-', '_')}.hwy"
    program = to_text(bind(kernels.load(name).program(), target))
    engines = path.read_text(encoding="utf-8")
    text = f"sync @{name} strategy manual target {target.name} {{\n{program}\n{engines}}}\n"
    return parse_sync(text, str(path))
