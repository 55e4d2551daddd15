"""What a run shows by its times alone, loads of control values included."""

from __future__ import annotations

from headway.check.fuzz import Times
from headway.check.judge import reference
from headway.ir.expr import Inputs
from headway.sync.program import SyncProgram


def violated(synced: SyncProgram, inputs: Inputs, times: Times) -> str:
    """Return the first instance that is issued before one that it depends on is done, or ""."""
    for need in reference(synced, inputs):
        instance = need.instance
        issue, _ = times[instance.counter][instance.position - 1]
        for q, position in need.required.items():
            _, done = times[q][position - 1]
            if done > issue:
                return f"{instance} on {instance.engine} comes at {issue}, {q} {position} at {done}"
    return ""
