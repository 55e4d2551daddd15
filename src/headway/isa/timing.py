"""Simulate a binary: its instructions one by one, on the timed machine of `headway.sim`.

What an instruction costs is in docs/isa.md. Folded instructions cost nothing, as the timing model
counts them with what they serve; `pays_all` makes them pay like any other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from headway import targets
from headway.ir.expr import Inputs
from headway.ir.program import control_counter
from headway.isa import interpret
from headway.isa.instructions import Op
from headway.isa.module import Module, Stream
from headway.sim.actions import Action, Await, Give, Issue, Meet, Read, Spend
from headway.sim.machine import Machine
from headway.sim.model import Model, model
from headway.sim.reason import Reason
from headway.sim.reference import timeline
from headway.sim.timeline import Timeline
from headway.targets.target import Target

REASONS = {
    "register": Reason.REGISTER,
    "branch": Reason.LOOP_CONTROL,
    "loop": Reason.LOOP_CONTROL,
    "input": Reason.LOAD,
}


def simulate(
    module: Module,
    inputs: Inputs,
    target: Target | str | None = None,
    *,
    file: str = "",
    detail: bool = False,
    pays_all: bool = False,
    limit: int = interpret.LIMIT,
) -> Timeline:
    """Run a verified module on `target`, by default the one that it was made for.

    Raise as `headway.isa.interpret.effects` does, InvalidProgram on a deadlock.
    """
    if target is None or isinstance(target, str):
        target = targets.load(target or module.target)
    skeleton = module.skeleton()
    known = model(module.program, target, skeleton.flags, skeleton.semaphores)
    programs = [
        (s.engine, _Timed(module, s, known, pays_all).actions(inputs, file, limit))
        for s in module.streams
    ]
    machine = Machine(known, programs, detail)
    machine.run()
    return timeline(machine, module.program.name, module.strategy, target.name)


class _Timed:
    """Turns the effects of a stream into actions that take time."""

    def __init__(self, module: Module, stream: Stream, model: Model, pays_all: bool) -> None:
        self._module = module
        self._stream = stream
        self._model = model
        self._names = module.names()
        self._first_meet = module.meets[:1]
        self._taken: Counter[int] = Counter()
        self._pays_all = pays_all
        costs = model.costs
        self._cost = {
            "register": costs.register,
            "branch": costs.branch,
            "loop": costs.loop,
            "input": costs.load,
        }

    def actions(self, inputs: Inputs, file: str, limit: int) -> Iterator[Action]:
        effects = interpret.effects(self._module, self._stream, inputs, file, limit, self._pays_all)
        for effect in effects:
            match effect:
                case interpret.Spend():
                    yield Spend(self._cost[effect.kind], REASONS[effect.kind], effect.at)
                case interpret.Wait():
                    counter = self._model.number[self._names[effect.semaphore]]
                    cost = 0 if effect.is_carried else self._model.costs.wait
                    yield Await(counter, effect.threshold, cost, effect.at)
                case interpret.Issue():
                    yield self._issue(effect)
                case interpret.Set():
                    flag = self._model.number[self._names[effect.semaphore]]
                    source = self._model.number[effect.counter]
                    yield Give(flag, source, self._model.costs.flag, effect.at)
                case interpret.Take():
                    yield self._take(effect)
                case interpret.Meet() if effect.semaphore in self._first_meet:
                    yield Meet(effect.at)
                case _:
                    pass  # the machine's barrier drains, resets and meets again by itself

    def _issue(self, effect: interpret.Issue) -> Action:
        if effect.op is Op.READ:
            counter = self._model.number[control_counter(self._stream.engine)]
            return Read(effect.name, counter, effect.iteration, effect.at)
        return Issue(self._model.timings[effect.name], effect.iteration, effect.at)

    def _take(self, effect: interpret.Take) -> Action:
        self._taken[effect.semaphore] += 1
        flag = self._model.number[self._names[effect.semaphore]]
        taken = self._taken[effect.semaphore]
        return Await(flag, taken, self._model.costs.flag, effect.at, Reason.FLAG)
