"""Where the strategy `flags` has to place flags, before anybody counts how many there are.

In     a bound program
Out    a tree of blocks: one for each body, with what every counter and engine need in it
Keeps  each dependence is carried by a flag of the innermost body around both instructions: set
       behind the node of the one, taken before the node of the other, in the same iteration or, if
       it goes backward, `distance` iterations later. What an earlier take implies is left out.
Cost   linear for each level of nesting, times the different slots of a buffer

Slots are compared as affine functions of the iterations, modulo a number; others may be the same
(conservative).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from math import gcd
from typing import NamedTuple

from headway.analysis.slots import form
from headway.ir.atoms import Atoms
from headway.ir.expr import Expr, Iteration, leaves
from headway.ir.program import (
    Access,
    ControlRead,
    If,
    Instr,
    Loop,
    Node,
    Program,
    While,
    control_counter,
)
from headway.ir.walk import branches, engines_inside

Control = Loop | While | If
Cell = tuple[str, int]
"""An atom of a buffer."""
Last = dict[tuple[str, bool], int]
"""By counter and whether it writes: the last node that touches a slot."""
ANY = Iteration("")
"""A slot that nothing is known of: it depends on a loop that is not around."""


class Pair(NamedTuple):
    """Who sets a flag, by the counter, and who takes it."""

    counter: str
    engine: str


class Forward(NamedTuple):
    """Set behind node `after` of the body, taken before node `before` in the same iteration.

    Behind node -1 is the start of the body, and before its last node + 1 the end.
    """

    after: int
    before: int


class Backward(NamedTuple):
    """Set behind node `after`, taken before node `before`, `distance` iterations later."""

    distance: int
    after: int
    before: int


@dataclass(slots=True)
class Block:
    """A body; for each of its nodes the blocks inside and the engines that work there."""

    nodes: tuple[Node, ...]
    engines: list[frozenset[str]] = field(default_factory=list[frozenset[str]])
    inside: list[tuple[Block, ...]] = field(default_factory=list["tuple[Block, ...]"])
    forward: dict[Pair, list[Forward]] = field(default_factory=dict[Pair, list[Forward]])
    backward: dict[Pair, list[Backward]] = field(default_factory=dict[Pair, list[Backward]])


class _Touch(NamedTuple):
    """An access to one atom. `counter` completes it, `engine` waits before it."""

    counter: str
    engine: str
    cell: Cell
    slot: Expr
    is_write: bool


def blocks(program: Program) -> Block:
    """Return the block of the whole program, with all flags that it needs in each body."""
    return _Finder(program).block(program.body, None, frozenset())[0]


class _Finder:
    def __init__(self, program: Program) -> None:
        self._serial = program.serial
        self._atoms = Atoms(program)

    def block(
        self, nodes: tuple[Node, ...], owner: Control | None, around: frozenset[str]
    ) -> tuple[Block, dict[_Touch, None]]:
        """Return a body with its flags, and all that is touched in it."""
        if isinstance(owner, Loop | While):
            around = around | {owner.iteration}
        block, touched = Block(nodes), list[dict[_Touch, None]]()
        for node in nodes:
            inside, touches = self._node(node, around)
            block.inside.append(inside)
            block.engines.append(_engines(node, inside))
            touched.append(touches)
        _Body(self._serial, around, block, touched).place(owner, dict(self._loads(owner)))
        return block, {touch: None for touches in touched for touch in touches}

    def _node(
        self, node: Node, around: frozenset[str]
    ) -> tuple[tuple[Block, ...], dict[_Touch, None]]:
        if isinstance(node, Instr):
            where = node.counter, node.engine
            reads = self._touches(*where, node.reads, False)
            return (), dict.fromkeys((*reads, *self._touches(*where, node.writes, True)))
        inside = [self.block(body, node, around) for body in branches(node)]
        touches = dict(self._loads(node))
        for _, more in inside:
            touches |= more
        if not isinstance(node, If):
            touches = dict.fromkeys(_from_outside(touch, node.iteration) for touch in touches)
        return tuple(block for block, _ in inside), touches

    def _loads(self, owner: Control | None) -> Iterator[tuple[_Touch, None]]:
        """Yield what the loads of a control value touch, one by each engine with work inside."""
        control: ControlRead | None = owner.control if owner else None
        if owner is None or control is None:
            return
        engines = frozenset[str]().union(*map(engines_inside, branches(owner)))
        for engine in sorted(engines):
            for touch in self._touches(control_counter(engine), engine, control.reads, False):
                yield touch, None

    def _touches(
        self, counter: str, engine: str, accesses: Iterable[Access], is_write: bool
    ) -> Iterator[_Touch]:
        for access in accesses:
            for atom in self._atoms.of(access):
                yield _Touch(counter, engine, (access.buffer, atom), access.slot, is_write)


def _from_outside(touch: _Touch, loop: str) -> _Touch:
    """Outside a loop, a slot that depends on its iteration may be any."""
    return touch._replace(slot=ANY) if _depends(touch.slot, loop) else touch


@lru_cache(maxsize=65536)
def _depends(slot: Expr, loop: str) -> bool:
    return any(isinstance(leaf, Iteration) and leaf.loop == loop for leaf in leaves(slot))


def _engines(node: Node, inside: tuple[Block, ...]) -> frozenset[str]:
    if isinstance(node, Instr):
        return frozenset((node.engine,))
    return frozenset[str]().union(*(engines for body in inside for engines in body.engines))


class _Slots:
    """Who last touched the slots of a cell; constants, of which there may be many, are apart."""

    def __init__(self) -> None:
        self._constants: defaultdict[int, Last] = defaultdict(dict)
        self._others: defaultdict[Expr, Last] = defaultdict(dict)

    def of(self, slot: Expr) -> Last:
        return self._constants[slot] if isinstance(slot, int) else self._others[slot]

    def that_may_be(self, slot: Expr) -> Iterator[tuple[Expr, Last]]:
        if not isinstance(slot, int):
            yield from self._constants.items()
        elif slot in self._constants:
            yield slot, self._constants[slot]
        yield from self._others.items()


class _Body:
    """Finds the flags of one body."""

    def __init__(
        self,
        serial: frozenset[str],
        around: frozenset[str],
        block: Block,
        touched: list[dict[_Touch, None]],
    ) -> None:
        self._serial = serial
        self._around = around
        self._block = block
        self._touched = touched
        self._last: defaultdict[Cell, _Slots] = defaultdict(_Slots)
        # The last node behind which a backward flag is set, by distance; it only grows.
        self._latest: defaultdict[Pair, dict[int, int]] = defaultdict(dict)

    def place(self, owner: Control | None, loads: dict[_Touch, None]) -> None:
        """Place the flags; `loads` are those of the owner's control value."""
        head: defaultdict[Cell, dict[str, None]] = defaultdict(dict)
        for load in loads:
            head[load.cell][load.counter] = None
        for number, touches in enumerate(self._touched):
            self._forward(number, touches, head)
        if isinstance(owner, While):
            self._before_the_next_test(loads)
        if isinstance(owner, Loop | While):
            for number, touches in enumerate(self._touched):
                self._backward(number, touches, owner.iteration)

    def _forward(
        self,
        number: int,
        touches: Iterable[_Touch],
        head: dict[Cell, dict[str, None]],
    ) -> None:
        found: dict[Pair, int] = {}
        for touch in touches:
            for slot, counter, after in self._before(touch):
                if self._distance(slot, touch, "") is not None:
                    pair = Pair(counter, touch.engine)
                    found[pair] = max(found.get(pair, -1), after)
            if touch.is_write:  # where the load looks may depend on the iteration: assume the worst
                for counter in head.get(touch.cell, ()):
                    if counter != control_counter(touch.engine):
                        found.setdefault(Pair(counter, touch.engine), -1)
        for touch in touches:
            last = self._last[touch.cell].of(touch.slot)
            last[touch.counter, touch.is_write] = number
        for pair, after in found.items():
            self._add_forward(pair, Forward(after, number))

    def _add_forward(self, pair: Pair, flag: Forward) -> None:
        placed = self._block.forward.setdefault(pair, [])
        if not placed or placed[-1].after < flag.after:
            placed.append(flag)

    def _before_the_next_test(self, loads: Iterable[_Touch]) -> None:
        """Let the load of a `while` follow what was written in the iteration before it."""
        found: dict[Pair, int] = {}
        for load in loads:
            for _, counter, after in self._before(load):
                pair = Pair(counter, load.engine)
                found[pair] = max(found.get(pair, -1), after)
        for pair, after in found.items():
            self._add_forward(pair, Forward(after, len(self._touched)))

    def _before(self, touch: _Touch) -> Iterator[tuple[Expr, str, int]]:
        """Yield the touches that a touch conflicts with, if they are in the same slot."""
        slots = self._last.get(touch.cell)
        if slots is None:
            return
        for slot, last in slots.that_may_be(touch.slot):
            for (counter, is_write), after in last.items():
                is_own = counter == touch.counter and counter in self._serial
                if (touch.is_write or is_write) and not is_own:
                    if counter != control_counter(touch.engine):
                        yield slot, counter, after

    def _backward(self, number: int, touches: Iterable[_Touch], loop: str) -> None:
        found: dict[Pair, tuple[int, int]] = {}
        for touch in touches:
            for slot, counter, after in self._before(touch):
                distance = self._distance(slot, touch, loop)
                if distance is not None:
                    pair = Pair(counter, touch.engine)
                    strict = (distance, -after)
                    found[pair] = min(found.get(pair, strict), strict)
        for pair, (distance, after) in found.items():
            flag = Backward(distance, -after, number)
            if not self._is_implied(pair, flag):
                self._block.backward.setdefault(pair, []).append(flag)
                self._latest[pair][flag.distance] = flag.after

    def _is_implied(self, pair: Pair, flag: Backward) -> bool:
        """Tell whether an earlier take of the same engine implies a flag.

        A token of this iteration is behind everything of the iterations before, and one of the
        iteration before behind all up to the node where it was set.
        """
        forward = self._block.forward.get(pair)
        if forward and (forward[0].before <= flag.before or forward[-1].after >= flag.after):
            return True
        return any(
            (distance, -after) <= (flag.distance, -flag.after)
            for distance, after in self._latest[pair].items()
        )

    def _distance(self, before: Expr, touch: _Touch, loop: str) -> int | None:
        """Return after how many iterations of `loop` a slot is touched again; None is never.

        At least 1, or without a loop 0: in the same iteration. Never more than the truth.
        """
        least = 1 if loop else 0
        a, b = form(before), form(touch.slot)
        if a.modulus != b.modulus or not isinstance(a.terms, tuple):
            return least
        if a.terms != b.terms or not self._around.issuperset(name for name, _ in a.terms):
            return least
        step = dict(a.terms).get(loop, 0)
        return _first(a.offset - b.offset, step, a.modulus, least)


def _first(gap: int, step: int, modulus: int, least: int) -> int | None:
    """Return the first d >= least with `gap == step * d`, modulo `modulus` if that is not 0."""
    if modulus == 0:
        if step == 0 or least == 0:
            return least if gap == 0 else None
        return gap // step if gap % step == 0 and gap // step >= least else None
    if least == 0:
        return 0 if gap % modulus == 0 else None
    if gap % gcd(step, modulus):
        return None
    return next(d for d in range(least, least + modulus) if (gap - step * d) % modulus == 0)
