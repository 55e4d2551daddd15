"""How long each recorded tile lives, and how many slots a tile that is allocated anew needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import prod

from headway.frontends.nki.affine import Number, const_of, number, terms_of
from headway.frontends.nki.record import DeviceLoop, Op, PythonLoop, Storage, TraceNode


@dataclass(slots=True)
class Lifetime:
    """First and last use of a tile, as positions in the recorded trace."""

    first: int
    last: int


class Lifetimes:
    """The lifetimes of all memory of a trace, and the most iterations that each loop had."""

    def __init__(self, body: list[TraceNode]) -> None:
        self.of: dict[Storage, Lifetime] = {}
        self.trips: dict[int, int] = {}
        self._now = 0
        self._walk(body)

    def keep(self, results: Iterable[Storage]) -> None:
        """Let what the kernel returns live until its end."""
        for storage in results:
            if storage in self.of:
                self.of[storage].last = self._now

    def _walk(self, body: list[TraceNode]) -> None:
        for node in body:
            if isinstance(node, Op):
                self._now += 1
                for operand in node.operands:
                    self._use(operand.storage, self._now, self._now)
            elif isinstance(node, PythonLoop):
                known = self.trips.get(node.site, 0)
                self.trips[node.site] = max(known, len(node.iterations))
                for turn in node.iterations:
                    self._walk(turn)
            else:
                self._device(node)

    def _device(self, loop: DeviceLoop) -> None:
        """What a device loop uses and does not allocate lives as long as the loop runs."""
        self._now += 1
        begin = self._now
        used: dict[Storage, None] = {operand.storage: None for operand in loop.reads}
        outer, self.of = self.of, {}
        self._walk(loop.body)
        inner, self.of = self.of, outer
        self._now += 1
        for storage, life in inner.items():
            self._use(storage, life.first, life.last)
            if loop.site not in storage.loops:
                used[storage] = None
        for storage in used:
            self._use(storage, begin, self._now)

    def _use(self, storage: Storage, first: int, last: int) -> None:
        life = self.of.setdefault(storage, Lifetime(first, last))
        life.first, life.last = min(life.first, first), max(life.last, last)


@dataclass(frozen=True, slots=True)
class Rotation:
    """Slots of a tile that is allocated in loops: allocation k lives in slot `k % slots`.

    k counts allocations: `strides` are the weights of the iterations of the loops around it. A
    loop around one whose trip count is known only at run time has weight 0.
    """

    strides: tuple[int, ...]
    slots: int

    def count(self, index: Sequence[Number]) -> Number:
        """Return the number of an allocation."""
        return sum((i * stride for i, stride in zip(index, self.strides, strict=True) if stride), 0)


def strides(
    loops: Sequence[int], trips: dict[int, int], open_ended: Collection[int]
) -> tuple[int, ...]:
    """Return the weights of the iterations of nested loops, outermost first."""
    found: list[int] = []
    weight = 1
    for site in reversed(loops):
        found.append(weight)
        is_known = site in trips and site not in open_ended
        weight = weight * trips[site] if is_known and weight else 0
    return tuple(reversed(found))


class Turning:
    """How the tiles of one place may rotate."""

    def __init__(
        self, tiles: Sequence[Storage], lifetimes: Lifetimes, open_ended: Collection[int]
    ) -> None:
        self._weights = weights(tiles[0], lifetimes, open_ended)
        count = Rotation(self._weights, 1).count
        lives = ((lifetimes.of[tile], const_of(count(tile.index))) for tile in tiles)
        self._lives = sorted((life.first, life.last, number) for life, number in lives)
        self._highest = max(number for _, _, number in self._lives) + 1
        self._is_moving = any(tile.blocks and tile.is_moving for tile in tiles)
        if self._is_moving:  # any of the blocks, whose numbers are known only at run time
            self._highest = max(self._highest, _numbers(tiles[0], self._weights, lifetimes))
        self._apart = _apart(self._lives)
        around = tiles[0].loops
        self._is_endless = any(s in open_ended or s not in lifetimes.trips for s in around)
        self._known: dict[int, Rotation] = {}

    @property
    def everything(self) -> Rotation:
        """A slot for each tile."""
        return Rotation(self._weights, self._highest)

    def rotation(self, wanted: int) -> Rotation:
        """Return the slots of the tiles: `wanted`, or more if more live at a time."""
        if self._is_moving:
            return self.everything
        found = self._known.get(wanted)
        if found is None:
            slots = max(wanted if self._is_endless else min(wanted, self._highest), self._apart)
            fits = _fits(self._lives, slots)
            found = Rotation(self._weights, slots) if fits else self.everything
            self._known[wanted] = found
        return found

    @property
    def times(self) -> tuple[tuple[int, int], ...]:
        """The (first, last) times when some of the tiles are in use, in order."""
        found: list[tuple[int, int]] = []
        for first, last, _ in self._lives:
            if found and first <= found[-1][1]:
                first, last = found[-1][0], max(last, found.pop()[1])
            found.append((first, last))
        return tuple(found)


def weights(tile: Storage, lifetimes: Lifetimes, open_ended: Collection[int]) -> tuple[int, ...]:
    """Return the weights of the loops around a tile and of its block dimensions."""
    around = strides(tile.loops, lifetimes.trips, open_ended)
    inner = [prod(tile.blocks[at + 1 :]) for at in range(len(tile.blocks))]
    return (*(weight * prod(tile.blocks) for weight in around), *inner)


def _numbers(tile: Storage, weights: Sequence[int], lifetimes: Lifetimes) -> int:
    """Return how many allocations there are, of all blocks in all iterations that are known."""
    extents = (*(lifetimes.trips.get(site, 1) for site in tile.loops), *tile.blocks)
    return 1 + sum(weight * (n - 1) for weight, n in zip(weights, extents, strict=True) if n)


def _apart(lives: list[tuple[int, int, int]]) -> int:
    """Return 1 + the greatest distance of two allocations that live at the same time."""
    greatest = 0
    sides: tuple[list[tuple[int, int]], ...] = ([], [])  # (count, last) of the living, by count
    for first, last, count in lives:
        for living, sign in zip(sides, (1, -1), strict=True):
            while living and living[0][1] < first:
                heappop(living)
            heappush(living, (sign * count, last))
            greatest = max(greatest, sign * count - living[0][0])
    return 1 + greatest


def _fits(lives: list[tuple[int, int, int]], slots: int) -> bool:
    """Check that no two tiles in one slot live at the same time (exact for the trace)."""
    until: dict[int, int] = {}
    for first, last, count in lives:
        slot = count % slots
        if until.get(slot, -1) >= first:
            return False
        until[slot] = last
    return True


def modulo(value: Number, slots: int) -> Number:
    """Return an equal number modulo `slots`, with small factors."""
    kept = tuple((level, factor % slots) for level, factor in terms_of(value))
    return number(const_of(value) % slots, kept)
