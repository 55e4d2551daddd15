"""What a target is: hardware as data. Durations are in ns, clocks in cycles per ns.

A target is one file of this folder, named like the target, with one object `TARGET`.
Packages outside register theirs under the entry-point group `headway.targets`.
What the simulator makes of each number is written in docs/timing.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from headway.targets.figures import Count, Figure


@dataclass(frozen=True, slots=True)
class EngineModel:
    """An engine. `trigger` is how long a trigger holds its sequencer; None = it has no queues.

    `drain` is the time from the end of an instruction's occupancy until it has completed.
    `signals`: its instructions can signal that; if not, all are silent, no-ops too.
    `ordered`: though its instructions overlap, each finds what those before it have written, so
    that none waits for its own engine.
    """

    name: str
    clock: Figure
    pipelined: bool
    drain: Figure
    trigger: Figure | None
    signals: bool = True
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """What a compute instruction of `elements` elements per partition costs.

    It occupies one of `engines` for `max(floor, fixed + per_element * elements)` cycles and
    completes `drain_per_element * elements` cycles after the engine's `drain`. `signals`: it can
    signal its completion; if not, it is silent.
    """

    engines: tuple[str, ...]
    per_element: Figure
    fixed: Figure
    floor: Figure
    drain_per_element: Figure
    signals: bool = True


@dataclass(frozen=True, slots=True)
class Dma:
    """Transfers. `queues` is how many a program may have.

    A transfer starts `dispatch` after its trigger, moves its bytes at `bandwidth` (bytes per ns),
    and completes `setup + notify` after the last one would have arrived without any delay. Two
    transfers of one queue start at least `interval` apart. With `is_shared`, all queues share the
    bandwidth. `slowdown` names the operations of transfers, with their factor on the time.
    """

    queues: Count
    pipelined: bool
    bandwidth: Figure
    is_shared: bool
    dispatch: Figure
    setup: Figure
    notify: Figure
    interval: Figure
    slowdown: Mapping[str, Figure]


@dataclass(frozen=True, slots=True)
class Semaphores:
    """How many there are, and which numbers they hold."""

    count: Count
    width: Count
    is_signed: bool


@dataclass(frozen=True, slots=True)
class Sequencer:
    """What an engine's sequencer spends, in ns.

    `overlaps`: it goes on while the datapath works; `issue` is what an instruction costs it then.
    `hop` is from a completion to the engine that waits for it. `wait` is a wait instruction whose
    condition holds. `flag` is to set a flag, or to take a token that is there. `loop` is spent at
    the start of every iteration, and `refetch` with it.
    """

    overlaps: bool
    issue: Figure
    hop: Figure
    wait: Figure
    register: Figure
    branch: Figure
    loop: Figure
    refetch: Figure
    load: Figure
    flag: Figure = Figure(20, "assumed: as a register operation; a wait instruction takes 10 ns")


@dataclass(frozen=True, slots=True)
class BarrierSequence:
    """Drain waits, a rendezvous, a reset of all semaphores in use, a second rendezvous."""

    rendezvous: Figure
    reset: Figure


@dataclass(frozen=True, slots=True)
class Target:
    """A machine. `engines` is all it has; without any, every engine name is allowed.

    Operations are looked up as `name@engine`, `name:dtype`, then `name`.
    `has_register_thresholds`: a wait may compare with a register; `has_register_sums`: with
    `register + immediate` at no extra cost. `default` is the duration of an instruction whose cost
    the target does not know; None = such a program is refused. With no `updates_per_instruction` it
    takes a no-op to signal what an engine has done; one is all that an instruction needs, since it
    adds to one counter.
    """

    name: str
    description: str
    engines: tuple[EngineModel, ...]
    operations: Mapping[str, Operation]
    default: Figure | None
    dma: Dma
    semaphores: Semaphores
    waits_per_instruction: Count
    updates_per_instruction: Count
    registers: Count
    has_register_thresholds: bool
    has_register_sums: bool
    sequencer: Sequencer
    barrier: BarrierSequence

    def engine(self, name: str) -> EngineModel | None:
        """Return what is known of an engine, or None."""
        return next((engine for engine in self.engines if engine.name == name), None)
