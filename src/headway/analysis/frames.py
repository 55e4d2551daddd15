"""In which frame the slots of a rotating buffer stand still.

In     a program
Out    for each loop, the buffers that are seen relative to its iteration, and how far they turn
Keeps  inside a loop with frame `terms`, slot `(terms + offset) % slots` has the number `offset`,
       whatever the iteration; when the iteration grows by one, number r is what r + turn was
Cost   linear in the accesses

    loop i n {                    # frame of b: 1*i, turn 1
      Q ld writes(b[i % 2])       # slot 0 of the frame
      PE mm reads(b[(i + 1) % 2]) # slot 1 of the frame
    }
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from headway.analysis.slots import Shapes, form
from headway.ir.expr import Expr
from headway.ir.program import Access, Instr, Loop, Node, Program, While
from headway.ir.walk import branches

MAX_SLOTS = 64
"""Buffers with more slots are not followed slot by slot; their thresholds live in registers."""

Terms = tuple[tuple[str, int], ...]
Frame = Mapping[str, Terms]


Scope = Mapping[str, tuple[int, int]]
"""The loops around by iteration: how deep they are, and a number for each."""


class Position(NamedTuple):
    """A slot as an affine function of iterations: `(terms + offset) % slots`."""

    terms: Terms
    offset: int


class Frames:
    """The frames that the loops of a program give to its rotating buffers."""

    def __init__(self, program: Program, shapes: Shapes) -> None:
        self._shapes = shapes
        self._slots = {buffer.name: buffer.slots for buffer in program.buffers}
        self._rotating = {buffer for buffer, slots in self._slots.items() if 1 < slots <= MAX_SLOTS}
        self._positions: dict[tuple[int, int], Position | None] = {}
        self._votes: defaultdict[int, defaultdict[str, Counter[Terms]]]
        self._votes = defaultdict(lambda: defaultdict(Counter))
        if self._rotating:
            self._count(program.body, {})

    def position(self, access: Access) -> Position | None:
        """Return the slot of an access, or None if it is not an affine function (exact)."""
        slots = self._slots[access.buffer]
        if slots == 1:
            return Position((), 0)
        return self._position(slots, self._shapes.of(access.slot))

    def _position(self, slots: int, number: int) -> Position | None:
        """Return the slot that an expression with a number of `Shapes` names."""
        key = (slots, number)
        if key not in self._positions:
            self._positions[key] = self._found_position(slots, self._shapes.expr(number))
        return self._positions[key]

    def _found_position(self, slots: int, slot: Expr) -> Position | None:
        found = form(slot)
        if not isinstance(found.terms, tuple) or (found.terms and found.modulus not in (0, slots)):
            return None
        terms = ((loop, c % slots) for loop, c in found.terms)
        return Position(tuple(term for term in terms if term[1]), found.offset % slots)

    def turns(self, loop: Loop | While, frame: Frame) -> dict[str, int]:
        """Return the buffers that `loop` gives a new frame, entered with `frame`, and their turns.

        It is the frame that most accesses have, as far as the loops around them settle it.
        """
        turns: dict[str, int] = {}
        votes_here: Mapping[str, Counter[Terms]] = self._votes.get(id(loop)) or {}
        for buffer, votes in votes_here.items():
            outer = frame.get(buffer, ())
            for terms, _ in votes.most_common():
                turn = dict(terms)[loop.iteration]
                if tuple(term for term in terms if term[0] != loop.iteration) == outer:
                    turns[buffer] = turn
                    break
        return turns

    def inside(self, loop: Loop | While, frame: Frame, turns: Mapping[str, int]) -> Frame:
        """Return the frame inside a loop."""
        new = dict(frame)
        for buffer, turn in turns.items():
            new[buffer] = tuple(sorted((*frame.get(buffer, ()), (loop.iteration, turn))))
        return new

    def _count(self, body: tuple[Node, ...], scope: Scope) -> None:
        found: list[tuple[str, int]] = []
        for node in body:
            if isinstance(node, Instr):
                self._collect(node.reads + node.writes, found)
                continue
            self._vote(found, scope)
            inner = scope
            if isinstance(node, Loop | While):
                inner = {**scope, node.iteration: (len(scope), id(node))}
            if node.control:  # a while tests its condition inside
                self._collect(node.control.reads, found)
                self._vote(found, inner if isinstance(node, While) else scope)
            for part in branches(node):
                self._count(part, inner)
        self._vote(found, scope)

    def _collect(self, accesses: tuple[Access, ...], found: list[tuple[str, int]]) -> None:
        """Note accesses to rotating buffers by the number of their slot."""
        rotating, number = self._rotating, self._shapes.of
        for access in accesses:
            slot = access.slot
            if type(slot) is not int and access.buffer in rotating:
                found.append((access.buffer, number(slot)))

    def _vote(self, found: list[tuple[str, int]], scope: Scope) -> None:
        for (buffer, number), count in Counter(found).items():
            position = self._position(self._slots[buffer], number)
            if position and position.terms:
                self._vote_for(buffer, position.terms, scope, count)
        found.clear()

    def _vote_for(self, buffer: str, terms: Terms, scope: Scope, count: int) -> None:
        """Vote in each loop that counts for the part of the frame that is fixed by then."""
        for name, _ in terms:
            depth, loop = scope[name]
            part = tuple(term for term in terms if scope[term[0]][0] <= depth)
            self._votes[loop][buffer][part] += count
