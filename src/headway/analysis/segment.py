"""Static thresholds of straight-line code: what each instruction has to wait for since a point.

In     the instructions of a segment, one after the other; slots may use enclosing iterations
Out    the waits of each: (counter, number of signals since the start of the segment)
Exact  if all slot expressions of a buffer have one shape; otherwise slots that may be the same are
       treated as the same
Keeps  a wait is left out when earlier waits imply it: of its engine, or through other engines
Cost   linear in the accesses, times the number of counters
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from headway.analysis.slots import Relation, relation
from headway.ir.atoms import Atoms
from headway.ir.expr import Expr
from headway.ir.program import Access, Instr, Program

Positions = dict[str, int]


class _Last(NamedTuple):
    """The last accesses to one slot: for each counter the position of its last write and access."""

    writes: Positions
    accesses: Positions


class Segment:
    """Straight-line code since the last point at which everything was complete."""

    def __init__(self, program: Program, atoms: Atoms) -> None:
        self._serial = program.serial
        self._atoms = atoms
        self._last: defaultdict[tuple[str, int], dict[Expr, _Last]] = defaultdict(dict)
        self._signals: defaultdict[str, list[Positions]] = defaultdict(list)
        self._known: defaultdict[str, Positions] = defaultdict(dict)
        self._silent: defaultdict[str, list[Instr]] = defaultdict(list)  # since the last signal

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing was issued since the start."""
        return not (self._signals or self._silent)

    def copy(self) -> Segment:
        """Return an independent copy, for one branch of an if."""
        other = object.__new__(Segment)
        other._serial, other._atoms = self._serial, self._atoms
        other._last = defaultdict(dict)
        for place, slots in self._last.items():
            other._last[place] = {s: _Last(dict(x[0]), dict(x[1])) for s, x in slots.items()}
        other._signals = defaultdict(list, {q: list(told) for q, told in self._signals.items()})
        other._known = defaultdict(dict, {e: dict(known) for e, known in self._known.items()})
        other._silent = defaultdict(list, {q: list(found) for q, found in self._silent.items()})
        return other

    def add(self, instr: Instr) -> Positions:
        """Append an instruction; return its waits."""
        needed: Positions = {}
        for last in self._conflicts(instr.reads):
            _join(needed, last.writes)
        for last in self._conflicts(instr.writes):
            _join(needed, last.accesses)
        if instr.counter in self._serial:
            needed.pop(instr.counter, None)
        known = self._known[instr.engine]
        waits = self._reduced(needed, known)
        for q, position in needed.items():
            _join(known, self._signals[q][position - 1])
        self._signal(instr, known)
        return waits

    def _conflicts(self, accesses: Iterable[Access]) -> Iterable[_Last]:
        for access in accesses:
            for atom in self._atoms.of(access):
                for slot, last in self._last[access.buffer, atom].items():
                    if relation(slot, access.slot) is not Relation.APART:
                        yield last

    def _reduced(self, needed: Positions, known: Positions) -> Positions:
        """Drop what earlier waits of the engine imply, and what another of these waits implies."""
        fresh = {q: position for q, position in needed.items() if position > known.get(q, 0)}
        return {
            q: position
            for q, position in fresh.items()
            if not any(
                self._signals[other][at - 1].get(q, 0) >= position
                for other, at in fresh.items()
                if other != q
            )
        }

    def _signal(self, instr: Instr, known: Positions) -> None:
        q = instr.counter
        self._silent[q].append(instr)
        if instr.silent:
            return  # it shows with the next signal
        past = self._signals[q]
        told = dict(known)
        if past:
            _join(told, past[-1])
        told[q] = len(past) + 1
        past.append(told)
        for shown in self._silent.pop(q):
            self._show(shown, len(past))

    def _show(self, instr: Instr, position: int) -> None:
        for accesses, is_write in ((instr.reads, False), (instr.writes, True)):
            for access in accesses:
                for atom in self._atoms.of(access):
                    place = access.buffer, atom, access.slot
                    self._record(*place, instr.counter, position, is_write)

    def _record(
        self, buffer: str, atom: int, slot: Expr, q: str, position: int, is_write: bool
    ) -> None:
        last = self._last[buffer, atom].setdefault(slot, _Last({}, {}))
        last.accesses[q] = position
        if is_write:
            last.writes[q] = position


def _join(into: Positions, other: Positions) -> None:
    for q, position in other.items():
        if position > into.get(q, 0):
            into[q] = position
