"""The ideal machine: no synchronization costs anything, so only order and dependences delay.

Each engine issues its instructions, and triggers those of its queues, in program order, each as
soon as what it requires has completed. A compute instruction also waits until its engine is free;
a transfer is handed to its queue, which runs one after the other. What a silent instance has done
is seen with the first signal behind it on its counter.
"""

from __future__ import annotations

from collections import defaultdict
from math import inf
from typing import NamedTuple

from headway.ir.expr import Inputs
from headway.ir.program import ControlRead, Program, Takes
from headway.spec.instances import Instance
from headway.spec.required import required
from headway.spec.signals import Signals


class Issue(NamedTuple):
    """When an instance is issued and when it completes, in ns."""

    instance: Instance
    issue: float
    done: float


def ideal(program: Program, inputs: Inputs) -> list[Issue]:
    """Run a bound program on the ideal machine, in sequential order.

    What requires a completion that no signal before it shows is never issued: at infinity.
    Raise InvalidInput as `instances` does, and TypeError if an instruction has no duration.
    """
    needs = list(required(program, inputs))
    signals = Signals.of(instance for instance, _ in needs)
    engine_time: defaultdict[str, float] = defaultdict(float)
    free: defaultdict[str, float] = defaultdict(float)
    done: defaultdict[str, list[float]] = defaultdict(list)
    issues: list[Issue] = []
    for instance, needed in needs:
        covers = [(done[q], signals.cover(q, position)) for q, position in needed.items()]
        ready = max((d[at - 1] if at <= len(d) else inf for d, at in covers), default=0.0)
        issue = max(engine_time[instance.engine], ready)
        takes, q = _takes(instance), instance.counter
        start = max(issue, free[q])
        if q == instance.engine:
            issue = start  # the sequencer holds the instruction until its engine is free
        engine_time[instance.engine] = issue
        free[q] = start + takes.occupancy
        done[q].append(max(done[q][-1] if done[q] else 0.0, start + takes.latency))
        issues.append(Issue(instance, issue, done[q][-1]))
    return issues


def _takes(instance: Instance) -> Takes:
    node = instance.node
    if isinstance(node, ControlRead):
        return Takes(0, 0)
    if isinstance(node.cost, Takes):
        return node.cost
    raise TypeError(f"{node.name!r} has no duration: bind the program to a target first")
