"""The fewest waits with which a run is not early: the transitive reduction of what it requires.

In     a program and inputs
Out    how many waits its instances have to execute together, and no program can do with fewer
Exact  for programs in which every engine knows the control values that it needs, and no instance
       is silent: instances, their order and what they require are those of `headway.spec`
Cost   linear in the instances, times the counters

An instance needs no wait for what its engine knows from its waits before, nor for what another of
its waits implies. Instances form no cycle, so the reduction is unique, and whoever leaves out a
wait of it is early.
"""

from __future__ import annotations

from headway.check.knowledge import Knowledge, Vector
from headway.ir.expr import Inputs
from headway.ir.program import ControlRead, Program, control_counter
from headway.spec import Instance, required


def fewest_waits(program: Program, inputs: Inputs) -> int:
    """Return how many waits a run needs. Raise InvalidInput if the inputs do not fit."""
    reduction = _Reduction(program)
    return sum(reduction.waits(*need) for need in required(program, inputs))


class _Reduction:
    def __init__(self, program: Program) -> None:
        engines = program.hosts
        queues = (queue.name for queue in program.queues)
        self._knowledge = Knowledge((*engines, *queues, *map(control_counter, engines)))
        self._known: dict[str, Vector] = dict.fromkeys(engines, self._knowledge.nothing)
        self._serial = program.serial

    def waits(self, instance: Instance, needed: dict[str, int]) -> int:
        """Take the next instance; return how many waits it has to have."""
        engine, counter = instance.engine, instance.counter
        knowledge, known = self._knowledge, self._known[engine]
        if counter == engine and engine in self._serial:
            known = knowledge.after(known, [(engine, instance.position - 1)])
        fresh = [(q, p) for q, p in needed.items() if p > known[knowledge.index[q]]]
        left = [wait for wait in fresh if not self._is_implied(wait, fresh)]
        known = knowledge.after(known, fresh)
        told = knowledge.signal(counter, known)
        # A load holds the sequencer until it is done; an instruction goes on without it.
        self._known[engine] = told if isinstance(instance.node, ControlRead) else known
        return len(left)

    def _is_implied(self, wait: tuple[str, int], others: list[tuple[str, int]]) -> bool:
        q, position = wait
        at, signals = self._knowledge.index[q], self._knowledge.signals
        return any(signals[other][p - 1][at] >= position for other, p in others if other != q)
