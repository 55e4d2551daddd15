"""What both simulators know of a program on a target: counters by number, times in picoseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from headway.errors import Diagnostic, UnsupportedByTarget
from headway.ir.program import Instr, Program, Takes, control_counter
from headway.ir.walk import control_reads, instructions
from headway.sim import problems
from headway.sim.timeline import PS
from headway.sync.program import Flag, Semaphore
from headway.targets.target import Target

WIDE = 32
"""Bits of a semaphore that no run fills: 2**31 signals are more than any limit of a run."""


@dataclass(frozen=True, slots=True)
class Timing:
    """An instruction. `payload` is the time it has the shared DMA; `trigger` is for transfers."""

    name: str
    engine: str
    counter: int
    latency: int
    occupancy: int
    payload: int
    trigger: int | None
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Costs:
    """The target's costs (see `headway.targets.target`)."""

    overlaps: bool
    issue: int
    hop: int
    wait: int
    register: int
    branch: int
    loop: int
    load: int
    flag: int
    rendezvous: int
    reset: int
    dispatch: int
    free_waits: int
    has_register_sums: bool
    is_shared: bool

    def without_synchronization(self, hops: bool = False) -> Costs:
        """Return the costs of the ideal machine: only work and data movement take time, or hops."""
        free = replace(self, wait=0, register=0, branch=0, loop=0, flag=0, rendezvous=0, reset=0)
        return free if hops else replace(free, hop=0)


@dataclass(frozen=True, slots=True)
class Model:
    """A bound program on a target. Counters are numbered: engines, queues, control counters.

    Flags have the numbers after them; `sources` are the counters that set them. `narrow` are the
    semaphores that a run could fill, `silent` the counters of which some completion is no signal.
    """

    engines: tuple[str, ...]
    counters: tuple[str, ...]
    owners: tuple[str, ...]
    number: dict[str, int]
    timings: dict[str, Timing]
    controls: frozenset[str]
    costs: Costs
    flags: tuple[str, ...] = ()
    sources: tuple[int, ...] = ()
    narrow: Mapping[int, Semaphore] = field(default_factory=dict[int, Semaphore])
    silent: frozenset[int] = frozenset()

    def name(self, number: int) -> str:
        """Return the counter or the flag that has a number."""
        return (*self.counters, *self.flags)[number]


def model(
    program: Program,
    target: Target,
    flags: tuple[Flag, ...] = (),
    semaphores: tuple[Semaphore, ...] = (),
) -> Model:
    """Return what the simulators need. Raise InvalidProgram if the program is not bound."""
    engines, queues = program.hosts, program.queues
    counters = (*engines, *(q.name for q in queues), *map(control_counter, engines))
    names = tuple(flag.name for flag in flags)
    number = {counter: n for n, counter in enumerate((*counters, *names))}
    silent = frozenset(number[i.counter] for i in instructions(program.body) if i.silent)
    return Model(
        engines,
        counters,
        (*engines, *(q.host for q in queues), *engines),
        number,
        {i.name: _timing(i, number, target) for i in instructions(program.body)},
        frozenset(read.name for read in control_reads(program.body)),
        _costs(target),
        names,
        tuple(number[flag.counter] for flag in flags),
        {number[s.counter]: s for s in semaphores if s.width < WIDE},
        silent,
    )


def _timing(instr: Instr, number: dict[str, int], target: Target) -> Timing:
    takes, dma = instr.cost, target.dma
    if not isinstance(takes, Takes) or instr.counter not in number:
        raise problems.no_duration(instr.name, instr.at)
    latency, occupancy = _ps(takes.latency), _ps(takes.occupancy)
    payload = min(occupancy, max(0, latency - _ps(dma.setup) - _ps(dma.notify)))
    trigger = _trigger(instr, target) if instr.queue else None
    counter = number[instr.counter]
    name, silent = instr.name, instr.silent
    return Timing(name, instr.engine, counter, latency, occupancy, payload, trigger, silent)


def _trigger(instr: Instr, target: Target) -> int:
    if not target.engines:
        return 0
    engine = target.engine(instr.engine)
    if engine is None or engine.trigger is None:
        raise UnsupportedByTarget(
            Diagnostic(
                f"engine {instr.engine!r} cannot trigger {instr.name!r} on target {target.name!r}",
                instr.at,
            )
        )
    return _ps(engine.trigger)


def _costs(target: Target) -> Costs:
    sequencer, barrier = target.sequencer, target.barrier
    return Costs(
        sequencer.overlaps,
        _ps(sequencer.issue),
        _ps(sequencer.hop),
        _ps(sequencer.wait),
        _ps(sequencer.register),
        _ps(sequencer.branch),
        _ps(sequencer.loop) + _ps(sequencer.refetch),
        _ps(sequencer.load),
        _ps(sequencer.flag),
        _ps(barrier.rendezvous),
        _ps(barrier.reset),
        _ps(target.dma.dispatch),
        int(target.waits_per_instruction),
        target.has_register_sums,
        target.dma.is_shared,
    )


def _ps(ns: float) -> int:
    return round(ns * PS)
