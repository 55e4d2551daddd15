"""Tokens: the way of machines whose engines set and take flags, as Ascend NPUs do.

In     a bound program
Out    engine programs without thresholds: a flag from a counter to an engine is set behind the
       producer and taken before the consumer, both in the innermost body around the two
Keeps  no instance early, no deadlock, no token left over; instances may be late: an engine waits
       for a whole inner loop or if that holds the producer, or before one that holds the consumer
Cost   linear in the size of the program, times its depth

A flag that goes from one iteration to a later one is set once for each iteration in between in
front of the loop, so that the first takes pass, and taken as often behind it.

    loop i n {                                 flag flag.q.vector.0 from q to vector
      sync load triggers(q) writes(x[i % 2])   engine vector {
      vector add reads(x[i % 2])        ->       set flag.vector.sync.0
    }                                            set flag.vector.sync.0
                                                 loop i n {
                                                   take flag.q.vector.0
                                                   add
                                                   set flag.vector.sync.0
                                                 }
                                               }

Where each flag goes is in `_flag_places`; what happens when there are too many, in `_flag_ids`;
how the engine programs are written, in `_flag_writer`.
"""

from __future__ import annotations

from dataclasses import dataclass

from headway.ir.program import Program
from headway.ir.walk import deep_nests
from headway.strategies._flag_ids import Placed, placed
from headway.strategies._flag_places import Backward, blocks
from headway.strategies._flag_writer import Steps, engine_programs, free_prefix, hosts
from headway.sync.program import Flag, SetFlag, SyncProgram, TakeFlag
from headway.targets.target import Target


@dataclass(frozen=True, slots=True)
class Flags:
    """Set and take tokens; every pair of a counter and an engine has `ids` flags, 1 or more."""

    name: str = "flags"
    description: str = "tokens that engines set and take, as on Ascend NPUs: a baseline"
    ids: int = 8

    def synchronize(self, program: Program, target: Target) -> SyncProgram:
        """Return the engine programs. Never refuses a program."""
        with deep_nests():
            root = blocks(program)
            found = _Found(program)
            for flag in placed(root, self.ids):
                found.add(flag)
            engines = engine_programs(program, root, found.steps)
        return SyncProgram(program, engines, self.name, target.name, tuple(found.flags.values()))


class _Found:
    """The flags, and where they are set and taken."""

    def __init__(self, program: Program) -> None:
        self.flags: dict[str, Flag] = {}
        self.steps = Steps()
        self._hosts = hosts(program)
        self._prefix = free_prefix("flag", self._hosts)

    def add(self, placed: Placed) -> None:
        """Set and take a flag where it is placed."""
        counter, engine = placed.pair
        name = f"{self._prefix}.{counter}.{engine}.{placed.id}"
        self.flags.setdefault(name, Flag(name, counter, engine))
        to_set, to_take = (self._hosts[counter], SetFlag(name)), (engine, TakeFlag(name))
        body = id(placed.block)
        self.steps.behind[body, placed.flag.after].append(to_set)
        self.steps.before[body, placed.flag.before].append(to_take)
        if isinstance(placed.flag, Backward):
            loop = id(placed.around), placed.node
            self.steps.primes[loop] += [to_set] * placed.flag.distance
            self.steps.drains[loop] += [to_take] * placed.flag.distance


STRATEGY = Flags()
