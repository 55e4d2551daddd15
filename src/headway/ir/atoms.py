"""Memory cut into disjoint atoms, so that two accesses conflict exactly when they share one.

In     the accesses of a program
Out    for each access the atoms it touches inside a slot, and whether that answer is exact
Exact  for whole slots and for boxes with static bounds: the boxes of a buffer are cut at each
       other's borders. Conservative for a box with run-time bounds, which touches every atom of
       its slot, and for buffers whose boxes would be cut into more than `MAX_CELLS` pieces, which
       are cut in one dimension only.
Cost   linear in the number of pieces that the boxes of each buffer cover
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import product
from math import prod

from headway.ir.expr import Expr
from headway.ir.program import Access, Program
from headway.ir.walk import accesses

MAX_CELLS = 65_536

Box = tuple[tuple[int, int], ...]


class Atoms:
    """The atoms of every buffer of a program."""

    def __init__(self, program: Program) -> None:
        boxes: dict[str, dict[Box, None]] = defaultdict(dict)
        for access in accesses(program.body):
            if access.box is not None and (box := static_box(access)) is not None:
                boxes[access.buffer][box] = None
        self._cuts = {buffer: _Cut(list(found)) for buffer, found in boxes.items()}

    def of(self, access: Access) -> Sequence[int]:
        """Return the numbers, from 0, of the atoms that the access touches in its slot."""
        cut = self._cuts.get(access.buffer)
        if cut is None:
            return (0,)
        box = static_box(access)
        return cut.everything if box is None else cut.atoms[box]

    def is_exact(self, access: Access) -> bool:
        """Tell whether `of` names only memory that the access really touches."""
        if access.box is None:
            return True
        box = static_box(access)
        return box is not None and box in self._cuts[access.buffer].exact

    def count(self, buffer: str) -> int:
        """Return the number of atoms in each slot of a buffer."""
        cut = self._cuts.get(buffer)
        return 1 if cut is None else len(cut.everything)


def static_box(access: Access) -> Box | None:
    """Return the box of an access if it is there and all its bounds are static (exact)."""
    if access.box is None:
        return None
    box: list[tuple[int, int]] = []
    for low, high in access.box:
        if not (isinstance(low, int) and isinstance(high, int)):
            return None
        box.append((low, high))
    return tuple(box)


def at_slot(access: Access, slot: Expr) -> Access:
    """Return an access to another slot, or to the same one where more is known of its iterations.

    A box with run-time bounds becomes all of its slot, which it stands for even where the bounds
    are known then: dependences are those of the program before.
    """
    box = access.box if static_box(access) is not None else None
    return Access(access.buffer, slot, box)


class _Cut:
    """The boxes of one buffer, cut into cells; cells under the same boxes form one atom."""

    def __init__(self, boxes: list[Box]) -> None:
        borders = [_borders(boxes, d) for d in range(len(boxes[0]))]
        kept = _dimensions(borders)
        spans = {box: [_span(box[d], borders[d]) for d in kept] for box in boxes}
        self.atoms = _group(spans)
        self.everything = tuple(sorted({a for atoms in self.atoms.values() for a in atoms}))
        dropped = [d for d in range(len(borders)) if d not in kept]
        self.exact = {box for box in boxes if not any(len(borders[d]) > 2 for d in dropped)}


def _borders(boxes: Iterable[Box], dimension: int) -> list[int]:
    return sorted({border for box in boxes for border in box[dimension]})


def _dimensions(borders: list[list[int]]) -> list[int]:
    """Return the dimensions to cut: all, or the one with most borders if that gives too many."""
    if prod(len(b) for b in borders) <= MAX_CELLS or len(borders) == 1:
        return list(range(len(borders)))
    return [max(range(len(borders)), key=lambda d: len(borders[d]))]


def _span(interval: tuple[int, int], borders: list[int]) -> range:
    return range(bisect_left(borders, interval[0]), bisect_left(borders, interval[1]))


def _group(spans: dict[Box, list[range]]) -> dict[Box, Sequence[int]]:
    """Number the atoms in order of first appearance; in one dimension each cell is an atom."""
    if all(len(span) == 1 for span in spans.values()):
        return {box: span[0] for box, span in spans.items()}
    covering: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for number, span in enumerate(spans.values()):
        for cell in product(*span):
            covering[cell].append(number)
    names: dict[tuple[int, ...], int] = {}
    atoms: list[set[int]] = [set() for _ in spans]
    for numbers in covering.values():
        atom = names.setdefault(tuple(numbers), len(names))
        for number in numbers:
            atoms[number].add(atom)
    return {box: tuple(sorted(found)) for box, found in zip(spans, atoms, strict=True)}
