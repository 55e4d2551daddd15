"""Judge a binary: what its streams execute becomes the events that the judge replays.

The judge sees what the hardware would see: instances, waits with the thresholds that were computed,
tokens and barriers. It is the judge of synchronized programs, and shares no code with what made
the binary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from headway.check.judge import check_events
from headway.check.verdict import Verdict
from headway.ir.expr import Inputs
from headway.isa import interpret
from headway.isa.instructions import Op
from headway.isa.module import Module, Stream
from headway.spec import MAX_INSTANCES
from headway.sync.expand import ConcreteWait, Event
from headway.sync.program import Threshold, Wait


def check(module: Module, inputs: Inputs, *, file: str = "", limit: int = MAX_INSTANCES) -> Verdict:
    """Judge a verified module for given inputs; places are `file:engine` and the instruction.

    Raise InvalidInput if the inputs do not fit, or if a program is longer than `limit`.
    """
    events = {s.engine: list(_Events(module, s).run(inputs, file)) for s in module.streams}
    return check_events(module.skeleton(), events, inputs, limit)


class _Events:
    """Gathers the waits in front of each event of a stream."""

    def __init__(self, module: Module, stream: Stream) -> None:
        self._module = module
        self._stream = stream
        self._names = module.names()
        self._taken: Counter[str] = Counter()
        self._pending: list[ConcreteWait] = []

    def run(self, inputs: Inputs, file: str) -> Iterator[Event]:
        for effect in interpret.effects(self._module, self._stream, inputs, file):
            match effect:
                case interpret.Wait():
                    self._wait(self._names[effect.semaphore], effect.threshold, effect)
                case interpret.Take():
                    flag = self._names[effect.semaphore]
                    self._taken[flag] += 1
                    self._wait(flag, self._taken[flag], effect)
                case interpret.Issue():
                    kind = "load" if effect.op is Op.READ else "exec"
                    yield Event(kind, effect.name, effect.iteration, self._waits(), effect.at)
                case interpret.Set():
                    name = self._names[effect.semaphore]
                    yield Event("set", name, (), self._waits(), effect.at)
                case interpret.Meet() if effect.semaphore in self._module.meets[:1]:
                    yield Event("barrier", "", (), self._waits(), effect.at)
                case _:
                    pass  # the rest of a barrier, and what only the engine itself notices
        yield Event("end", "", (), self._waits(), None)

    def _wait(self, counter: str, threshold: int, effect: interpret.Wait | interpret.Take) -> None:
        wait = Wait(counter, Threshold(None, threshold), effect.at)
        self._pending.append(ConcreteWait(counter, threshold, wait))

    def _waits(self) -> tuple[ConcreteWait, ...]:
        waits, self._pending = tuple(self._pending), []
        return waits
