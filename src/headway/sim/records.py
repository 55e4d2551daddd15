"""What lies where in the memory of the compiled simulator.

First a header, then a record for each counter and flag, each instruction and each engine; behind
them the values that the code computes with, and the code (see `headway.sim.code`). Addresses of
records are known before anything is lowered, so the code names them.
"""

from __future__ import annotations

from headway.code.rows import TOO_LONG
from headway.sim.model import Model

FULL = TOO_LONG + 1
"""One more reason to stop: there is no room for an instance."""

# The header: state, of which the first two belong to `headway.code`; costs; then where records
# begin and end.
VALUE, LEFT, DMA_FREE, FIRST, STOPPED = range(5)
OVERLAPS, IS_SHARED, ISSUE_COST, HOP, WAIT, LOAD, MEETING, DISPATCH = range(5, 13)
COUNTERS, COUNTERS_END, ENGINES, ENGINES_END = range(13, 17)
HEADER = 17

# The record of a counter: signals in all and before the last barrier, when it is free, when the
# last signal came, time worked; its stretch of `times`, its stretch of `deep` and how much is used.
# A flag has a record like a counter, behind those of all counters.
COUNT, BASE, FREE, LAST, BUSY, OFFSET, ROOM, DEEP_OFFSET, DEEP_ROOM, DEEP, OWNER = range(11)
COUNTER_WIDTH = 11

# The record of an instruction; COUNTER is the address of the record of its counter.
COUNTER, LATENCY, OCCUPANCY, PAYLOAD, TRIGGER = range(5)
TIMING_WIDTH = 5

# The record of an engine; when it stands, for which counter (or REST) and how many signals of it.
PC, TIME, WAITING, SYNCHRONIZATION, WAITS, BARRIERS, STANDS, NEEDS, TRIGGERS = range(9)
ENGINE_WIDTH = 9
REST = -1  # in front of a trigger, at a barrier, or at its end


# The record of an instance; of a token of a flag only DONE is used.
ISSUE, START, DONE, SITE = range(4)
TIMES_WIDTH = 4


def counter_at(number: int) -> int:
    """Return the address of the record of a counter or flag."""
    return HEADER + number * COUNTER_WIDTH


def timing_at(model: Model, number: int) -> int:
    """Return the address of the record of an instruction, numbered as in `model.timings`."""
    return counter_at(len(model.counters) + len(model.flags)) + number * TIMING_WIDTH


def engine_at(model: Model, number: int) -> int:
    """Return the address of the record of the engine whose program comes `number`-th."""
    return timing_at(model, len(model.timings)) + number * ENGINE_WIDTH


def initial(model: Model, engines: tuple[str, ...]) -> list[int]:
    """Return header and records before a run. `engines` is the order of the engine programs."""
    owners = _owners(model, engines)
    return [
        *(0 for _ in range(OVERLAPS)),
        *_costs(model),
        counter_at(0),
        counter_at(len(model.counters)),
        engine_at(model, 0),
        engine_at(model, len(engines)),
        *(x for owner in owners for x in (*[0] * OWNER, owner)),
        *(x for timing in _timings(model) for x in timing),
        *(0 for _ in engines for _ in range(ENGINE_WIDTH)),
    ]


def _costs(model: Model) -> list[int]:
    costs = model.costs
    meeting = 2 * costs.rendezvous + costs.reset
    flags = [int(costs.overlaps), int(costs.is_shared)]
    times = [costs.issue, costs.hop, costs.wait, costs.load, meeting, costs.dispatch]
    return [*flags, *times]


def _owners(model: Model, engines: tuple[str, ...]) -> list[int]:
    """Return for each counter the record of the engine that drains it at a barrier, or -1."""
    drained = len(model.counters) - len(model.engines)  # control counters come last
    at = {name: engine_at(model, number) for number, name in enumerate(engines)}
    owners = [at.get(owner, -1) for owner in model.owners]
    return owners[:drained] + [-1] * (len(model.engines) + len(model.flags))


def _timings(model: Model) -> list[tuple[int, ...]]:
    return [
        (counter_at(t.counter), t.latency, t.occupancy, t.payload, t.trigger or 0)
        for t in model.timings.values()
    ]
