"""The compiled loops of `headway.check.fast.kernel`, which need not be imported."""

from __future__ import annotations

from headway.code.loops import Loop

KERNEL = "headway.check.fast.kernel"

run = Loop(KERNEL, "run")
specify = Loop(KERNEL, "specify")
advance = Loop(KERNEL, "advance")
to_event = Loop(KERNEL, "to_event")
