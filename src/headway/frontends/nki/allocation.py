"""Where tiles lie in SBUF and PSUM, and how many slots each has: Headway's allocator.

In     what each buffer needs: bytes of a slot, slots that are alive at once, first and last use
Out    slots and their addresses, in bytes from the start of each partition
Keeps  buffers that are used at the same time lie apart; no slot of at most a bank crosses banks
Cost   linear for SBUF; for PSUM quadratic in its buffers, of which there are few

Every buffer first gets the slots that it cannot do without. If that is too much, buffers whose
times of use lie apart share memory, the larger ones first. What is left of the memory then makes
rotation deeper, one slot for each buffer in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from headway.errors import InvalidProgram, Location, Note
from headway.frontends.nki.places import diagnostic

CAPACITY = {"sbuf": 192 * 1024, "psum": 16 * 1024}
"""Bytes per partition on trn2: SBUF of 24 MiB and PSUM of 2 MiB, in 128 partitions."""

BANK = 2 * 1024
"""Bytes of a bank of PSUM, per partition. A matmul writes one bank."""

ALIGNMENT = 4
"""Slots begin at multiples of so many bytes."""

DEEPEST = 8
"""More slots than these are given only where so many tiles are alive at once."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a buffer needs. It may have up to `most` slots, and needs `least`."""

    name: str
    space: str
    size: int
    least: int
    most: int
    first: int
    last: int
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
    times: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])


def allocate(requests: Sequence[Request]) -> list[Allotted]:
    """Return what each request gets. Raise InvalidProgram if a memory is too small."""
    found: dict[int, Allotted] = {}
    for space, capacity in CAPACITY.items():
        wanted = {n: r for n, r in enumerate(requests) if r.space == space}
        groups = [_alone(n, r) for n, r in wanted.items()]
        if not _placed(groups, space, capacity):
            groups = _shared(wanted)
            if not _placed(groups, space, capacity):
                raise _out_of_memory(space, capacity, requests, groups)
        _deepen(groups, space, capacity)
        for group in groups:
            for member in group.members:
                slots = min(group.slots, max(requests[member].least, group.most))
                found[member] = Allotted(slots, group.addresses, group.members[0])
    return [found[n] for n in range(len(requests))]


def _alone(number: int, request: Request) -> _Group:
    most = max(request.least, min(request.most, DEEPEST))
    return _Group([number], request.size, request.least, most)


def _shared(wanted: dict[int, Request]) -> list[_Group]:
    """Let each buffer join the first group that it is never used at the same time with."""
    groups: list[_Group] = []
    for number, request in sorted(wanted.items(), key=lambda item: (-item[1].size, item[0])):
        span = (request.first, request.last)
        for group in groups:
            if all(span[1] < first or last < span[0] for first, last in group.times):
                group.members.append(number)
                group.slots = group.most = max(group.slots, request.least)
                break
        else:
            group = _Group([number], request.size, request.least, request.least)
            groups.append(group)
        group.times.append(span)
    return groups


# ---- places


def _placed(groups: Sequence[_Group], space: str, capacity: int) -> bool:
    """Give every slot an address; return False if they do not fit."""
    return _in_banks(groups, capacity) if space == "psum" else _in_a_row(groups, capacity)


def _in_a_row(groups: Sequence[_Group], capacity: int) -> bool:
    place = 0
    for group in groups:
        stride = _aligned(group.size)
        group.addresses = tuple(place + stride * slot for slot in range(group.slots))
        place += stride * group.slots
    return place <= capacity


def _in_banks(groups: Sequence[_Group], capacity: int) -> bool:
    """The largest slots first, each into the first bank with room, or into whole banks."""
    used = [0] * (capacity // BANK)
    for group in sorted(groups, key=lambda g: -g.size):
        size = _aligned(group.size)
        banks = -(-size // BANK)
        addresses: list[int] = []
        for _ in range(group.slots):
            room = BANK - size if banks == 1 else 0
            for bank in range(len(used) - banks + 1):
                if all(taken <= room for taken in used[bank : bank + banks]):
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


def _deepen(groups: Sequence[_Group], space: str, capacity: int) -> None:
    """Rotate deeper as long as there is room: the next slot for every buffer that wants it."""
    for depth in range(2, DEEPEST + 1):
        for group in groups:
            if group.slots < depth <= group.most:
                group.slots += 1
                if not _placed(groups, space, capacity):
                    group.slots -= 1
                    group.most = group.slots
    _placed(groups, space, capacity)


# ---- too little


def _out_of_memory(
    space: str, capacity: int, requests: Sequence[Request], groups: Sequence[_Group]
) -> InvalidProgram:
    needed = sum(_aligned(group.size) * group.slots for group in groups)
    largest = sorted(
        (requests[n] for group in groups for n in group.members),
        key=lambda r: -r.size * r.least,
    )
    found = diagnostic(
        f"the tiles in {space} need {needed:,} bytes of each partition, which has {capacity:,}",
        largest[0].at,
        rule="tiles that are used at the same time lie apart"
        + ("; a tile of at most a bank lies in one bank" if space == "psum" else ""),
        help="use smaller tiles, or free large ones earlier",
    )
    notes = tuple(Note(f"tile {r.name!r}: {r.least} x {r.size:,} bytes", r.at) for r in largest[:5])
    return InvalidProgram(replace(found, notes=notes))
