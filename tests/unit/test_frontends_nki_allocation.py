"""Headway's allocator: slots, addresses, banks, memory shared over time, and too little of it."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pytest
from command_line import Cli
from kernel_files import recorded, results, written

from headway.compiler import synchronize
from headway.errors import InvalidProgram, Location
from headway.execution import run
from headway.frontends.nki.allocation import (
    BANK,
    DEEPEST,
    Allotted,
    Request,
    Room,
    allocate,
    side_by_side,
)
from headway.ir import verify
from headway.values import Traced

AT = Location("kernels.py", 1, 1)
KIB = 1024
SBUF, PSUM = Room("sbuf"), Room("psum")

Times = tuple[tuple[int, int], ...]


def request(
    name: str, size: int, *, least: int = 1, most: int = 1, times: Times = ((0, 9),)
) -> Request:
    return Request(name, size, least, most, times, AT)


def test_tiles_rotate_as_deep_as_the_memory_holds() -> None:
    one, two = allocate([request("a", 20 * KIB, most=99), request("b", 30 * KIB, most=99)], SBUF)
    # Slot by slot in turn, up to 4 x 20 + 4 x 30 = 200 KiB; then only the smaller one fits again.
    assert (one.slots, two.slots) == (5, 4)
    assert one.addresses == tuple(20 * KIB * i for i in range(5))
    assert two.addresses == (100 * KIB, 130 * KIB, 160 * KIB, 190 * KIB)


def test_a_tile_without_a_loop_has_one_slot() -> None:
    (found,) = allocate([request("a", 4)], SBUF)
    assert found == Allotted(1, (0,), 0)


def test_no_rotation_is_deeper_than_it_helps() -> None:
    (found,) = allocate([request("a", 4, most=1000)], SBUF)
    assert found.slots == DEEPEST


def test_a_slot_of_psum_lies_in_one_bank() -> None:
    found = allocate([request("a", 1536, least=5), request("b", 512)], PSUM)
    assert found[0].addresses == tuple(BANK * i for i in range(5))
    assert found[1].addresses == (1536,)


def test_a_tile_larger_than_a_bank_takes_whole_banks() -> None:
    found = allocate([request("a", 3 * KIB), request("b", 4)], PSUM)
    assert found[0].addresses == (0,)
    assert found[1].addresses == (2 * BANK,)


def test_tiles_of_different_times_share_memory_if_they_have_to() -> None:
    found = allocate(
        [
            request("early", 180 * KIB, times=((0, 1), (4, 5))),
            request("late", 170 * KIB, times=((2, 3), (6, 9))),
            request("always", 30 * KIB),
        ],
        SBUF,
    )
    assert [a.home for a in found] == [0, 0, 2]
    assert found[0].addresses == found[1].addresses


def test_too_little_memory_is_an_error_with_the_tiles_and_their_bytes() -> None:
    with pytest.raises(InvalidProgram) as caught:
        allocate([request("a", 180 * KIB), request("b", 20 * KIB, least=3)], SBUF)
    (found,) = caught.value.diagnostics
    assert found.message == (
        "the tiles in sbuf need 245,760 bytes of each partition, which has 229,376"
    )
    assert [note.message for note in found.notes] == [
        "tile 'a': 1 x 184,320 bytes",
        "tile 'b': 3 x 20,480 bytes",
    ]


def apart(one: Request, a: Allotted, other: Request, b: Allotted) -> bool:
    """Whether two buffers never use one byte at one time."""
    if all(a[1] < b[0] or b[1] < a[0] for a in one.times for b in other.times):
        return True
    return all(
        x + one.size <= y or y + other.size <= x
        for x in a.addresses[: a.slots]
        for y in b.addresses[: b.slots]
    )


def test_tiles_lie_between_those_that_are_placed_by_hand() -> None:
    room = Room("sbuf", ((0, 4 * KIB), (10 * KIB, 150 * KIB)))
    found = allocate([request("a", 5 * KIB), request("b", 20 * KIB), request("c", KIB)], room)
    assert [a.addresses for a in found] == [(4 * KIB,), (150 * KIB,), (9 * KIB,)]
    found = allocate([request("a", 1536)], Room("psum", ((0, 4), (2048, 4096))))
    assert found[0].addresses == (4096,)


def test_side_by_side_shares_nothing_and_rotates_no_deeper() -> None:
    both = [
        request("a", 120 * KIB, times=((0, 4),)),
        request("b", 100 * KIB, times=((5, 9),), most=8),
    ]
    found = side_by_side(both, SBUF)
    assert found is not None
    assert [a.slots for a in found] == [1, 1]
    assert side_by_side([*both, request("c", 8 * KIB)], SBUF) is None


@pytest.mark.parametrize("seed", range(100))
def test_random_requests_are_kept_apart(seed: int) -> None:
    random = Random(seed)
    room = random.choice((SBUF, PSUM))
    capacity = room.capacity
    requests: list[Request] = []
    for number in range(random.randint(1, 12)):
        first = random.randint(0, 20)
        size = random.choice([4, 100, 512, 2048, 3000, capacity // 4])
        least = random.randint(1, 3)
        length, pause = random.randint(0, 8), random.randint(1, 8)
        times = tuple(
            (start, start + length)
            for start in range(first, first + random.choice((1, 30)), length + pause)
        )
        most = random.randint(1, 20)
        requests.append(request(str(number), size, least=least, most=most, times=times))
    low = random.randrange(0, capacity, 4)
    room = Room(room.space, ((low, min(capacity, low + 256)),) if seed % 2 else ())
    try:
        found = allocate(requests, room)
    except InvalidProgram:
        return
    for wanted, allotted in zip(requests, found, strict=True):
        assert wanted.least <= allotted.slots <= len(allotted.addresses)
        assert all(a + wanted.size <= capacity for a in allotted.addresses)
        assert all(
            a + wanted.size <= low or high <= a
            for low, high in room.taken
            for a in allotted.addresses
        )
        if room.space == "psum" and wanted.size <= BANK:
            assert all(a // BANK == (a + wanted.size - 1) // BANK for a in allotted.addresses)
    pairs = combinations(zip(requests, found, strict=True), 2)
    assert all(apart(one, a, other, b) for (one, a), (other, b) in pairs)


# ---- kernels

PHASES = """
    y = nl.ndarray((2, 128, 30000), dtype=nl.float32, buffer=nl.shared_hbm)
    for i in range(2):
        first = nl.load(x[i])
        nl.store(y[i], value=first)
    z = nl.ndarray((2, 128, 28000), dtype=nl.float32, buffer=nl.shared_hbm)
    for i in range(2):
        second = nl.load(x[i, :, 0:28000])
        nl.store(z[i], value=second)
    return y, z
"""


@pytest.fixture
def phases(tmp_path: Path) -> Traced:
    return recorded(tmp_path, PHASES, {"x": "float32[2,128,30000]"}).traced(buffers="automatic")


@pytest.mark.thorough
def test_phases_share_memory_and_keep_their_values(phases: Traced) -> None:
    verify(phases.program)
    assert [(b.name, b.slots) for b in phases.program.buffers] == [("first", 1)]
    x = np.random.default_rng(0).standard_normal((2, 128, 30000), dtype=np.float32)
    y, z = results(phases, {"x": x})
    np.testing.assert_array_equal(y, x)
    np.testing.assert_array_equal(z, x[:, :, :28000])
    assert run(phases, synchronize(phases.program), {}, orders=2).is_equal


def test_tiles_of_one_iteration_share_memory_if_they_have_to(tmp_path: Path) -> None:
    body = """
        y = nl.ndarray((3, 128, 25000), dtype=nl.float32, buffer=nl.shared_hbm)
        for i in range(3):
            first = nl.load(x[i])
            second = nl.add(first, first)
            third = nl.add(second, second)
            nl.store(y[i], value=third)
        return y
    """
    traced = recorded(tmp_path, body, {"x": "float32[3,128,25000]"}).traced()
    assert [(b.name, b.slots) for b in traced.program.buffers] == [("first", 1), ("second", 1)]
    assert traced.values.bytes_used("sbuf") == 200_000
    x = np.random.default_rng(0).standard_normal((3, 128, 25000), dtype=np.float32)
    (y,) = results(traced, {"x": x})
    np.testing.assert_array_equal(y, 4 * x)


def test_a_tile_of_one_partition_shares_memory_with_one_of_all(tmp_path: Path) -> None:
    body = """
        y = nl.ndarray((128, 25000), dtype=nl.float32, buffer=nl.shared_hbm)
        row = nl.load(x[0:1, :])
        first = nl.ndarray((128, 25000), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_copy(dst=first, src=row.broadcast_to((128, 25000)))
        second = nl.add(first, first)
        nl.store(y, value=second)
        return y
    """
    traced = recorded(tmp_path, body, {"x": "float32[128,25000]"}).traced()
    assert len(traced.program.buffers) == 2
    x = np.random.default_rng(0).standard_normal((128, 25000), dtype=np.float32)
    (y,) = results(traced, {"x": x})
    np.testing.assert_array_equal(y, np.broadcast_to(2 * x[:1], y.shape))


def test_a_kernel_that_does_not_fit_is_an_error_at_its_tile(cli: Cli, tmp_path: Path) -> None:
    body = """
        kept = nl.load(x)
        other = nl.load(x)
        return nl.add(kept, other)
    """
    path = written(tmp_path, body, "x")
    kernel = ("trace", f"{path}:kernel", "--arg", "x=float32[128,20000]")
    for buffers in ("4", "automatic", "as-written"):
        result = cli(*kernel, "--buffers", buffers)
        assert result.code == 1
        assert "kernels.py:9:5: error: the tiles in sbuf need 240,000 bytes of each" in result.err
        assert "tile 'other': 1 x 80,000 bytes" in result.err


def test_tiles_that_only_a_finer_allocator_could_place_stay_apart(tmp_path: Path) -> None:
    body = """
        first = [nl.load(x[i]) for i in range(2)]
        second = [nl.add(first[i], first[i]) for i in range(2)]
        y = nl.ndarray((2, 128, 18000), dtype=nl.float32, buffer=nl.shared_hbm)
        for i in range(2):
            nl.store(y[i], value=second[i])
        return y
    """
    trace = recorded(tmp_path, body, {"x": "float32[2,128,18000]"})
    traced = trace.traced()  # three tiles are alive at once, the two of each place at most
    assert [(b.name, b.slots) for b in traced.program.buffers] == [("first", 2), ("second", 2)]
    assert traced.values.bytes_used("sbuf") is None
    with pytest.raises(InvalidProgram, match="need 288,000 bytes of each partition"):
        trace.traced(buffers="automatic")


def test_blocks_that_do_not_fit_at_once_stay_apart(cli: Cli, tmp_path: Path) -> None:
    body = """
        kept = nl.ndarray((4, nl.par_dim(128), 20000), dtype=nl.float32, buffer=nl.sbuf)
        y = nl.ndarray((4, 128, 20000), dtype=nl.float32, buffer=nl.shared_hbm)
        for i in nl.affine_range(4):
            kept[i] = nl.load(x[i])
        for i in nl.affine_range(4):
            nl.store(y[i], value=kept[i])
        return y
    """
    traced = recorded(tmp_path, body, {"x": "float32[4,128,20000]"}, "old").traced()
    assert [(b.name, b.slots) for b in traced.program.buffers] == [("kept", 4)]
    assert traced.values.bytes_used("sbuf") is None
    x = np.random.default_rng(0).standard_normal((4, 128, 20000), dtype=np.float32)
    np.testing.assert_array_equal(results(traced, {"x": x})[0], x)
    kernel = (f"{tmp_path / 'kernels.py'}:kernel", "--arg", "x=float32[4,128,20000]")
    found = cli("trace", *kernel)
    assert found.code == 0
    assert "sbuf: its tiles have no addresses, as they do not fit side by side" in found.err
    assert "need 320,000 bytes" in cli("trace", *kernel, "--buffers", "automatic").err


def test_the_number_of_buffers_is_a_number_or_automatic(cli: Cli, tmp_path: Path) -> None:
    path = written(tmp_path, "return nl.load(x)", "x")
    result = cli("trace", f"{path}:kernel", "--arg", "x=float32[128,8]", "--buffers", "many")
    assert result.code == 1
    assert "help: a whole number, automatic or as-written" in result.err
