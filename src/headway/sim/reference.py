"""The readable simulator, in plain Python: it says what the compiled one must find."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headway.ir.expr import Inputs
from headway.ir.program import ControlRead, Program
from headway.ir.walk import deep_nests
from headway.sim.actions import Action, Await, Budget, Issue, Read, actions
from headway.sim.machine import Machine
from headway.sim.model import Model, model
from headway.sim.timeline import Timeline
from headway.spec import Instance, Signals, required
from headway.sync.program import SyncProgram
from headway.targets.target import Target


def run(
    sync: SyncProgram, model: Model, inputs: Inputs, limit: int, detail: bool, target: str
) -> Timeline:
    """Simulate engine programs whose names were checked. Raise as `headway.sim.simulate` does."""
    budget = Budget(limit)
    programs = [(e.engine, actions(e, model, inputs, budget)) for e in sync.engines]
    machine = Machine(model, programs, detail)
    with deep_nests():
        machine.run()
    return timeline(machine, sync.program.name, sync.strategy, target)


def simulate_ideal(
    program: Program, inputs: Inputs, target: Target, *, detail: bool = False, hops: bool = False
) -> Timeline:
    """Simulate the ideal machine: work and data movement take their time, synchronization none.

    `program` is bound to `target`. Every engine issues its instances in order, each as soon as what
    it requires has completed, and shows by a signal. With `hops` a signal is seen a hop later, and
    all else is free: as for the best of waits through semaphores. Raise InvalidInput as
    `headway.spec.required` does, and InvalidProgram if a silent instance that is waited for has no
    signal behind it.
    """
    bound = model(program, target)
    free = replace(bound, costs=bound.costs.without_synchronization(hops))
    steps: dict[str, list[Action]] = {engine: [] for engine in program.hosts}
    needs = list(required(program, inputs))
    signals = Signals.of(instance for instance, _ in needs)
    for instance, needed in needs:
        shown = {q: signals.number(q, position) for q, position in needed.items()}
        steps[instance.engine] += _ideal_steps(free, instance, shown)
    programs = [(engine, iter(steps[engine])) for engine in program.hosts]
    machine = Machine(free, programs, detail)
    machine.run()
    return timeline(machine, program.name, "ideal", target.name)


def _ideal_steps(model: Model, instance: Instance, signals: dict[str, int]) -> Iterator[Action]:
    at = instance.node.at
    for counter, number in signals.items():
        yield Await(model.number[counter], number, 0, at)
    if isinstance(instance.node, ControlRead):
        counter = model.number[instance.counter]
        yield Read(instance.node.name, counter, instance.iteration, at)
    else:
        yield Issue(model.timings[instance.node.name], instance.iteration, at)


def timeline(machine: Machine, program: str, strategy: str, target: str) -> Timeline:
    """Return what a machine that has ended has found."""
    return Timeline(
        program,
        strategy,
        target,
        machine.latency,
        machine.tracks(),
        machine.engine_times(),
        machine.waits,
        machine.barriers,
        machine.log,
    )
