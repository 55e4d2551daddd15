"""Which registers hold something needed at the same time, and which can be one.

Sets of registers are integers with one bit for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass

from headway.passes._mentions import Mentions, Names
from headway.sync.program import Assign, Register, SyncIf, SyncLoop, SyncNode, SyncWhile
from headway.sync.rewrite import Body

Shared = Mapping[str, Register]
"""The row of registers that takes the place of a capture, or of a row of them."""


class RegisterSets:
    """What nodes of an engine program read and set.

    `shared` are captures that have other registers, so that several may have one. Assignments whose
    identity is in `larger` set these to the larger of what they hold and a value.
    """

    def __init__(
        self,
        registers: Iterable[Register],
        mentions: Mentions,
        shared: Shared | None = None,
        larger: Set[int] = frozenset(),
    ) -> None:
        self._shared = shared or {}
        own = {r.name: self._shared.get(r.name, r) for r in registers}
        self.registers = tuple(dict.fromkeys(own.values()))
        bits = {register: 1 << i for i, register in enumerate(self.registers)}
        self._bits = {name: bits[register] for name, register in own.items()}
        self._single = sum(bit for register, bit in bits.items() if register.size == 1)
        self._larger = larger
        self._mentions = mentions
        self._sets: dict[Names, int] = {}

    def bits(self) -> dict[str, int]:
        """Return the bit of each register."""
        return {register.name: 1 << i for i, register in enumerate(self.registers)}

    def read(self, node: SyncNode) -> int:
        """Return what a node reads; what its bodies do does not count."""
        names = self._mentions.read(node)
        found = self._sets.get(names)
        if found is None:
            found = 0
            for name in names:
                found |= self._bits[name]
            self._sets[names] = found
        return found

    def assigned(self, node: Assign) -> Step:
        """Return an assignment; one to a row leaves the others of the row as they are."""
        name, reads = node.register.name, self.read(node)
        bit = self._bits[name]
        if id(node) in self._larger and name in self._shared:
            reads |= bit
        return Step(node, reads, bit, bit & self._single)


@dataclass(slots=True)
class Step:
    """A node, and what it does to registers.

    `reads` is what is needed before it whatever comes behind, `sets` what an assignment sets, and
    `ends` what is not needed before it for the sake of what comes behind. `inside` is what is
    needed in a loop at the start of each iteration.
    """

    node: SyncNode
    reads: int
    sets: int = 0
    ends: int = 0
    bodies: tuple[list[Step], ...] = ()
    inside: int = 0


Order = Callable[[Iterable[Step]], list[Step]]


def outline(body: Body, sets: RegisterSets, order: Order = list) -> list[Step]:
    """Return what the nodes of a body do, in another order."""
    return order([_step(node, sets, order) for node in body])


def _step(node: SyncNode, sets: RegisterSets, order: Order) -> Step:
    match node:
        case Assign():
            return sets.assigned(node)
        case SyncLoop() | SyncWhile():
            own, steps = sets.read(node), outline(node.body, sets, order)
            inside, _ = _needs(steps)
            if isinstance(node, SyncWhile):
                inside |= own
            return Step(node, own | inside, bodies=(steps,), inside=inside)
        case SyncIf():
            then, orelse = outline(node.then, sets, order), outline(node.orelse, sets, order)
            (needs_then, ends_then), (needs_orelse, ends_orelse) = _needs(then), _needs(orelse)
            reads = sets.read(node) | needs_then | needs_orelse
            return Step(node, reads, 0, ends_then & ends_orelse, (then, orelse))
        case _:
            return Step(node, sets.read(node))


def _needs(steps: list[Step]) -> tuple[int, int]:
    """Return `reads` and `ends` of steps as a whole."""
    reads = ends = 0
    for step in reversed(steps):
        reads = step.reads | reads & ~step.ends
        ends |= step.ends
    return reads, ends


class Liveness:
    """Which registers are needed while others are set.

    `carried` are those that are needed at the start of the program or of an iteration, so that they
    are more than a passing value.
    """

    def __init__(self, steps: list[Step], sets: RegisterSets) -> None:
        self._bits = sets.bits()
        self._conflicts = dict.fromkeys(self._bits.values(), 0)
        self._carried = 0
        entry = self._walk(steps, 0)
        for bit in self._conflicts:
            if entry & bit:  # all of them hold 0 at the start
                self._conflicts[bit] |= entry
        self._carried |= entry

    def _walk(self, steps: list[Step], live: int) -> int:
        """Note what happens in steps; return what is live before them."""
        for step in reversed(steps):
            if step.sets:
                self._conflicts[step.sets] |= live
            elif step.bodies:
                within = live
                if not isinstance(step.node, SyncIf):
                    within |= step.inside
                    self._carried |= within
                for body in step.bodies:
                    self._walk(body, within)
            live = step.reads | live & ~step.ends
        return live

    @property
    def carried(self) -> set[str]:
        """The names of the registers that are more than a passing value."""
        return {name for name, bit in self._bits.items() if self._carried & bit}

    def groups(self, names: Iterable[str]) -> dict[str, str]:
        """Return for each name the first one with which it can share a register."""
        members: dict[str, tuple[int, int]] = {}  # those inside, and what they conflict with
        found: dict[str, str] = {}
        for name in names:
            bit = self._bits[name]
            apart = self._conflicts[bit]
            # One of two is set while the other is needed: it does not matter which.
            fits = (g for g, (own, others) in members.items() if not (own & apart or others & bit))
            group = next(fits, name)
            own, others = members.get(group, (0, 0))
            members[group] = (own | bit, others | apart)
            found[name] = group
        return found
