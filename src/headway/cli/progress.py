"""Words on standard error about work that takes long."""

from __future__ import annotations

import sys
import time

PATIENCE = 2.0
"""Seconds before the first word."""

PAUSE = 1.0
"""Seconds between two words."""


class Progress:
    """Say what is being done once it takes more than `PATIENCE` seconds; at most every second."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._last = 0.0

    def __call__(self, step: str) -> None:
        """Say that `step` begins."""
        now = time.monotonic()
        if now - self._begin > PATIENCE and now - self._last > PAUSE:
            self._last = now
            print(f"{now - self._begin:.0f} s: {step} ...", file=sys.stderr)
