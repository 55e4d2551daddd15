"""How the strategy `flags` gets by with a few flags from each counter to each engine.

In     the tree of blocks with all flags that they need, and how many ids there are for each pair
Out    every flag with an id, and coarser flags where there are too few of them
Keeps  whoever takes a flag waits for what it waited for before, or for more; from one id on there
       is always a way
Cost   linear in the number of flags, times the depth of nesting

A flag takes as many ids as it holds tokens when nobody runs ahead: one, or the distance of a
backward flag. The same id serves several flags if the last token of one is taken before the next
one is set. A block whose flags do not fit beside those of the blocks inside it gets coarser ones,
step by step; inner blocks keep theirs as long as they can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

from headway.strategies._flag_places import Backward, Block, Forward, Pair

Flags = tuple[list[Forward], list[Backward]]


class Placed(NamedTuple):
    """A flag of a block with its id; `node` is where its block is a body of, in `around`."""

    flag: Forward | Backward
    pair: Pair
    id: int
    block: Block
    around: Block | None
    node: int


def placed(root: Block, ids: int) -> Iterator[Placed]:
    """Yield every flag of all blocks with an id less than `ids`."""
    needs = _Needs()
    for pair in needs.pairs(root):
        yield from _Chooser(pair, needs).choose(root, list(range(ids)), None, 0)


class _Needs:
    """How many ids each block would like to have, with the blocks inside."""

    def __init__(self) -> None:
        self._found: dict[int, dict[Pair, int]] = {}

    def pairs(self, block: Block) -> Iterable[Pair]:
        return self._of(block)

    def of(self, block: Block, pair: Pair) -> int:
        return self._of(block).get(pair, 0)

    def inside(self, block: Block, pair: Pair) -> dict[int, int]:
        """Return the needs inside each node of a block that has any."""
        needs = {
            number: max((self.of(body, pair) for body in bodies), default=0)
            for number, bodies in enumerate(block.inside)
        }
        return {number: need for number, need in needs.items() if need}

    def _of(self, block: Block) -> dict[Pair, int]:
        found = self._found.get(id(block))
        if found is None:
            pairs = {
                **dict.fromkeys(p for bodies in block.inside for b in bodies for p in self._of(b)),
                **dict.fromkeys(block.forward),
                **dict.fromkeys(block.backward),
            }
            found = {pair: self._need(block, pair) for pair in pairs}
            self._found[id(block)] = found
        return found

    def _need(self, block: Block, pair: Pair) -> int:
        forward = block.forward.get(pair, [])
        tokens = sum(flag.distance for flag in block.backward.get(pair, ()))
        nested = (
            _spanning(forward, node) + need for node, need in self.inside(block, pair).items()
        )
        return tokens + max(_peak(forward), max(nested, default=0))


def _peak(flags: Sequence[Forward]) -> int:
    """Return how many flags are set and not taken at a time; both ends of them are ascending."""
    most = oldest = 0
    for number, flag in enumerate(flags):
        while flags[oldest].before <= flag.after:
            oldest += 1
        most = max(most, number + 1 - oldest)
    return most


def _spanning(flags: Iterable[Forward], node: int) -> int:
    return sum(flag.after < node < flag.before for flag in flags)


class _Chooser:
    """Chooses the flags of one pair."""

    def __init__(self, pair: Pair, needs: _Needs) -> None:
        self._pair = pair
        self._needs = needs

    def choose(
        self, block: Block, ids: list[int], around: Block | None, node: int
    ) -> Iterator[Placed]:
        """Yield the flags of a block and the blocks inside, with some of `ids`, at least one."""
        nested = self._needs.inside(block, self._pair)
        forward, backward = self._fitting(block, len(ids), nested)
        free = list(ids)
        for flag in backward:
            yield Placed(flag, self._pair, free[0], block, around, node)
            del free[: flag.distance]
        given = list(zip(forward, _numbered(forward, free), strict=True))
        for flag, number in given:
            yield Placed(flag, self._pair, number, block, around, node)
        for inner in nested:
            taken = {number for flag, number in given if flag.after < inner < flag.before}
            left = [number for number in free if number not in taken]
            for body in block.inside[inner]:
                if self._needs.of(body, self._pair):
                    yield from self.choose(body, left, block, inner)

    def _fitting(self, block: Block, ids: int, nested: dict[int, int]) -> Flags:
        """Return the finest flags of a block that leave enough ids to the blocks inside."""
        flags: Flags = ([], [])
        forward = block.forward.get(self._pair, [])
        backward = block.backward.get(self._pair, [])
        for flags in _coarser(forward, backward, ids, len(block.nodes), list(nested)):
            room = ids - sum(flag.distance for flag in flags[1])
            if room < min(1, len(flags[0])):
                continue
            flags = _merged(flags[0], room), flags[1]
            if all(_spanning(flags[0], node) + need <= room for node, need in nested.items()):
                break
        return flags


def _coarser(
    forward: list[Forward], backward: list[Backward], ids: int, end: int, nested: list[int]
) -> Iterator[Flags]:
    """Yield flags that make do with fewer and fewer ids; the last need one, and none inside."""
    yield forward, backward
    if backward:
        distance = min(ids, *(flag.distance for flag in backward))
        after = max(flag.after for flag in backward)
        before = min(flag.before for flag in backward)
        for fewer in range(distance, 0, -1):
            yield forward, [Backward(fewer, after, before)]
        # Without tokens that stay: at the end of each iteration wait for what is in it.
        forward = _until_the_end(forward, Forward(after, end))
        yield forward, []
    yield _cut(forward, nested), []


def _until_the_end(flags: list[Forward], last: Forward) -> list[Forward]:
    if flags and flags[-1].after >= last.after:
        return flags  # it is taken in this iteration, too
    return [flag for flag in flags if flag.before < last.before] + [last]


def _cut(flags: list[Forward], nested: list[int]) -> list[Forward]:
    """Take each flag before the next node with flags inside; of those taken there keep the last."""
    found: dict[int, Forward] = {}
    for flag in flags:
        before = min([flag.before, *(node for node in nested if node > flag.after)])
        found[before] = Forward(flag.after, before)
    return list(found.values())


def _merged(flags: list[Forward], room: int) -> list[Forward]:
    """Merge as many neighbours as it takes until at most `room` flags are held at a time."""
    if not flags:
        return flags
    for size in count(-(-_peak(flags) // room)):
        merged = _grouped(flags, size)
        if _peak(merged) <= room:
            return merged
    raise AssertionError("groups of all neighbours do not overlap")


def _grouped(flags: list[Forward], size: int) -> list[Forward]:
    """Merge flags with up to `size - 1` that follow: set behind the last, taken for the first."""
    found: list[Forward] = []
    members = 0
    for flag in flags:
        if found and members < size and flag.after < found[-1].before:
            found[-1] = Forward(flag.after, found[-1].before)
            members += 1
        else:
            found.append(flag)
            members = 1
    return found


def _numbered(flags: Iterable[Forward], ids: Iterable[int]) -> Iterator[int]:
    """Yield an id for each flag: the lowest whose last token has been taken."""
    free, held = sorted(ids), list[tuple[int, int]]()
    for flag in flags:
        free = sorted([*free, *(number for before, number in held if before <= flag.after)])
        held = [(before, number) for before, number in held if before > flag.after]
        number = free.pop(0)
        held.append((flag.before, number))
        yield number
