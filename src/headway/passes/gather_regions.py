"""Gather each region, so that all it depends on comes before its first instruction.

In     a bound program, some of whose instructions are fused with those before them
Out    the same with regions that stand together: what stood inside one comes before it if some
       later instruction of the region depends on it, and else behind it. All but the last of a
       region are silent: the hardware runs it as one
Keeps  the program: instructions that may depend on each other keep their order, and so do those of
       one engine
Cost   linear, times the instructions that stand inside a region

    A p writes(b)                        B l writes(c)
    B l writes(c)                        A p writes(b) silent
    A q reads(c) writes(b) fused   ->    A q reads(c) writes(b) fused
    B m writes(d)                        B m writes(d)

Where something inside a region depends on its beginning, and its end on that, the region can only
wait for itself: it is refused. What is waited for is before a region then, whatever the strategy,
so that hoisting the waits (`hoist-waits`) makes no circle. This comes before a strategy.
"""

from __future__ import annotations

from dataclasses import replace

from headway.errors import Diagnostic, Note, UnsupportedByTarget
from headway.ir.program import Instr, Node, Program
from headway.ir.walk import deep_nests, instructions
from headway.passes._bodies import Body, with_bodies
from headway.passes._conflicts import Conflicts

Unit = tuple[Instr, ...]
"""A region as far as it has been gathered, or one instruction."""


def gathered(program: Program) -> Program:
    """Return the program with its regions together. Raise UnsupportedByTarget if one cannot be."""
    if not any(instr.fused for instr in instructions(program.body)):
        return program
    gathering = _Gathering(Conflicts(program))
    with deep_nests():
        return replace(program, body=gathering.body(program.body))


class _Gathering:
    def __init__(self, conflicts: Conflicts) -> None:
        self._conflicts = conflicts

    def body(self, nodes: Body) -> Body:
        out: list[Node] = []
        units: list[Unit] = []
        for node in nodes:
            if isinstance(node, Instr):
                self._add(node, units)
                continue
            out += _silenced(units)
            out.append(with_bodies(node, self.body))
            units = []
        return (*out, *_silenced(units))

    def _add(self, instr: Instr, units: list[Unit]) -> None:
        """Add an instruction; one that is fused draws the region to where nothing is inside."""
        if not instr.fused:
            units.append((instr,))
            return
        at = max(n for n, unit in enumerate(units) if unit[0].engine == instr.engine)
        region, inside = (*units[at], instr), units[at + 1 :]
        before: list[Unit] = []
        behind: list[Unit] = []
        for unit in reversed(inside):
            needed = [(instr,), *before]
            is_needed = any(self._must_precede(unit, other) for other in needed)
            (before if is_needed else behind).insert(0, unit)
        for unit in before:
            if self._must_precede(units[at], unit):
                raise UnsupportedByTarget(_waits_for_itself(units[at], unit, instr))
        units[at:] = [*before, region, *behind]

    def _must_precede(self, first: Unit, second: Unit) -> bool:
        if first[0].engine == second[0].engine:
            return True
        return any(self._conflicts.between(a, b) for a in first for b in second)


def _silenced(units: list[Unit]) -> list[Instr]:
    """Return instructions in order; only the last one of a region signals."""
    return [
        instr if instr is unit[-1] else replace(instr, silent=True)
        for unit in units
        for instr in unit
    ]


def _waits_for_itself(region: Unit, unit: Unit, instr: Instr) -> Diagnostic:
    first, inside = region[0], unit[0]
    return Diagnostic(
        f"{instr.name!r} depends on {inside.name!r}, which depends on the region that it ends",
        instr.at,
        notes=(
            Note(f"the region begins with {first.name!r}", first.at),
            Note(f"{inside.name!r} is here", inside.at),
        ),
        rule="no wait may stand inside a region, and it would have to wait for itself in front",
        help=f"end the region before {inside.name!r}: leave out 'fused' here",
    )
