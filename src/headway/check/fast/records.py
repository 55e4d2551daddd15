"""What lies where in the memory of the compiled judge, and the rows of its own.

First a header, then a record for each counter and flag, then one for each engine and one for the
sequential program, then vectors; behind them the values that the code computes with, and the code
(see `headway.code.rows`). A vector has a place for each counter, then for each flag, then for the
takes of each flag that holds only some tokens.
"""

from __future__ import annotations

from typing import NamedTuple

from headway.code.rows import LARGEST, OWN, TOO_LONG
from headway.ir.program import control_counter
from headway.sync.program import Exec, Load, SyncProgram, Waits, walk_sync

# More reasons to leave: more room is needed; it is time to forget; an instance is looked for.
FULL, PAUSED, WATCHED = TOO_LONG + 1, TOO_LONG + 2, TOO_LONG + 3

# Rows of engine programs.
AWAIT = OWN  # wait for the counter at a to reach memory[b] + c
ISSUE = OWN + 1  # issue the instruction of number b on the counter at a
LOAD = OWN + 2  # load the control value of number b, likewise
SET = OWN + 3  # set the flag at a, of the counter at b
MEET = OWN + 4  # a barrier
END = OWN + 5

# Rows of the sequential program.
NEED = OWN + 6  # an instance on the counter at a; it accesses what e lists
"""b is twice the number of its name, plus 1 for a follower (see `headway.check.needs`)."""

# The header; the first two places belong to `headway.code`.
VALUE, LEFT, STOPPED, BLIND, WAITED, NEEDED, FOUND, FOUND_ROOM, DISORDER = range(9)
COUNTERS, FLAGS, FLAGS_END, ENGINES, SPEC = range(9, 14)
N_COUNTERS, N_PLACES, FINAL, WITH, EVERYTHING = range(14, 19)
HEADER = 19

# The record of a counter or flag. Of its signals, numbered from 0, those from FROM on are kept,
# from TOLD on; of its needs those from NEED_FROM on. HOST is the record of the engine that issues
# on it, or sets the flag; CONTROL the place of the control counter of that engine, or, of a flag,
# of the counter that it stands for. JUDGED tokens of a flag have been taken and judged. From LEAST
# to MOST a comparison tells numbers apart.
COUNT, BASE, PLACE, TOLD, FROM, ROOM, WIDTH_TOLD = range(7)
NEEDS, NEED_FROM, NEED_COUNT, NEED_ROOM, STOP_AT = range(7, 12)
HOST, IS_SERIAL, CONTROL, JUDGED, HOLDS, TAKEN, LEAST, MOST = range(12, 20)
COUNTER_WIDTH = 20

# The record of an engine. WAITS is where its waits lie that are not judged yet: PENDING in all,
# PASSED of them in front of a flag that it has set, LOOKED since its last event.
PC, REMAINS, STANDS, AWAITED, STARVES, KNOWN, BEFORE, BARRIER = range(8)
WAITS, WAIT_ROOM, PENDING, PASSED, LOOKED, SERIAL, OWN_COUNTER = range(8, 15)
ENGINE_WIDTH = 15
REST = -1  # STANDS: at a barrier, at its end, or out of order

# A wait that is not judged yet.
WAIT_COUNTER, WAIT_POSITION, WAIT_ROW = range(3)
WAIT_WIDTH = 3

# A need: its name as in NEED, its number in sequential order, then for each counter twice the
# position that it requires, plus 1 if that instance is not a follower.
NAME, NUMBER, REQUIRED = range(3)

# A finding. ABOUT is a counter: signal GOT of it is waited for, signal WANTED required.
KIND, F_NUMBER, F_ENGINE, F_ROW, F_NAME, F_COUNTER, F_POSITION, ABOUT, GOT, WANTED, BY = range(11)
FOUND_WIDTH = 11
EARLY, LATE, LATE_TAKE, LATE_BARRIER, OVERFULL, OUT_OF_ORDER = range(6)


class Plan(NamedTuple):
    """The counters, flags and engines of a synchronized program, with numbers and addresses."""

    sync: SyncProgram
    counters: tuple[str, ...]
    engines: tuple[str, ...]
    places: int
    names: dict[str, int]

    def counter_at(self, name: str) -> int:
        """Return the address of the record of a counter or flag."""
        flags = tuple(flag.name for flag in self.sync.flags)
        return HEADER + (*self.counters, *flags).index(name) * COUNTER_WIDTH

    def engine_at(self, number: int) -> int:
        """Return the address of the record of an engine; of the program after the last one."""
        records = len(self.counters) + len(self.sync.flags)
        return HEADER + records * COUNTER_WIDTH + number * ENGINE_WIDTH

    def vector_at(self, number: int) -> int:
        """Return the address of a vector; engines have two each, three come after them."""
        return self.engine_at(len(self.engines) + 1) + number * self.places


def plan(sync: SyncProgram, names: dict[str, int]) -> Plan:
    """Return the plan of a verified program; `names` are numbers of instructions and loads."""
    engines = tuple(engine.engine for engine in sync.engines)
    hosts = tuple(dict.fromkeys((*sync.program.hosts, *engines)))
    queues = (queue.name for queue in sync.program.queues)
    counters = (*hosts, *queues, *_controls(sync, hosts))
    holding = sum(flag.holds > 0 for flag in sync.flags)
    return Plan(sync, counters, engines, len(counters) + len(sync.flags) + holding, names)


def _controls(sync: SyncProgram, hosts: tuple[str, ...]) -> list[str]:
    """Return the control counters that count something, or that are waited for."""
    used: set[str] = {flag.counter for flag in sync.flags}
    for engine in sync.engines:
        for node in walk_sync(engine.body):
            if isinstance(node, Load):
                used.add(control_counter(engine.engine))
            if isinstance(node, Load | Exec | Waits):
                used |= {wait.counter for wait in node.waits}
    return [name for name in map(control_counter, hosts) if name in used]


def initial(plan: Plan, limit: int) -> list[int]:
    """Return header, records and vectors before a run."""
    engines = len(plan.engines)
    header = [0] * HEADER
    header[COUNTERS] = HEADER
    header[FLAGS] = HEADER + len(plan.counters) * COUNTER_WIDTH
    header[FLAGS_END] = header[ENGINES] = plan.engine_at(0)
    header[SPEC] = plan.engine_at(engines)
    header[N_COUNTERS], header[N_PLACES] = len(plan.counters), plan.places
    header[FINAL], header[WITH] = plan.vector_at(2 * engines), plan.vector_at(2 * engines + 1)
    header[EVERYTHING] = plan.vector_at(2 * engines + 2)
    records = [x for name in plan.counters for x in _counter(plan, name)]
    records += [x for number in range(len(plan.sync.flags)) for x in _flag(plan, number)]
    records += [x for number in range(engines + 1) for x in _engine(plan, number, limit)]
    return header + records + [0] * (2 * engines + 3) * plan.places


def _counter(plan: Plan, name: str) -> list[int]:
    host = _host(plan, name)
    control = control_counter(host)
    record = [0] * COUNTER_WIDTH
    record[PLACE] = plan.counters.index(name)
    record[WIDTH_TOLD] = plan.places
    record[HOST] = _engine_of(plan, host)
    record[IS_SERIAL] = int(name in plan.sync.program.serial)
    record[CONTROL] = plan.counters.index(control) if control in plan.counters else -1
    semaphore = next((s for s in plan.sync.semaphores if s.counter == name), None)
    record[MOST] = min(semaphore.most, LARGEST - 1) if semaphore else LARGEST - 1
    record[LEAST] = -record[MOST] if not semaphore or semaphore.is_signed else 0
    return record


def _flag(plan: Plan, number: int) -> list[int]:
    flag = plan.sync.flags[number]
    record = [0] * COUNTER_WIDTH
    record[PLACE] = len(plan.counters) + number
    record[WIDTH_TOLD] = plan.places + len(plan.counters)
    record[HOST] = _engine_of(plan, _host(plan, flag.counter))
    record[CONTROL] = plan.counters.index(flag.counter)
    record[LEAST], record[MOST] = 1 - LARGEST, LARGEST - 1
    record[HOLDS] = flag.holds
    before = sum(other.holds > 0 for other in plan.sync.flags[:number])
    record[TAKEN] = len(plan.counters) + len(plan.sync.flags) + before
    return record


def _host(plan: Plan, counter: str) -> str:
    hosts = {queue.name: queue.host for queue in plan.sync.program.queues}
    hosts |= {control_counter(engine): engine for engine in plan.counters}
    return hosts.get(counter, counter)


def _engine_of(plan: Plan, name: str) -> int:
    return plan.engine_at(plan.engines.index(name)) if name in plan.engines else -1


def _engine(plan: Plan, number: int, limit: int) -> list[int]:
    record = [0] * ENGINE_WIDTH
    record[REMAINS] = limit
    if number < len(plan.engines):
        record[KNOWN], record[BEFORE] = plan.vector_at(2 * number), plan.vector_at(2 * number + 1)
        record[SERIAL] = int(plan.engines[number] in plan.sync.program.serial)
        record[OWN_COUNTER] = plan.counter_at(plan.engines[number])
    return record
