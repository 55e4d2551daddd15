"""Phase barriers: the way of GPUs, where every channel has a barrier with one phase bit.

In     a bound program
Out    engine programs without thresholds: a flag for every dependence that needs one, with room
       for as few tokens as the distance over which it goes; those of `holds 1` are barriers with
       one phase bit, those of `holds n` are rings of n of them that are used in turn
Keeps  no instance early, no deadlock, no token left over, no flag set without room for it;
       instances may be late, as with `flags`, and because nobody may be two phases ahead
Cost   linear in the size of the program, times its depth

To a consumer that has not looked yet, a barrier whose bit has flipped twice looks as if nothing had
come. So its producer has to know that the phase before was seen. Where another channel comes back
to the producer, that tells it, some iterations later, and the ring has to be as long. Elsewhere the
consumer gives every phase back:

    loop i n {                                 flag phase.q.vector.0 from q to vector holds 1
      sync load triggers(q) writes(x[i])       flag phase.vector.sync.0 from vector to sync holds 1
      vector add reads(x[i])            ->     engine sync {
    }                                            loop i n {
                                                   load
                                                   take phase.vector.sync.0
                                                   set phase.q.vector.0
                                                 }
                                                 take phase.vector.sync.0
                                               }

Phases go on from one execution of a loop to the next: barriers that come back are set once at the
start of the program, which on a GPU is to begin with the other phase, and taken once at its end.
There are as many barriers as it takes; they lie in memory. To know the phase costs nothing here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from headway.ir.program import If, Program
from headway.ir.walk import deep_nests
from headway.strategies._flag_places import Backward, Block, Forward, Pair, blocks
from headway.strategies._flag_writer import Steps, engine_programs, free_prefix, hosts
from headway.sync.program import Flag, SetFlag, SyncProgram, TakeFlag
from headway.targets.target import Target


@dataclass(frozen=True, slots=True)
class Phase:
    """Barriers with one phase bit, and rings of them."""

    name: str = "phase"
    description: str = "one-bit phase barriers for each channel, as on GPUs: a baseline"

    def synchronize(self, program: Program, target: Target) -> SyncProgram:
        """Return the engine programs. Never refuses a program."""
        with deep_nests():
            root = blocks(program)
            found = _Found(program)
            for block, is_repeated in _all(root, False):
                found.add(block, is_repeated)
            engines = engine_programs(program, root, found.steps)
        return SyncProgram(program, engines, self.name, target.name, tuple(found.flags))


class _Channel(NamedTuple):
    """A flag of a body: set behind node `after` and `distance` executions later taken."""

    pair: Pair
    distance: int
    after: int
    before: int


def _all(block: Block, is_repeated: bool) -> Iterator[tuple[Block, bool]]:
    """Yield a block and all inside, and whether they may be executed more than once."""
    yield block, is_repeated
    for node, bodies in zip(block.nodes, block.inside, strict=True):
        for body in bodies:
            yield from _all(body, is_repeated or not isinstance(node, If))


def _channels(block: Block) -> Iterator[_Channel]:
    for flags in (block.forward, block.backward):
        for pair, placed in flags.items():
            yield from (_channel(pair, flag) for flag in placed)


def _channel(pair: Pair, flag: Forward | Backward) -> _Channel:
    distance = flag.distance if isinstance(flag, Backward) else 0
    return _Channel(pair, distance, flag.after, flag.before)


class _Ways:
    """The channels of a body from one engine to another, in the order in which they are set."""

    def __init__(self, channels: Iterable[_Channel]) -> None:
        levels: defaultdict[int, list[_Channel]] = defaultdict(list)
        for channel in channels:
            levels[channel.distance].append(channel)
        self._levels: list[tuple[int, list[int], list[int]]] = []
        for distance, level in sorted(levels.items()):
            level.sort(key=lambda channel: channel.after)
            before = accumulate((channel.before for channel in reversed(level)), min)
            self._levels.append((distance, [c.after for c in level], [*before][::-1]))

    def room(self, channel: _Channel) -> int:
        """Return how many tokens a channel may hold if one of these goes back to its setter.

        When the taker of the channel sets one, it has taken all tokens up to this execution, or to
        the one before if it sets it earlier in the body. When the setter sets the channel, it has
        taken what comes back in this execution, or in the one before. The best of them counts.
        """
        rooms: list[int] = []
        for distance, after, before in self._levels:
            first = bisect_left(after, channel.before)  # from here on set behind the take
            is_set_behind = first < len(after)
            if is_set_behind and before[first] <= channel.after:
                extra = 0
            else:
                extra = 1 if is_set_behind or before[0] <= channel.after else 2
            rooms.append(channel.distance + distance + extra)
        return min(rooms)


def _own_room(channel: _Channel) -> int:
    """Return how many tokens a channel may hold that one engine sets and takes, in its order."""
    return channel.distance + (channel.before > channel.after)


class _Found:
    """The flags, and where they are set and taken."""

    def __init__(self, program: Program) -> None:
        self.flags: list[Flag] = []
        self.steps = Steps()
        self._hosts = hosts(program)
        self._prefix = free_prefix("phase", self._hosts)
        self._numbers: Counter[Pair] = Counter()

    def add(self, block: Block, is_repeated: bool) -> None:
        """Set and take what a block needs."""
        channels: defaultdict[tuple[str, str], list[_Channel]] = defaultdict(list)
        for channel in _channels(block):
            channels[self._way(channel.pair)].append(channel)
        ways = {way: _Ways(listed) for way, listed in channels.items()}
        for channel in (channel for listed in channels.values() for channel in listed):
            setter, taker = self._way(channel.pair)
            back = ways.get((taker, setter))
            if not is_repeated:  # there is only one token
                self._place(block, channel, 1, None)
            elif setter == taker:
                self._place(block, channel, _own_room(channel), None)
            elif back:
                self._place(block, channel, back.room(channel), None)
            else:
                room = channel.distance + 1
                self._place(block, channel, room, self._flag(Pair(taker, setter), room, 1))

    def _way(self, pair: Pair) -> tuple[str, str]:
        return self._hosts[pair.counter], pair.engine

    def _flag(self, pair: Pair, holds: int, tokens: int) -> str:
        """Return the name of a new flag that holds `tokens` tokens when nobody runs ahead."""
        name = f"{self._prefix}.{pair.counter}.{pair.engine}.{self._numbers[pair]}"
        self._numbers[pair] += 1
        self.flags.append(Flag(name, pair.counter, pair.engine, holds))
        setter, taker = self._way(pair)
        self.steps.first.extend([(setter, SetFlag(name))] * tokens)
        self.steps.last.extend([(taker, TakeFlag(name))] * tokens)
        return name

    def _place(self, block: Block, channel: _Channel, holds: int, back: str | None) -> None:
        """Set and take a channel; with `back`, for each token taken there is one given back."""
        name = self._flag(channel.pair, holds, channel.distance)
        setter, taker = self._way(channel.pair)
        behind = self.steps.behind[id(block), channel.after]
        before = self.steps.before[id(block), channel.before]
        if back:  # behind the node, so that only what comes after it stands still
            behind.append((setter, TakeFlag(back)))
        behind.append((setter, SetFlag(name)))
        before.append((taker, TakeFlag(name)))
        if back:
            before.append((taker, SetFlag(back)))


STRATEGY = Phase()
