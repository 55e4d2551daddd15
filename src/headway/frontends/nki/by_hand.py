"""Tiles that lie where the kernel puts them: slots and address ranges of the memory they share.

In     the tiles of each site, with their places: a partition and a byte, turn after turn
Out    for each site the buffers that its tiles lie in: rings of slots, and memory with ranges
Exact  a ring has a slot for each turn, and everything else that lies there names the same slots;
       what no turning tile touches is one slot with address ranges. Conservative, whole tiles of
       all turns being touched, where a tile would fall into more than `MOST_PIECES` pieces, or
       turns in no period of at most `MOST_TURNS`

Sites whose tiles overlap somewhere share an arena. Its memory is cut where turning tiles begin, and
then likewise in all turns of a tile, so that in each turn a tile consists of equal pieces.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product
from math import prod
from typing import Any

from headway.errors import InvalidInput
from headway.frontends.nki.affine import Number, const_of, terms_of
from headway.frontends.nki.allocation import CAPACITY
from headway.frontends.nki.bands import Bands
from headway.frontends.nki.lifetimes import Rotation
from headway.frontends.nki.names import Namer
from headway.frontends.nki.places import diagnostic
from headway.frontends.nki.record import Box, Storage
from headway.frontends.nki.slots import Located, Place, ToExpr, ToLinear, dynamic, remainder
from headway.frontends.nki.types import PARTITIONS
from headway.ir.expr import Binary, Expr
from headway.ir.program import Access, Buffer
from headway.values import program as values
from headway.values.program import Linear, View

MOST_TURNS = 64
MOST_PIECES = 16
MOST_RUNS = 8
MOST_CUTS = 512

Start = tuple[int, int]  # partition, byte
Rect = tuple[int, int, int, int]  # partitions [0:2], bytes [2:4]


@dataclass(eq=False)
class Site:
    """The tiles of one place of the kernel: tile k begins at `starts[k % len(starts)]`.

    k is what `rotation` counts. A tile that is accessed band by band turns through its `bands`.
    `turns` are where each band of each tile begins, and `size` its partitions and bytes.
    """

    storage: Storage
    rotation: Rotation
    starts: tuple[Start, ...]
    band_axis: int | None = None
    bands: int = 1

    def __post_init__(self) -> None:
        self.size = self.storage.shape[0], self.storage.row // self.bands
        steps = [self.size[1] * band for band in range(self.bands)]
        self.turns = [(p, byte + step) for p, byte in self.starts for step in steps]
        self.is_turning = len(self.turns) > 1

    def rects(self) -> list[Rect]:
        """Return what each turn takes of the memory."""
        rows, row = self.size
        return [(p, p + rows, byte, byte + row) for p, byte in self.turns]

    def parts(self, access: Located) -> Iterator[tuple[Number, list[Rect]]]:
        """Yield each turn that an operand touches, and what it touches there, from its start."""
        count = self.rotation.count(access.index)
        size = self.storage.dtype.itemsize
        if self.band_axis is None:
            yield count, list(_runs(access.operand.root, access.box, size))
            return
        axis = self.band_axis
        low, high = access.box[axis]
        width = access.operand.root[axis] // self.bands
        box = (*access.box[:axis], (0, width), *access.box[axis + 1 :])
        root = (*access.operand.root[:axis], width, *access.operand.root[axis + 1 :])
        touched = list(_runs(root, box, size))
        for band in range((const_of(high) - const_of(low)) // width):
            yield count * self.bands + (low // width) + band, touched


@dataclass(frozen=True, slots=True)
class InArena:
    """The home of the tiles of a site that the kernel places by hand."""

    arena: Arena
    site: Site

    def accesses(self, access: Located, expr: ToExpr) -> Iterator[Access]:
        """Yield an access for each slot that an operand touches."""
        return self.arena.accesses(self.site, access, expr)

    def memory(self) -> tuple[str, values.Memory]:
        """Return the memory that holds the values, and its name: rows of bytes."""
        space, shape = self.site.storage.memory.name, self.arena.shape
        first = self.arena.bounds[2]
        return self.arena.name, values.Memory(1, shape, "uint8", space, None, (first,), shape[1])

    def view(self, role: str, access: Located, linear: ToLinear) -> View:
        """Return what an operand of that role is as a view of the memory."""
        layout, table = access.operand.layout, access.operand.layout.table
        p0, _, b0, _ = self.arena.bounds
        offset = linear(access.offset)
        return View(
            self.arena.name,
            linear(self.site.rotation.count(access.index)),
            len(self.site.starts),
            Linear(self._moved(offset.const), tuple(map(self._moved, offset.factors))),
            layout.dtype,
            layout.shape,
            tuple(map(self._moved, layout.strides)),
            None if table is None else self._moved_table(table.offsets),
            tuple(replace(d, stride=self._moved(d.stride)) for d in dynamic(role, layout)),
            tuple((p - p0) * self.arena.shape[1] + b - b0 for p, b in self.site.starts),
        )

    def _moved(self, distance: int) -> int:
        """Return a distance in bytes of the tile, alone in its rows, as one of the arena."""
        sign = -1 if distance < 0 else 1
        rows, inside = divmod(abs(distance), self.site.storage.row)
        return sign * (rows * self.arena.shape[1] + inside)

    def _moved_table(self, offsets: Any) -> Any:
        row = self.site.storage.row
        moved = offsets // row * self.arena.shape[1] + offsets % row
        return (offsets >= 0) * (moved + 1) - 1


# ---- places as functions of turns


def site_of(tiles: Sequence[Storage], weights: tuple[int, ...], bands: Bands | None) -> Site:
    """Return the tiles of a site in their period. Raise HeadwayError if they have no place."""
    counting = Rotation(weights, 1)
    starts: dict[int, Start] = {}
    for tile in tiles:
        assert tile.place is not None
        _check_inside(tile, tile.place)
        turn = const_of(counting.count(tile.index))
        if starts.setdefault(turn, tile.place) != tile.place:
            raise InvalidInput(
                diagnostic(
                    f"the address of {tile.name!r} depends on a loop with a run-time bound",
                    tile.at,
                    rule="where a tile lies is known when the kernel is traced",
                )
            )
    period = _period(starts)
    axis, count = _banded(bands) if bands else (None, 1)
    if period * count > MOST_TURNS:
        axis, count = None, 1
    by_turn = {turn % period: start for turn, start in starts.items()}
    first = next(iter(by_turn.values()))
    found = tuple(by_turn.get(turn, first) for turn in range(period))
    return Site(tiles[0], Rotation(weights, period), found, axis, count)


def _period(starts: Mapping[int, Start]) -> int:
    """Return the least period of the places, at most the number of turns."""
    highest = max(starts) + 1
    least = len(set(starts.values()))
    for period in range(least, min(highest, MOST_TURNS) + 1):
        if all(start == starts.get(turn % period, start) for turn, start in starts.items()):
            return period
    return highest


def _check_inside(tile: Storage, place: Start) -> None:
    (partition, byte), capacity = place, CAPACITY[tile.memory.name]
    if partition < 0 or partition + tile.shape[0] > PARTITIONS:
        fact = f"partitions {partition} to {partition + tile.shape[0]}"
        rule = f"there are {PARTITIONS} partitions"
    elif byte < 0 or byte + tile.row > capacity:
        fact = f"bytes {byte:,} to {byte + tile.row:,}"
        rule = f"a partition of {tile.memory.name} has {capacity:,} bytes"
    else:
        return
    raise InvalidInput(diagnostic(f"{tile.name!r} is placed at {fact}", tile.at, rule=rule))


def _banded(bands: Bands) -> tuple[int | None, int]:
    """Return the dimension that is cut into bands which lie one after the other, and how many."""
    cut = [
        d
        for d, (extent, width) in enumerate(zip(bands.extents, bands.widths, strict=True))
        if width is not None and width < extent
    ]
    if len(cut) != 1 or cut[0] == 0 or prod(bands.extents[1 : cut[0]]) != 1:
        return None, 1
    extent, width = bands.extents[cut[0]], bands.widths[cut[0]]
    return (cut[0], extent // width) if width and extent % width == 0 else (None, 1)


def _runs(root: tuple[int, ...], box: Box, itemsize: int) -> Iterator[Rect]:
    """Yield the ranges of bytes of a box; one around them if they are many.

    A dimension whose borders move counts as touched everywhere.
    """
    spans = [
        (0, extent) if terms_of(low) or terms_of(high) else (const_of(low), const_of(high))
        for extent, (low, high) in zip(root, box, strict=True)
    ]
    (first, last), free = spans[0], spans[1:]
    split = len(free)
    while split and free[split - 1] == (0, root[split]):
        split -= 1
    outer, inner = free[: max(0, split - 1)], prod(root[split + 1 :]) * itemsize
    low, high = free[split - 1] if split else (0, 1)
    steps = [prod(root[d + 2 :]) * itemsize for d in range(len(outer))]
    starts = [
        sum(step * at for step, at in zip(steps, position, strict=True))
        for position in product(*(range(*span) for span in outer))
    ]
    if not starts or low >= high or first >= last:
        return
    if len(starts) > MOST_RUNS:
        yield first, last, starts[0] + low * inner, starts[-1] + high * inner
        return
    for start in starts:
        yield first, last, start + low * inner, start + high * inner


# ---- arenas


def arenas(sites: Sequence[Site], namer: Namer) -> list[Arena]:
    """Return the arenas of all sites of one memory: those that overlap share one."""
    home = list(range(len(sites)))

    def root(at: int) -> int:
        while home[at] != at:
            home[at] = home[home[at]]
            at = home[at]
        return at

    rects = sorted(
        ((rect, at) for at, site in enumerate(sites) for rect in set(site.rects())),
        key=lambda found: found[0][2],
    )
    open_rects: list[tuple[Rect, int]] = []
    for rect, at in rects:
        open_rects = [other for other in open_rects if other[0][3] > rect[2]]
        for other, there in open_rects:
            if _meet(rect, other):
                home[root(at)] = root(there)
        open_rects.append((rect, at))
    members: dict[int, list[Site]] = {}
    for at, site in enumerate(sites):
        members.setdefault(root(at), []).append(site)
    return [Arena(found, namer) for found in members.values()]


def _meet(one: Rect, other: Rect) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def _cut(one: Rect, other: Rect) -> Rect | None:
    if not _meet(one, other):
        return None
    low, high = tuple(map(max, one, other)), tuple(map(min, one, other))
    return low[0], high[1], low[2], high[3]


class Ring:
    """Cells that turning tiles visit: one slot each, in the order of their addresses."""

    def __init__(self, name: str, cells: list[Rect]) -> None:
        self.name = name
        self.cells = cells
        self.shape = max(c[1] - c[0] for c in cells), max(c[3] - c[2] for c in cells)

    def access(self, slot: Expr, inside: Rect, cell: Rect) -> Access:
        """Return an access to a part of a cell."""
        p, q, b, c = inside
        box = (p - cell[0], q - cell[0]), (b - cell[2], c - cell[2])
        is_whole = box == ((0, self.shape[0]), (0, self.shape[1]))
        return Access(self.name, slot, None if is_whole else box)


class Arena:
    """Memory that tiles placed by hand share. `bounds` is what they take together."""

    def __init__(self, sites: Sequence[Site], namer: Namer) -> None:
        self.sites = tuple(sites)
        self.name = namer.unique(sites[0].storage.name)
        rects = list(dict.fromkeys(rect for site in sites for rect in site.rects()))
        self.bounds = (
            min(r[0] for r in rects),
            max(r[1] for r in rects),
            min(r[2] for r in rects),
            max(r[3] for r in rects),
        )
        self._cuts = _cuts(sites, self.bounds)
        self._cells: dict[Rect, tuple[Ring, int]] = {}
        self._has_ranges = True
        self.is_followed = all(len(site.turns) <= MOST_TURNS for site in sites) and all(
            len(self._cells_in(rect)) <= MOST_PIECES for rect in rects
        )
        if self.is_followed:
            rings = [Ring(self.name, cells) for cells in self._orbits()]
            for ring in rings:
                self._cells |= {cell: (ring, slot) for slot, cell in enumerate(ring.cells)}
            self._has_ranges = any(self._outside(rect) for rect in rects)
            for ring in rings if self._has_ranges else rings[1:]:
                ring.name = namer.unique(self.name)

    def buffers(self) -> Iterator[Buffer]:
        """Yield the declarations."""
        first = self.sites[0].storage
        space = first.memory.name
        for ring in dict.fromkeys(ring for ring, _ in self._cells.values()):
            yield Buffer(ring.name, len(ring.cells), ring.shape, space, first.at)
        if self._has_ranges:
            yield Buffer(self.name, 1, self.shape, space, first.at)

    @property
    def shape(self) -> tuple[int, int]:
        """Partitions and bytes."""
        return self.bounds[1] - self.bounds[0], self.bounds[3] - self.bounds[2]

    def alone(self, bands: Bands | None) -> Place | None:
        """Return the place of a site that shares no byte, not even with another of its turns."""
        (first, *others) = self.sites
        tiles = [(p, p + first.size[0], b, b + first.storage.row) for p, b in first.starts]
        if others or any(_meet(one, other) for one, other in combinations(tiles, 2)):
            return None
        addresses = tuple(byte for _, byte in first.starts)
        return Place(self.name, first.storage, first.rotation, bands, addresses)

    def accesses(self, site: Site, access: Located, expr: ToExpr) -> Iterator[Access]:
        """Yield what an operand touches."""
        for turn, touched in site.parts(access):
            if site.is_turning and self.is_followed:
                yield from self._turning(site, turn, touched, expr)
                continue
            for start in dict.fromkeys(site.turns):
                for rect in touched:
                    yield from self._fixed(_shifted(rect, start))

    def _turning(
        self, site: Site, turn: Number, touched: list[Rect], expr: ToExpr
    ) -> Iterator[Access]:
        """Every turn consists of equal pieces, of which the first turn shows the borders."""
        pieces = zip(*(self._cells_in(rect) for rect in site.rects()), strict=True)
        for cells in pieces:
            ring = self._cells[cells[0]][0]
            slot = _slot([self._cells[cell][1] for cell in cells], len(ring.cells), turn, expr)
            for rect in touched:
                inside = _cut(_shifted(rect, site.turns[0]), cells[0])
                if inside:
                    yield ring.access(slot, inside, cells[0])

    def _fixed(self, rect: Rect) -> Iterator[Access]:
        for cell in self._cells_in(rect):
            inside = _cut(rect, cell)
            if cell in self._cells and inside:
                ring, slot = self._cells[cell]
                yield ring.access(slot, inside, cell)
        p0, _, b0, _ = self.bounds
        for p, q, b, c in self._outside(rect):
            yield Access(self.name, 0, ((p - p0, q - p0), (b - b0, c - b0)))

    # ---- cells

    def _cells_in(self, rect: Rect) -> list[Rect]:
        """Return the cells that a rectangle meets, in the order of their addresses."""
        rows, columns = self._cuts
        return [
            (p, q, b, c)
            for p, q in _between(rows, rect[0], rect[1])
            for b, c in _between(columns, rect[2], rect[3])
        ]

    def _orbits(self) -> Iterator[list[Rect]]:
        """Yield the cells that turning tiles visit, together if one piece visits them in turn."""
        together: dict[Rect, set[Rect]] = {}
        for site in self.sites:
            if site.is_turning:
                for cells in zip(*(self._cells_in(rect) for rect in site.rects()), strict=True):
                    joined = set(cells).union(*(together.get(cell, ()) for cell in cells))
                    together |= dict.fromkeys(joined, joined)
        for orbit in {id(cells): cells for cells in together.values()}.values():
            yield sorted(orbit, key=lambda cell: (cell[2], cell[0]))

    def _outside(self, rect: Rect) -> list[Rect]:
        """Return what a rectangle touches outside the rings, as few rectangles."""
        if not self._cells:
            return [rect]
        found: list[Rect] = []
        for cell in self._cells_in(rect):
            inside = _cut(rect, cell)
            if cell in self._cells or not inside:
                continue
            if found and found[-1][:2] == inside[:2] and found[-1][3] == inside[2]:
                inside = (*found.pop()[:3], inside[3])
            found.append(inside)
        return found


def _cuts(sites: Sequence[Site], bounds: Rect) -> tuple[list[int], list[int]]:
    """Return where partitions and bytes are cut: alike in all turns of each tile that turns.

    Without an end to it, the memory is cut nowhere inside.
    """
    found: list[list[int]] = []
    for axis in (0, 1):
        ends = {bounds[2 * axis], bounds[2 * axis + 1]}
        cuts = set(ends)
        turning = [site for site in sites if len({start[axis] for start in site.turns}) > 1]
        while len(cuts) <= MOST_CUTS:
            more = {cut for site in turning for cut in _repeated(site, axis, cuts)}
            if more <= cuts:
                break
            cuts |= more
        found.append(sorted(cuts if len(cuts) <= MOST_CUTS else ends))
    return found[0], found[1]


def _repeated(site: Site, axis: int, cuts: set[int]) -> Iterator[int]:
    starts, size = {start[axis] for start in site.turns}, site.size[axis]
    inside = {cut - start for start in starts for cut in cuts if start < cut < start + size}
    for start in starts:
        yield from (start + offset for offset in (0, *inside))


def _between(cuts: list[int], low: int, high: int) -> list[tuple[int, int]]:
    """Return the intervals between cuts that [low, high) meets."""
    first, last = bisect_right(cuts, low) - 1, bisect_left(cuts, high)
    return list(pairwise(cuts[first : last + 1]))


def _slot(slots: Sequence[int], count: int, turn: Number, expr: ToExpr) -> Expr:
    """Return `slots[turn % len(slots)]` of a ring of so many slots."""
    turns = len(slots)
    step = slots[1] - slots[0]
    is_even = all((slot - slots[0] - step * at) % count == 0 for at, slot in enumerate(slots))
    if is_even and step * turns % count == 0:
        return remainder(turn * step + slots[0], count, expr)
    at = remainder(turn, turns, expr)
    if isinstance(at, int):
        return slots[at]
    found: Expr
    if all(slot == slots[0] + step * turn for turn, slot in enumerate(slots)):
        found = at if step == 1 else Binary("*", at, step)
        return Binary("+", found, slots[0]) if slots[0] else found
    found = slots[0]
    for after, (one, other) in enumerate(pairwise(slots), 1):
        if one != other:
            found = Binary("+", found, Binary("*", Binary(">=", at, after), other - one))
    return found


def _shifted(rect: Rect, start: Start) -> Rect:
    (p, q, b, c), (partition, byte) = rect, start
    return p + partition, q + partition, b + byte, c + byte
