"""The optimised strategy: count at compile time what can be counted there.

In     a bound program
Out    engine programs that wait only where nothing else implies it, for constants, for
       `shadow + offset` where the distance to a signal is static, and for captures elsewhere
Keeps  every threshold lies between what is required and what is known anyway: none early, none late
Cost   near-linear in the program; see `headway.analysis.flow`

    loop i n {                               engine vector {
      sync load triggers(q) writes(x[i % 2])   loop i n {
      vector add reads(x[i % 2])        ->       add waits q >= shadow.q + 1
    }                                            shadow.q := shadow.q + 1
                                               }
                                             }

Inside a block signals are counted at compile time: an offset to the shadow register, which is
brought up to date where the block ends. Both branches of an if leave the same offsets. A loop in
which an engine has nothing to do is not walked: `shadow += signals * trip`, with the captures of
its last iterations, if there were any (C11, C12).
"""

from __future__ import annotations

from dataclasses import dataclass

from headway.analysis.flow import Flow
from headway.analysis.order import Order
from headway.analysis.plan import Plan, horizons, plans
from headway.analysis.runs import Runs
from headway.analysis.sites import Sites
from headway.analysis.steps import Steps
from headway.analysis.tally import Tallies, flat
from headway.analysis.visit import Rules
from headway.ir.program import Instr, Program
from headway.ir.walk import branches, deep_nests, engines_inside, no_collection, walk
from headway.strategies._copies import with_copies
from headway.strategies._counted_parts import Parts
from headway.strategies._counted_writer import Context, Writer
from headway.strategies.options import option
from headway.sync.program import EngineProgram, SyncProgram
from headway.targets.target import Target


@dataclass(frozen=True, slots=True)
class Counted:
    """Barrier-free and exact, optimised. Each option can be switched off, for study."""

    name: str = "counted"
    description: str = "barrier-free: static distances, redundant waits removed, loops skipped"
    static_gaps: bool = option("count back from the current count where the distance is static")
    redundancy: bool = option("leave out what an engine knows from its waits before")
    transitive: bool = option("leave out what another signal that is waited for had to see")
    order: bool = option("leave out a capture that is never later than one waited for before")
    dont_care: bool = option("keep a static distance where nobody waits on the other path")
    unrolling: bool = option("look at each iteration of loops with few, static trips")
    skip: bool = option("count and capture in closed form what loops without work for an engine do")
    offsets: bool = option("count inside a block when compiling, not in registers")
    hoisting: bool = option("wait in front of a loop for what all its iterations wait for")
    copies: bool = option("write out short loops that always run as often")

    def synchronize(self, program: Program, target: Target) -> SyncProgram:
        """Return the engine programs. Never refuses a program."""
        with deep_nests(), no_collection():
            if self.copies:
                engines = with_copies(program, self._engines)
            else:
                engines = self._engines(program)
        return SyncProgram(program, engines, self.name, target.name)

    def _engines(self, program: Program) -> tuple[EngineProgram, ...]:
        """Write the engine programs, again as long as an engine needs one more control value.

        Who counts what is inside a loop has to know its trip count; its load is an access that
        others may have to wait for.
        """
        readers = _working(program)
        while True:
            context, plans = self._analysed(program, readers)
            writers = [Writer(context, plan) for plan in plans]
            engines = tuple(writer.program() for writer in writers)
            missing = {pair for writer in writers for pair in writer.missing}
            if not missing:
                return engines
            for control, engine in missing:
                readers[control] |= {engine}

    def _analysed(
        self, program: Program, readers: dict[str, frozenset[str]]
    ) -> tuple[Context, list[Plan]]:
        steps = Steps(program, readers)
        rules = Rules(
            self.static_gaps, self.redundancy, self.transitive, self.dont_care, self.unrolling
        )
        needs = Flow(steps, rules).needs
        sites = Sites(steps)
        if self.order:
            needs = Order(steps.body, sites).without_implied(needs)
        sequence, after = flat(steps.body), horizons(steps.body)
        parts, tallies = Parts(steps, sites), Tallies(steps.body)
        context = Context(
            program,
            steps,
            sites,
            parts,
            tallies,
            Runs(),
            after,
            self.skip,
            self.offsets,
            self.hoisting,
        )
        return context, plans(len(steps.engines), sequence, needs, sites, after)


def _working(program: Program) -> dict[str, frozenset[str]]:
    """Return for each control value the engines that have work inside."""
    return {
        node.control.name: frozenset[str]().union(*map(engines_inside, branches(node)))
        for node in walk(program.body)
        if not isinstance(node, Instr) and node.control
    }


STRATEGY = Counted()
