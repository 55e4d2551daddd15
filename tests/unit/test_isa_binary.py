"""Binaries are read back as they were; damaged ones are refused with one clear message."""

import random
import zlib
from pathlib import Path

import pytest
from command_line import Cli

from headway import kernels, synchronize
from headway.check.generate import Shape, generate
from headway.errors import HeadwayError, InvalidInput, UnsupportedByTarget
from headway.isa import from_binary, lower, simulate, to_binary
from headway.isa.container import ENTRY, HEADER, pack, unpack
from headway.sync import parse_sync

FEW = ("sync-chain", "matmul", "moe-while", "topk")
INPUTS = {"n": 3, "m": 2, "k": 2}


def binary(kernel: str = "matmul", strategy: str = "barrier") -> bytes:
    return to_binary(lower(synchronize(kernels.load(kernel).program(), "trn2", strategy)))


@pytest.mark.thorough
@pytest.mark.parametrize("strategy", ["counted", "barrier", "flags"])
@pytest.mark.parametrize("kernel", FEW)
def test_kernel_is_read_back(kernel: str, strategy: str):
    module = lower(synchronize(kernels.load(kernel).program(), "trn2", strategy))
    data = to_binary(module)
    assert from_binary(data) == module
    assert to_binary(from_binary(data)) == data


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(5))
def test_random_program_is_read_back(seed: int):
    case = generate(seed, Shape(control_in_memory=True))
    for strategy in ("scoreboard", "barrier", "flags"):
        module = lower(synchronize(case.program, "generic", strategy))
        assert from_binary(to_binary(module)) == module


@pytest.mark.thorough
def test_file_cut_off_anywhere_is_refused():
    data = binary()
    for length in range(len(data)):
        with pytest.raises(InvalidInput):
            from_binary(data[:length])


@pytest.mark.thorough
def test_flipped_byte_is_found_by_a_checksum():
    data = binary()
    for at in range(len(data)):
        flipped = data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]
        with pytest.raises(InvalidInput):
            from_binary(flipped)


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(4))
def test_damage_that_no_checksum_finds_is_refused_or_runs(part: int):
    """Whatever lies in the file, there is a module that can be simulated, or one clear error."""
    dice = random.Random(part)
    fates = {"refused": 0, "stopped": 0, "ran": 0}
    data = binary("matmul", ("counted", "barrier", "flags", "counted")[part])
    for _ in range(250):
        fates[_fate(_damaged(data, dice))] += 1
    assert fates["refused"]
    assert fates["ran"] + fates["stopped"]


def _damaged(data: bytes, dice: random.Random) -> bytes:
    damaged = bytearray(data)
    end = data.index(b"program @")  # the text has fuzzing of its own
    for _ in range(dice.choice((1, 1, 2, 5))):
        at = dice.randrange(HEADER.size + ENTRY.size * 13, end)
        damaged[at] = dice.choice((0, 1, 255, damaged[at] ^ (1 << dice.randrange(8))))
    return bytes(damaged)


def _fate(data: bytes) -> str:
    try:
        module = from_binary(data, trust=True)
    except InvalidInput:
        return "refused"
    try:
        simulate(module, INPUTS, limit=20_000)
    except HeadwayError:
        return "stopped"
    return "ran"


def test_sections_in_another_order_are_refused():
    sections = unpack(binary(), "x")
    with pytest.raises(InvalidInput, match="its sections are not those of a binary"):
        from_binary(pack(sections[::-1]))


def test_buffers_that_are_not_those_of_the_program_are_refused():
    sections = [(n, b"" if n == b"BUFS" else content) for n, content in unpack(binary(), "x")]
    with pytest.raises(InvalidInput, match="section BUFS and the program do not agree"):
        from_binary(pack(sections))


def test_message_says_what_is_wrong_and_what_to_do():
    data = bytearray(binary())
    data[-1] ^= 1
    with pytest.raises(InvalidInput) as refused:
        from_binary(bytes(data), "matmul.hwb")
    assert str(refused.value) == (
        "error: matmul.hwb: the checksum of section 'PROG' is wrong\n"
        "  rule: a .hwb file is what `headway asm` writes\n"
        "  help: write it again: headway asm SYNCED -o FILE.hwb"
    )


def test_other_versions_are_refused():
    data = bytearray(binary())
    data[4] = 2
    with pytest.raises(InvalidInput, match="it has version 2, and only 1 is known"):
        from_binary(bytes(data))


def test_number_that_fits_no_field_is_refused():
    text = "sync @a {{ program @a {{ engine A A x takes(1) }} flag f from A to A holds {} \
engine A {{ x }} }}"
    module = lower(parse_sync(text.format(2**40)))
    with pytest.raises(UnsupportedByTarget, match="a number of 'a' does not fit a binary"):
        to_binary(module)


def test_checksums_are_those_of_zlib():
    data = binary()
    table = HEADER.size + ENTRY.size * HEADER.unpack_from(data)[2]
    assert int.from_bytes(data[table : table + 4], "little") == zlib.crc32(data[:table])


@pytest.mark.thorough
def test_commands_write_read_run_and_judge_a_binary(cli: Cli, tmp_path: Path):
    synced, file = str(tmp_path / "s.hwy"), str(tmp_path / "s.hwb")
    assert cli("sync", "sync-chain", "-o", synced).code == 0
    assert cli("asm", synced, "-o", file).code == 0
    text = cli("disasm", file).out
    assert cli("asm", "-", "-o", f"{file}2", stdin=text).code == 0
    assert Path(file).read_bytes() == Path(f"{file}2").read_bytes()
    for command in ("sim", "check"):
        results = [cli(command, name, "--input", "n=9", "--json") for name in (synced, file)]
        assert results[0] == results[1]
    assert cli("check", file, "--input", "n=9", "--cost").code == 1
    assert cli("disasm", synced).err.startswith("error: ")
    assert cli("sim", "-", "--input", "n=9", stdin=Path(file).read_bytes()).code == 0
