"""Words on standard error about work that takes long."""

from __future__ import annotations

import sys
import time

PATIENCE = 2.0
"""Seconds before the first word."""


class Progress:
    """Say what is being done, once it has taken more than `PATIENCE` seconds in all."""

    def __init__(self) -> None:
        self._begin = time.monotonic()

    def __call__(self, step: str) -> None:
        """Say that `step` begins."""
        spent = time.monotonic() - self._begin
        if spent > PATIENCE:
            print(f"{spent:.0f} s: {step} ...", file=sys.stderr)
