"""Where tiles lie in SBUF and PSUM, and how many slots each has: Headway's allocator.

In     what each buffer needs: bytes of a slot, slots that are alive at once, times of use
Out    slots and their addresses, in bytes from the start of each partition, behind what is taken
Keeps  buffers that are used at the same time lie apart; no slot of at most a bank crosses banks
Cost   linear for SBUF; for PSUM quadratic in its buffers, of which there are few

Every buffer first gets the slots that it cannot do without. If that is too much, buffers whose
times of use lie apart share memory, the larger ones first. What is left of the memory then makes
rotation deeper, one slot for each buffer in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from headway.errors import InvalidProgram, Location, Note
from headway.frontends.nki.places import diagnostic

CAPACITY = {"sbuf": 224 * 1024, "psum": 16 * 1024}
"""Bytes per partition on trn2: SBUF of 28 MiB and PSUM of 2 MiB, in 128 partitions."""

BANK = 2 * 1024
"""Bytes of a bank of PSUM, per partition. A matmul writes one bank."""

ALIGNMENT = 4
"""Slots begin at multiples of so many bytes."""

DEEPEST = 8
"""More slots than these are given only where so many tiles are alive at once."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a buffer needs. It may have up to `most` slots, and needs `least`.

    `times` are the (first, last) times of use of its tiles, one after the other and none twice.
    """

    name: str
    size: int
    least: int
    most: int
    times: tuple[tuple[int, int], ...]
    at: Location


@dataclass(frozen=True, slots=True)
class Allotted:
    """The slots of a buffer, and where they begin. `home` is the request whose memory it is."""

    slots: int
    addresses: tuple[int, ...]
    home: int


@dataclass(slots=True)
class _Group:
    """Buffers that share memory, because no two of them are used at the same time."""

    members: list[int]
    size: int
    slots: int
    most: int
    addresses: tuple[int, ...] = ()
    times: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True, slots=True)
class Room:
    """A memory; `taken` are ranges of the bytes of each partition that are not ours to use."""

    space: str
    taken: tuple[tuple[int, int], ...] = ()

    @property
    def capacity(self) -> int:
        """Bytes of each partition."""
        return CAPACITY[self.space]

    def gaps(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges between what is taken, from the first byte on."""
        begin = 0
        for low, high in sorted(self.taken):
            if low > begin:
                yield begin, low
            begin = max(begin, _aligned(high))
        if begin < self.capacity:
            yield begin, self.capacity


def allocate(requests: Sequence[Request], room: Room) -> list[Allotted]:
    """Return what each request gets. Raise InvalidProgram if the memory is too small."""
    groups = [_alone(n, r) for n, r in enumerate(requests)]
    if not _placed(groups, room):
        groups = _shared(requests)
        if not _placed(groups, room):
            raise _out_of_memory(room, requests, groups)
    _deepen(groups, room)
    return _allotted(requests, groups)


def side_by_side(requests: Sequence[Request], room: Room) -> list[Allotted] | None:
    """Return the least slots of each request, none of them shared; None if they do not fit."""
    groups = [_alone(n, r) for n, r in enumerate(requests)]
    return _allotted(requests, groups) if _placed(groups, room) else None


def _allotted(requests: Sequence[Request], groups: Sequence[_Group]) -> list[Allotted]:
    found: dict[int, Allotted] = {}
    for group in groups:
        for member in group.members:
            slots = min(group.slots, max(requests[member].least, group.most))
            found[member] = Allotted(slots, group.addresses, group.members[0])
    return [found[n] for n in range(len(requests))]


def _alone(number: int, request: Request) -> _Group:
    most = max(request.least, min(request.most, DEEPEST))
    return _Group([number], request.size, request.least, most)


def _shared(requests: Sequence[Request]) -> list[_Group]:
    """Let each buffer join the first group that it is never used at the same time with."""
    groups: list[_Group] = []
    for number, request in sorted(enumerate(requests), key=lambda item: (-item[1].size, item[0])):
        for group in groups:
            if _are_apart(group.times, request.times):
                group.members.append(number)
                group.slots = group.most = max(group.slots, request.least)
                break
        else:
            group = _Group([number], request.size, request.least, request.least)
            groups.append(group)
        group.times = sorted((*group.times, *request.times))
    return groups


def _are_apart(some: Sequence[tuple[int, int]], others: Sequence[tuple[int, int]]) -> bool:
    """Tell whether no two of these times, each in order, overlap."""
    left, right = iter(some), iter(others)
    one, other = next(left, None), next(right, None)
    while one is not None and other is not None:
        if one[1] < other[0]:
            one = next(left, None)
        elif other[1] < one[0]:
            other = next(right, None)
        else:
            return False
    return True


# ---- places


def _placed(groups: Sequence[_Group], room: Room) -> bool:
    """Give every slot an address; return False if they do not fit."""
    return _in_banks(groups, room) if room.space == "psum" else _in_a_row(groups, room)


def _in_a_row(groups: Sequence[_Group], room: Room) -> bool:
    """Each slot into the first gap with room."""
    gaps = [list(gap) for gap in room.gaps()]
    for group in groups:
        size = _aligned(group.size)
        addresses: list[int] = []
        for _ in range(group.slots):
            gap = next((gap for gap in gaps if gap[0] + size <= gap[1]), None)
            if gap is None:
                return False
            addresses.append(gap[0])
            gap[0] += size
        group.addresses = tuple(addresses)
    return True


def _in_banks(groups: Sequence[_Group], room: Room) -> bool:
    """The largest slots first, each into the first bank with room, or into whole banks."""
    used = [0] * (room.capacity // BANK)
    for low, high in room.taken:
        for bank in range(low // BANK, -(-high // BANK)):
            used[bank] = BANK
    for group in sorted(groups, key=lambda g: -g.size):
        size = _aligned(group.size)
        banks = max(1, -(-size // BANK))
        addresses: list[int] = []
        for _ in range(group.slots):
            room_left = BANK - size if banks == 1 else 0
            for bank in range(len(used) - banks + 1):
                if all(taken <= room_left for taken in used[bank : bank + banks]):
                    addresses.append(bank * BANK + used[bank])
                    for taken in range(bank, bank + banks):
                        used[taken] = used[taken] + size if banks == 1 else BANK
                    break
            else:
                return False
        group.addresses = tuple(addresses)
    return True


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _deepen(groups: Sequence[_Group], room: Room) -> None:
    """Rotate deeper as long as there is room: the next slot for every buffer that wants it."""
    for depth in range(2, DEEPEST + 1):
        for group in groups:
            if group.slots < depth <= group.most:
                group.slots += 1
                if not _placed(groups, room):
                    group.slots -= 1
                    group.most = group.slots
    _placed(groups, room)


# ---- too little


def _out_of_memory(
    room: Room, requests: Sequence[Request], groups: Sequence[_Group]
) -> InvalidProgram:
    needed = sum(_aligned(group.size) * group.slots for group in groups)
    largest = sorted(
        (requests[n] for group in groups for n in group.members),
        key=lambda r: -r.size * r.least,
    )
    found = diagnostic(
        f"the tiles in {room.space} need {needed:,} bytes of each partition, "
        f"which has {room.capacity:,}" + (" and holds tiles placed by hand" if room.taken else ""),
        largest[0].at,
        rule="tiles that are used at the same time lie apart"
        + ("; a tile of at most a bank lies in one bank" if room.space == "psum" else ""),
        help="use smaller tiles, or free large ones earlier",
    )
    notes = tuple(Note(f"tile {r.name!r}: {r.least} x {r.size:,} bytes", r.at) for r in largest[:5])
    return InvalidProgram(replace(found, notes=notes))
