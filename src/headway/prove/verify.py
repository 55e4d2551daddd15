"""Check facts of loop heads against a program, in one pass over both.

They have to hold where the loop is entered, and one turn has to keep them. On the way every
conflicting access has to be complete by some rule, and every wait has to ask for the past. Nothing
is searched.
"""

from __future__ import annotations

from typing import NamedTuple

from headway.errors import Location
from headway.ir.expr import Iteration
from headway.ir.program import Access, Loop, While
from headway.ir.walk import deep_nests
from headway.prove.cells import Block, Row, cells
from headway.prove.facts import Facts, beginning
from headway.prove.follow import Undecided
from headway.prove.forms import ZERO
from headway.prove.walk import Instance, Turn, Walk
from headway.sync.program import SyncProgram, Wait

OR = " or "
"""Stands between rules where it depends on the iteration which one applies."""


class Gap(NamedTuple):
    """Where a proof has a hole, and why."""

    reason: str
    at: Location | None = None


class Dependence(NamedTuple):
    """That an instance comes after accesses on a counter, and the rule that sees to it."""

    instruction: str
    engine: str
    access: str
    after: str
    rule: str
    by: str


class WaitNote(NamedTuple):
    """A wait and why it cannot deadlock; the rule is "" if it may."""

    engine: str
    instruction: str
    wait: str
    rule: str


class Notes:
    """What a walk found out about every dependence and wait."""

    def __init__(self) -> None:
        self.dependences: dict[tuple[str, str, str, str], Dependence] = {}
        self.waits: dict[tuple[str, str, str], WaitNote] = {}
        self.gaps: list[Gap] = []

    def wait(self, at: str, engine: str, wait: Wait, reached: bool) -> None:
        """Note a wait; where it is seen more than once, all have to be good."""
        if not reached:
            self.gaps.append(Gap(f"{engine} may wait for {wait} for ever", wait.at))
        key = engine, at, str(wait)
        self.waits[key] = WaitNote(*key, "past" if reached else "")

    def dependence(self, at: Instance, block: Block, access: Access, rule: str, by: str) -> None:
        """Note a dependence."""
        where = f"{access.buffer}[{access.slot}]"
        after = f"{block.kind} {block.counter} {block.buffer}.{block.atom}"
        if not rule:
            why = f"{at.node.name} on {at.engine} may come before an earlier {after}"
            self.gaps.append(Gap(why, at.node.at))
        key = at.node.name, at.engine, where, after
        old = self.dependences.get(key, Dependence(*key, "", ""))
        rules = sorted({rule, *old.rule.split(OR)} - {""})
        self.dependences[key] = Dependence(*key, OR.join(rules), by or old.by)


class Given:
    """Facts that were found. Each has to hold at the entry, and after one turn."""

    def __init__(self, heads: dict[str, Facts]) -> None:
        self._heads = heads

    def head(self, path: str, node: Loop | While, entry: Facts, turn: Turn) -> tuple[Facts, Facts]:
        """Return the facts of a loop, checked, and what a turn makes of them."""
        head = self._heads.get(path)
        if head is None or head.frames.keys() != entry.frames.keys():
            raise Undecided("there are no facts for this loop", node.at)
        head = head.copy()
        head.values = dict(entry.values)  # loops around it may be walked turn by turn
        first = head.copy()
        first.equal = {
            r: f.with_value(Iteration(node.iteration), ZERO) for r, f in head.equal.items()
        }
        entry = entry.copy()
        entry.enter(node.iteration, head.frames)
        if not _implies(entry, first):
            raise Undecided("a fact of this loop does not hold when it is entered", node.at)
        end = turn(head)
        if not _implies(end, head):
            raise Undecided("a fact of this loop is not kept by its body", node.at)
        return head, end


def _implies(facts: Facts, wanted: Facts) -> bool:
    if any(
        getattr(facts, table).keys() != getattr(wanted, table).keys()
        for table in ("known", "asked", "ages", "fixed", "told", "frames")
    ):
        return False
    return wanted.meet(facts) == wanted


def walked(
    sync: SyncProgram, rows: dict[Row, str], heads: dict[str, Facts], unrolled: frozenset[str]
) -> Notes:
    """Walk a program once with given facts at loop heads; return what was found out."""
    notes = Notes()
    found = cells(sync, rows)
    try:
        with deep_nests():
            Walk(found, Given(heads), notes, unrolled).run(beginning(found))
    except Undecided as hole:
        notes.gaps.append(Gap(hole.reason, hole.at))
    return notes
