"""What a late wait costs: the same program with that wait at its required threshold.

In     a synchronized program, inputs
Out    for each wait that is late somewhere its thresholds as given and as required, and the
       program with these thresholds in an input, to be simulated with either of them
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from headway.check.judge import Replay
from headway.check.narrow import seen_by_comparisons, wrapping
from headway.check.needs import reference
from headway.errors import Diagnostic, InvalidInput
from headway.ir.expr import Binary, Input, Inputs
from headway.ir.program import InputDecl
from headway.ir.walk import deep_nests
from headway.sync.expand import expand
from headway.sync.program import (
    Assign,
    EngineProgram,
    Exec,
    Load,
    Register,
    RegisterRef,
    SyncNode,
    SyncProgram,
    Threshold,
    Wait,
    Waits,
)
from headway.sync.rewrite import with_bodies

THRESHOLDS = "thresholds.of.late.wait"
COUNT = RegisterRef("count.of.late.wait")
NEXT = RegisterRef("next.of.late.wait")


class LateWait(NamedTuple):
    """A wait of an engine program, with its threshold at each execution.

    `required` is lower where the wait is late, down to what the instance requires.
    """

    engine: str
    wait: Wait
    given: tuple[int, ...]
    required: tuple[int, ...]

    @property
    def times(self) -> int:
        """How often it is late."""
        return sum(a != b for a, b in zip(self.given, self.required, strict=True))

    @property
    def most(self) -> int:
        """By how many signals it is late at most."""
        return max(a - b for a, b in zip(self.given, self.required, strict=True))


def late_waits(sync: SyncProgram, inputs: Inputs) -> list[LateWait]:
    """Return the waits that are late somewhere; barriers and flags are none.

    Raise InvalidInput as `headway.check.check` does, and if a semaphore wraps.
    """
    events = expand(sync, inputs)
    for counter, semaphore in wrapping(sync, events).items():
        raise InvalidInput(
            Diagnostic(
                f"the semaphore of {counter} has {semaphore.width} bits and wraps",
                semaphore.at,
                rule="what a late wait costs is known where every count fits its semaphore",
                help="choose smaller inputs, or more barriers that reset it",
            )
        )
    events = seen_by_comparisons(events, sync.semaphores)
    replay = Replay(sync, reference(sync, inputs), events)
    replay.run()
    flags = {flag.name for flag in sync.flags}
    excess = {id(wait): by for wait, by in replay.late if wait.counter not in flags}
    found: list[LateWait] = []
    for engine, run in events.items():
        executed: defaultdict[int, list[tuple[Wait, int, int]]] = defaultdict(list)
        for wait in (wait for event in run for wait in event.waits):
            lower = wait.threshold - excess.get(id(wait), 0)
            executed[id(wait.wait)].append((wait.wait, wait.threshold, lower))
        for times in executed.values():
            waits, given, required = zip(*times, strict=True)
            if given != required:
                found.append(LateWait(engine, waits[0], given, required))
    return found


def with_thresholds(sync: SyncProgram, late: LateWait) -> SyncProgram | None:
    """Return the program whose late wait takes its thresholds from the input `THRESHOLDS`.

    None if it stands at a load of a loop or if, where nothing can be computed in front of it.
    """
    changed = _Changed(late.wait)
    with deep_nests():
        body = changed.body(sync.engine(late.engine).body)
    if not changed.places:
        return None
    registers = (Register(COUNT.name), Register(NEXT.name))
    engines = tuple(_with(engine, late.engine, body, registers) for engine in sync.engines)
    declared = InputDecl(THRESHOLDS, is_list=True)
    program = replace(sync.program, inputs=(*sync.program.inputs, declared))
    return replace(sync, program=program, engines=engines)


def _with(
    engine: EngineProgram,
    name: str,
    body: tuple[SyncNode, ...],
    registers: tuple[Register, ...],
) -> EngineProgram:
    if engine.engine != name:
        return engine
    return replace(engine, body=body, registers=(*engine.registers, *registers))


class _Changed:
    """Engine programs with one wait changed, found by identity: others may look the same."""

    def __init__(self, wait: Wait) -> None:
        self.places = 0
        self._wait = wait

    def body(self, nodes: tuple[SyncNode, ...]) -> tuple[SyncNode, ...]:
        return tuple(new for node in nodes for new in self._node(node))

    def _node(self, node: SyncNode) -> tuple[SyncNode, ...]:
        match node:
            case Exec() | Waits() | Load() if any(wait is self._wait for wait in node.waits):
                self.places += 1
                waits = tuple(map(self._changed, node.waits))
                thresholds = Assign(NEXT, Input(THRESHOLDS, COUNT))
                return thresholds, Assign(COUNT, Binary("+", COUNT, 1)), replace(node, waits=waits)
            case _:
                return (with_bodies(node, self.body),)

    def _changed(self, wait: Wait) -> Wait:
        return replace(wait, threshold=Threshold(NEXT)) if wait is self._wait else wait


Latency = Callable[[SyncProgram, Inputs], float]


class Cost(NamedTuple):
    """What a late wait costs in ns, and of how much; None where it cannot be tried."""

    late: LateWait
    ns: float | None
    latency: float


def costs(
    sync: SyncProgram,
    inputs: Inputs,
    latency: Latency,
    progress: Callable[[str], None] = lambda step: None,
) -> list[Cost]:
    """Return what each late wait costs: `latency` simulates, twice for each. Raise as it does.

    Both programs that are compared compute the threshold in the same way, so the difference is
    that of standing still. The rest of the program stays as it is. `progress` is told how far.
    """
    whole = latency(sync, inputs)
    found: list[Cost] = []
    lates = late_waits(sync, inputs)
    for number, late in enumerate(lates):
        progress(f"what {len(lates)} late waits cost: {10 * number // len(lates) * 10} %")
        changed = with_thresholds(sync, late)
        ns = None
        if changed is not None:
            given = latency(changed, {**inputs, THRESHOLDS: late.given})
            ns = given - latency(changed, {**inputs, THRESHOLDS: late.required})
        found.append(Cost(late, ns, whole))
    return sorted(found, key=lambda cost: -(cost.ns or 0))
