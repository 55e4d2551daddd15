"""The buffers of the program: where each recorded tile lives, in which slot and region.

Memory that orders nothing is left out: tensors in HBM that are only read, and those in which each
element is written once and never read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Literal

from headway.frontends.nki.affine import Number, const_of, terms_of
from headway.frontends.nki.allocation import CAPACITY, DEEPEST, Request, allocate
from headway.frontends.nki.bands import Bands, bands
from headway.frontends.nki.lifetimes import Lifetimes, Rotation, modulo, rotation
from headway.frontends.nki.names import Namer
from headway.frontends.nki.record import Box, DeviceLoop, Op, Operand, Storage, TraceNode
from headway.frontends.nki.reroll import Rolled, RolledNode, RolledOp
from headway.frontends.nki.tidy import operations
from headway.ir.expr import Binary, Expr
from headway.ir.program import Access, Buffer

DEFAULT_BUFFERS = 4
AUTOMATIC = "automatic"
Buffers = int | Literal["automatic"]
"""Slots of a tile that is allocated in a loop, or that the allocator chooses them."""

MOST_CELLS = 1 << 18

ToExpr = Callable[[Number], Expr]


@dataclass(frozen=True, slots=True)
class Located:
    """An operand with the numbers that it has in the rolled trace."""

    operand: Operand
    index: tuple[Number, ...]
    box: Box
    offset: Number


def located(node: RolledOp) -> list[Located]:
    """Return the operands of a rolled operation."""
    found: list[Located] = []
    rest = iter(node.numbers)
    for operand in node.origin.operands:
        index = tuple(next(rest) for _ in operand.storage.index)
        box = tuple((next(rest), next(rest)) for _ in operand.box)
        found.append(Located(operand, index, box, next(rest)))
    return found


def as_recorded(operand: Operand) -> Located:
    """Return an operand outside every rolled loop."""
    return Located(operand, operand.storage.index, operand.box, operand.offset)


@dataclass(frozen=True, slots=True)
class Place:
    """The buffer of all tiles allocated at one place of the kernel."""

    name: str
    storage: Storage
    rotation: Rotation
    bands: Bands | None  # None: only accessed whole
    addresses: tuple[int, ...] = ()  # of the slots, where Headway has allocated them
    is_guest: bool = False  # in the buffer of that name, which another place declares

    @property
    def depth(self) -> int:
        """The number of tiles that its memory holds."""
        return max(self.rotation.slots, len(self.addresses))

    @property
    def slots(self) -> int:
        """The number of slots."""
        return self.depth * (self.bands.slots if self.bands else 1)

    def buffer(self) -> Buffer:
        """Return the declaration."""
        shape = self.bands.shape if self.bands else self.storage.shape
        size = self._in_bytes(tuple((0, extent) for extent in shape)) if all(shape) else ()
        extents = tuple(high for _, high in size)
        return Buffer(self.name, self.slots, extents, self.storage.memory.name, self.storage.at)

    def bytes_per_partition(self) -> int:
        """Return what all slots take."""
        free = prod(self.storage.shape[1:]) * self.storage.dtype.itemsize
        return free * self.rotation.slots

    def accesses(self, access: Located, expr: ToExpr) -> Iterator[Access]:
        """Yield an access for each slot that an operand touches."""
        turns = self.rotation.slots
        turn = _remainder(self.rotation.count(access.index), turns, expr)
        if self.bands is None:
            yield Access(self.name, turn)
            return
        count = self.bands.slots
        for band, inside in self.bands.pieces(access.box):
            slot = _joined(turn, count, _remainder(band, count, expr))
            shape = self.bands.shape
            whole = all(span == (0, size) for span, size in zip(inside, shape, strict=True))
            yield Access(self.name, slot, None if whole else self._in_bytes(inside))

    def _in_bytes(self, inside: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        if not inside:
            return ()
        low, high = inside[-1]
        size = self.storage.dtype.itemsize
        return (*inside[:-1], (low * size, high * size))


def _remainder(value: Number, slots: int, expr: ToExpr) -> Expr:
    small = modulo(value, slots)
    return small if isinstance(small, int) else Binary("%", expr(small), slots)


def _joined(turn: Expr, count: int, band: Expr) -> Expr:
    if isinstance(turn, int) and isinstance(band, int):
        return turn * count + band
    if turn == 0 or count == 1:
        return band if turn == 0 else turn
    return Binary("+", Binary("*", turn, count), band)


class Memory:
    """The places of a trace."""

    def __init__(
        self,
        recorded: list[TraceNode],
        rolled: tuple[RolledNode, ...],
        open_ended: Collection[int],
        wanted: Buffers,
        namer: Namer,
        results: Collection[Storage] = (),
    ) -> None:
        self._lifetimes = Lifetimes(recorded)
        self._lifetimes.keep(results)
        self._open_ended = open_ended
        self._namer = namer
        tiles: dict[int, list[Storage]] = defaultdict(list)
        for storage in self._lifetimes.of:
            tiles[storage.site].append(storage)
        silent = _silent(recorded, tiles)
        boxes = _boxes(rolled)
        self._places: dict[int, Place] = {}
        self._silent = {site: tiles[site] for site in tiles if site in silent}
        for site, listed in tiles.items():
            if site not in silent:
                first = 1 if wanted == AUTOMATIC else wanted
                self._places[site] = self._place(listed, boxes[site], first)
        if wanted == AUTOMATIC:
            self._allocate(tiles)
        else:
            self._fit(tiles, wanted)

    @property
    def places(self) -> tuple[Place, ...]:
        """Every place that orders something and declares a buffer."""
        return tuple(place for place in self._places.values() if not place.is_guest)

    def all_places(self) -> dict[int, Place]:
        """Return the place of every tensor by its site; those that order nothing get a name now."""
        found = dict(self._places)
        for site, tiles in self._silent.items():
            turning = rotation(tiles, self._lifetimes, self._open_ended, 1)
            most = 1 + max(const_of(turning.count(tile.index)) for tile in tiles)
            name = self._namer.unique(tiles[0].name)
            found[site] = Place(name, tiles[0], Rotation(turning.strides, most), None)
        return found

    def accesses(self, access: Located, expr: ToExpr) -> tuple[Access, ...]:
        """Return what an operand accesses; nothing if its memory orders nothing."""
        place = self._places.get(access.operand.storage.site)
        return tuple(place.accesses(access, expr)) if place else ()

    def _place(
        self, tiles: list[Storage], seen: Mapping[tuple[int, ...], list[Box]], wanted: int
    ) -> Place:
        first = tiles[0]
        turning = rotation(tiles, self._lifetimes, self._open_ended, wanted)
        cut = None
        if len(seen) == 1:
            ((root, boxes),) = seen.items()
            full = tuple((0, extent) for extent in root)
            cut = bands(root, boxes) if any(box != full for box in boxes) else None
        return Place(self._namer.unique(first.name), first, turning, cut)

    def _allocate(self, tiles: Mapping[int, list[Storage]]) -> None:
        """Let the allocator choose slots and addresses of tiles."""
        sites = [s for s, place in self._places.items() if place.storage.memory.name in CAPACITY]
        found = allocate([self._request(self._places[s], tiles[s]) for s in sites])
        homes = [allotted.home for allotted in found]
        for number, (site, allotted) in enumerate(zip(sites, found, strict=True)):
            place = self._places[site]
            self._places[site] = Place(
                self._places[sites[allotted.home]].name,
                place.storage,
                self._turning(tiles[site], allotted.slots),
                place.bands if homes.count(allotted.home) == 1 else None,
                allotted.addresses,
                allotted.home != number,
            )

    def _request(self, place: Place, tiles: list[Storage]) -> Request:
        lives = [self._lifetimes.of[tile] for tile in tiles]
        return Request(
            place.name,
            place.storage.memory.name,
            place.bytes_per_partition() // place.rotation.slots,
            place.rotation.slots,
            rotation(tiles, self._lifetimes, self._open_ended, DEEPEST).slots,
            min(life.first for life in lives),
            max(life.last for life in lives),
            place.storage.at,
        )

    def _turning(self, tiles: list[Storage], slots: int) -> Rotation:
        """Return the deepest rotation that needs no more slots."""
        for wanted in range(slots, 0, -1):
            found = rotation(tiles, self._lifetimes, self._open_ended, wanted)
            if found.slots <= slots:
                return found
        raise AssertionError("the least number of slots was given")

    def _fit(self, tiles: Mapping[int, list[Storage]], wanted: int) -> None:
        """Rotate less in a memory that would overflow."""
        for space, capacity in CAPACITY.items():
            fewer = wanted
            while fewer > 1 and self._taken(space) > capacity:
                fewer -= 1
                for site, place in self._places.items():
                    if place.storage.memory.name == space:
                        turning = rotation(tiles[site], self._lifetimes, self._open_ended, fewer)
                        self._places[site] = Place(place.name, place.storage, turning, place.bands)

    def _taken(self, space: str) -> int:
        return sum(
            place.bytes_per_partition()
            for place in self._places.values()
            if place.storage.memory.name == space
        )


def _boxes(rolled: tuple[RolledNode, ...]) -> dict[int, dict[tuple[int, ...], list[Box]]]:
    """Collect the boxes of all accesses, by site and by the shape they are boxes of."""
    found: dict[int, dict[tuple[int, ...], dict[Box, None]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    stack = list(rolled)
    while stack:
        node = stack.pop()
        if isinstance(node, Rolled):
            stack += node.body
            accesses = map(as_recorded, node.device.reads) if node.device else ()
        else:
            accesses = located(node)
        for access in accesses:
            found[access.operand.storage.site][access.operand.root][access.box] = None
    return {
        site: {root: list(boxes) for root, boxes in by_root.items()}
        for site, by_root in found.items()
    }


# ---- memory that orders nothing


def _silent(recorded: list[TraceNode], tiles: Mapping[int, list[Storage]]) -> set[int]:
    """Return the sites of memory in HBM that orders nothing (exact for what is recorded)."""
    written: dict[Storage, list[Operand]] = defaultdict(list)
    read: set[Storage] = set()
    for op in operations(recorded):
        read.update(operand.storage for operand in op.reads)
        for operand in op.writes:
            written[operand.storage].append(operand)
    read.update(operand.storage for operand in _control(recorded))
    return {
        site
        for site, listed in tiles.items()
        if listed[0].memory.name == "hbm"
        and all(s not in written or (s not in read and _once(written[s])) for s in listed)
    }


def _control(recorded: list[TraceNode]) -> Iterator[Operand]:
    for node in recorded:
        if isinstance(node, DeviceLoop):
            yield from node.reads
            yield from _control(node.body)
        elif not isinstance(node, Op):
            for turn in node.iterations:
                yield from _control(turn)


def _once(writes: list[Operand]) -> bool:
    """Tell whether no element is written twice; False too when there are too many to say."""
    roots = {write.root for write in writes}
    in_device_loop = any(terms_of(n) for w in writes for span in w.box for n in span)
    if len(roots) > 1 or in_device_loop or _is_repeated(writes):
        return False
    borders = [
        sorted({int(n) for w in writes for n in w.box[d]}) for d in range(len(writes[0].root))
    ]
    at = [{border: i for i, border in enumerate(row)} for row in borders]
    cells: set[tuple[int, ...]] = set()
    total = 0
    for write in writes:
        spans = [
            range(row[int(low)], row[int(high)])
            for row, (low, high) in zip(at, write.box, strict=True)
        ]
        total += prod(len(span) for span in spans)
        if total > MOST_CELLS:
            return False
        cells.update(product(*spans))
    return len(cells) == total


def _is_repeated(writes: list[Operand]) -> bool:
    """A device loop traced once writes the same place in each of its turns."""
    return any(terms_of(n) for w in writes for n in w.storage.index)
