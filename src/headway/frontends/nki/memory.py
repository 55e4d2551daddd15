"""The buffers of the program: where each recorded tile lives, in which slot and box.

Memory that orders nothing is left out: tensors in HBM that are only read, and those in which each
element is written once and never read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import Literal

from headway.errors import InvalidProgram
from headway.frontends.nki.allocation import (
    CAPACITY,
    DEEPEST,
    Request,
    Room,
    allocate,
    side_by_side,
)
from headway.frontends.nki.bands import Bands, bands
from headway.frontends.nki.by_hand import InArena, Site, arenas, site_of
from headway.frontends.nki.lifetimes import Lifetimes, Rotation, Turning, weights
from headway.frontends.nki.names import Namer
from headway.frontends.nki.record import Box, Storage, TraceNode
from headway.frontends.nki.reroll import Rolled, RolledNode
from headway.frontends.nki.silent import silent
from headway.frontends.nki.slots import Home, Located, Place, ToExpr, located
from headway.ir.program import Access, Buffer

DEFAULT_BUFFERS = 4
AUTOMATIC, AS_WRITTEN = "automatic", "as-written"
Buffers = int | Literal["automatic", "as-written"]
"""Slots of a tile that is allocated in a loop, or who says where tiles lie and how they turn."""


class Memory:
    """The homes of all tensors of a trace."""

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
        self._tiles: dict[int, list[Storage]] = defaultdict(list)
        for storage in self._lifetimes.of:
            self._tiles[storage.site].append(storage)
        self._boxes = _boxes(rolled)
        self._silent = silent(recorded, self._tiles)
        ordering = [site for site in self._tiles if site not in self._silent]
        self._turnings: dict[int, Turning] = {}
        self._by_hand: dict[int, Home] = {}
        self._buffers_by_hand: list[Buffer] = []
        self._taken: dict[str, list[tuple[int, int]]] = {space: [] for space in CAPACITY}
        self._places: dict[int, Place] = {}
        if wanted == AS_WRITTEN:
            self._place_by_hand([s for s in ordering if _is_placed(self._tiles[s])])
        depth = wanted if isinstance(wanted, int) else 1
        for site in ordering:
            if site not in self._by_hand and site not in self._places:
                self._places[site] = self._place(site, depth)
        for space in CAPACITY:
            self._fit(space, wanted)

    def buffers(self) -> Iterator[Buffer]:
        """Yield the declarations of all memory that orders something."""
        yield from (place.buffer() for place in self._places.values() if not place.is_guest)
        yield from self._buffers_by_hand

    def homes(self) -> dict[int, Home]:
        """Return the home of every tensor by its site; those that order nothing get one now.

        The homes that declare a memory come before those that are guests there.
        """
        guests = {site: place for site, place in self._places.items() if place.is_guest}
        owners = {site: place for site, place in self._places.items() if site not in guests}
        quiet = {site: self._quiet(site) for site in self._tiles if site in self._silent}
        return {**owners, **self._by_hand, **guests, **quiet}

    def accesses(self, access: Located, expr: ToExpr) -> tuple[Access, ...]:
        """Return what an operand accesses; nothing if its memory orders nothing."""
        site = access.operand.storage.site
        home = self._places.get(site) or self._by_hand.get(site)
        return tuple(home.accesses(access, expr)) if home else ()

    # ---- places

    def _place(self, site: int, wanted: int) -> Place:
        tiles = self._tiles[site]
        name = self._namer.unique(tiles[0].name)
        return Place(name, tiles[0], self._turning(site).rotation(wanted), self._bands(site))

    def _quiet(self, site: int) -> Place:
        tile = self._tiles[site][0]
        return Place(self._namer.unique(tile.name), tile, self._turning(site).everything, None)

    def _turning(self, site: int) -> Turning:
        known = self._turnings.get(site)
        if known is None:
            known = Turning(self._tiles[site], self._lifetimes, self._open_ended)
            self._turnings[site] = known
        return known

    def _bands(self, site: int) -> Bands | None:
        """Return how a tensor is cut that is accessed in parts, all of one shape of it."""
        seen = self._boxes[site]
        if len(seen) != 1:
            return None
        ((root, boxes),) = seen.items()
        full = tuple((0, extent) for extent in root)
        return bands(root, boxes) if any(box != full for box in boxes) else None

    # ---- by hand

    def _place_by_hand(self, sites: Sequence[int]) -> None:
        """Put tiles where the kernel says: with rotation of their own, or in arenas."""
        for space, taken in self._taken.items():
            numbers: dict[Site, int] = {}
            for number in sites:
                tiles = self._tiles[number]
                if tiles[0].memory.name == space:
                    turning = weights(tiles[0], self._lifetimes, self._open_ended)
                    numbers[site_of(tiles, turning, self._bands(number))] = number
            for arena in arenas(list(numbers), self._namer):
                taken.append(arena.bounds[2:])
                alone = arena.alone(self._bands(numbers[arena.sites[0]]))
                self._buffers_by_hand += [alone.buffer()] if alone else arena.buffers()
                for site in arena.sites:
                    self._by_hand[numbers[site]] = alone or InArena(arena, site)

    # ---- Headway's allocator

    def _fit(self, space: str, wanted: Buffers) -> None:
        """Give the tiles of a memory addresses. Where `wanted` slots are too many, rotate less."""
        sites = [s for s, place in self._places.items() if place.storage.memory.name == space]
        room = Room(space, tuple(self._taken[space]))
        for depth in range(wanted if isinstance(wanted, int) else 0, 0, -1):
            found = side_by_side([self._request(site, depth, depth) for site in sites], room)
            if found is not None:
                break
        else:
            requests = [self._request(site, 1, DEEPEST) for site in sites]
            try:
                found = allocate(requests, room)
            except InvalidProgram:
                if wanted in (AUTOMATIC, AS_WRITTEN) or self._most_at_once(sites) > room.capacity:
                    raise
                return  # the memory would do, tile by tile: they stay apart, without addresses
        homes = [allotted.home for allotted in found]
        for number, (site, allotted) in enumerate(zip(sites, found, strict=True)):
            place = self._places[site]
            self._places[site] = Place(
                self._places[sites[allotted.home]].name,
                place.storage,
                self._deepest(site, allotted.slots),
                place.bands if homes.count(allotted.home) == 1 else None,
                allotted.addresses,
                allotted.home != number,
            )

    def _request(self, site: int, least: int, most: int) -> Request:
        place, turning = self._places[site], self._turning(site)
        return Request(
            place.name,
            place.storage.row,
            turning.rotation(least).slots,
            turning.rotation(most).slots,
            turning.times,
            place.storage.at,
        )

    def _most_at_once(self, sites: Sequence[int]) -> int:
        """Return how many bytes of each partition are in use at the same time.

        Block dimensions do not say how many of their tiles there are at a time, so these tiles do
        not count: public kernels have more of them than a memory holds.
        """
        changes: list[tuple[int, int]] = []
        for site in sites:
            for tile in self._tiles[site]:
                if tile.blocks:
                    continue
                life = self._lifetimes.of[tile]
                changes += [(life.first, tile.row), (life.last + 1, -tile.row)]
        return max(accumulate(change for _, change in sorted(changes)), default=0)

    def _deepest(self, site: int, slots: int) -> Rotation:
        """Return the deepest rotation that needs no more slots."""
        for wanted in range(slots, 0, -1):
            found = self._turning(site).rotation(wanted)
            if found.slots <= slots:
                return found
        raise AssertionError("the least number of slots was given")


def _is_placed(tiles: Sequence[Storage]) -> bool:
    return all(tile.place is not None for tile in tiles)


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
        for access in located(node):
            found[access.operand.storage.site][access.operand.root][access.box] = None
    return {
        site: {root: list(boxes) for root, boxes in by_root.items()}
        for site, by_root in found.items()
    }
