"""Tiles that the kernel places itself: the order is exactly that of the memory they lie in."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from random import Random
from textwrap import indent
from typing import Any

import numpy as np
import pytest
from command_line import Cli
from kernel_files import recorded, results, written

from headway.compiler import synchronize
from headway.errors import HeadwayError
from headway.execution import run
from headway.frontends import Trace, record
from headway.frontends.nki.affine import const_of
from headway.frontends.nki.record import Operand
from headway.frontends.nki.tidy import operations
from headway.ir import to_text, verify
from headway.ir.program import Instr
from headway.spec.instances import instances
from headway.values import Traced

MIB = "float32[8,128,256]"


def kernel(folder: Path, body: str, **arguments: str) -> Traced:
    trace = recorded(folder, body, arguments or {"x": MIB}, "old")
    found = trace.traced(buffers="as-written")
    verify(found.program)
    return found


def accesses(traced: Traced) -> list[str]:
    """The lines of the program that name slots, without their costs."""
    lines = to_text(traced.program).splitlines()
    return [line.strip().split(" does(")[0] for line in lines if " does(" in line]


ROTATING = """
    y = nl.ndarray((8, 128, 256), dtype=x.dtype, buffer=nl.shared_hbm)
    a = nl.ndarray((8, nl.par_dim(128), 256), dtype=x.dtype,
                   buffer=nki.compiler.sbuf.mod_alloc(base_addr={first}, num_free_tiles=({a},)))
    b = nl.ndarray((8, nl.par_dim(128), 256), dtype=x.dtype,
                   buffer=nki.compiler.sbuf.mod_alloc(base_addr={second}, num_free_tiles=({b},)))
    for i in nl.affine_range(8):
        a[i] = nl.load(x[i])
        b[i] = nl.exp(a[i])
        nl.store(y[i], b[i])
    return y
"""


def test_modulo_allocation_is_rotation_as_deep_as_it_is_written(tmp_path: Path) -> None:
    traced = kernel(tmp_path, ROTATING.format(first=0, a=2, second=4096, b=3))
    assert accesses(traced) == [
        "sync load_a triggers(loads) writes(a[i % 2])",
        "scalar activation_b reads(a[i % 2]) writes(b[i % 3])",
        "gpsimd store_b triggers(stores) reads(b[i % 3])",
    ]
    assert traced.values.memories["a"].addresses == (0, 1024)
    assert traced.values.memories["b"].addresses == (4096, 5120, 6144)
    assert traced.values.bytes_used("sbuf") == 5 * 1024


def test_rotations_that_overlap_share_the_slots_they_share(tmp_path: Path) -> None:
    traced = kernel(tmp_path, ROTATING.format(first=0, a=2, second=1024, b=3))
    assert accesses(traced)[1] == "scalar activation_b reads(a[i % 2]) writes(a[i % 3 + 1])"
    assert traced.values.bytes_used("sbuf") == 4 * 1024
    x = np.random.default_rng(0).standard_normal((8, 128, 256), dtype=np.float32)
    (y,) = results(traced, {"x": x})
    np.testing.assert_allclose(y, np.exp(x), rtol=1e-5)
    assert run(traced, synchronize(traced.program), {}, orders=2).is_equal


def test_a_tile_that_overwrites_another_one_does_so_in_the_values(tmp_path: Path) -> None:
    body = """
        y = nl.ndarray((128, 8), dtype=x.dtype, buffer=nl.shared_hbm)
        at = nki.compiler.sbuf.alloc(lambda block, partitions, size: (0, 16))
        a = nl.ndarray((128, 8), dtype=x.dtype, buffer=at)
        b = nl.ndarray((128, 4), dtype=x.dtype, buffer=at)
        a[...] = nl.load(x[:, 0:8])
        b[...] = nl.load(x[:, 8:12])
        nl.store(y, a)
        return y
    """
    x = np.random.default_rng(0).standard_normal((128, 12), dtype=np.float32)
    (y,) = results(kernel(tmp_path, body, x="float32[128,12]"), {"x": x})
    np.testing.assert_array_equal(y, np.concatenate([x[:, 8:12], x[:, 4:8]], axis=1))
    (y,) = results(
        recorded(tmp_path, body, {"x": "float32[128,12]"}, "old").traced(buffers=1), {"x": x}
    )
    np.testing.assert_array_equal(y, x[:, :8])


def test_addresses_of_the_new_style_are_ranges_of_one_memory(tmp_path: Path) -> None:
    body = """
        y = nl.ndarray((2, 64, 32), dtype=x.dtype, buffer=nl.shared_hbm)
        big = nl.ndarray((64, 64), dtype=x.dtype, buffer=nl.sbuf, address=(64, 1024))
        nisa.dma_copy(dst=big, src=x)
        nisa.dma_copy(dst=y[0], src=big[:, 0:32])
        small = nl.ndarray((64, 32), dtype=x.dtype, buffer=nl.sbuf, address=(64, 1152))
        nisa.tensor_copy(dst=small, src=big[:, 32:64])
        nisa.dma_copy(dst=y[1], src=small)
        return y
    """
    traced = recorded(tmp_path, body, {"x": "float32[64,64]"}).traced(buffers="as-written")
    assert accesses(traced) == [
        "sync load_big triggers(loads) writes(big[0][0:64, 0:256])",
        "gpsimd store_big triggers(stores) reads(big[0][0:64, 0:128])",
        "vector tensor_copy_small reads(big[0][0:64, 128:256]) writes(big[0][0:64, 128:256])",
        "gpsimd store_small triggers(stores) reads(big[0][0:64, 128:256])",
    ]
    x = np.random.default_rng(0).standard_normal((64, 64), dtype=np.float32)
    (y,) = results(traced, {"x": x})
    np.testing.assert_array_equal(y, np.stack([x[:, :32], x[:, 32:]]))


def test_modulo_allocation_along_banks_partitions_and_bytes(tmp_path: Path) -> None:
    body = """
        t = nl.ndarray((4, 4, nl.par_dim(32), 64), dtype=nl.float32,
                       buffer=nki.compiler.psum.mod_alloc(
                           base_bank=1, base_addr=8, base_partition=32,
                           num_bank_tiles=(2, 1), num_par_tiles=(1, 2), num_free_tiles=(2, 2)))
        for i in nl.affine_range(4):
            for j in nl.affine_range(4):
                t[i, j] = nisa.memset((32, 64), 0, nl.float32)
    """
    trace = recorded(tmp_path, body, {}, "old")
    places = [op.writes[0].storage.place for op in operations(trace.recorded)]
    assert places == [
        (32 + 32 * (j % 2), 2048 * (1 + i % 2) + 8 + 256 * (2 * (i % 2) + j % 2))
        for i in range(4)
        for j in range(4)
    ]


def test_a_function_of_the_kernel_places_each_block(tmp_path: Path) -> None:
    body = """
        from functools import partial

        def place(banks, idx, pdim_size, fdim_size):
            return banks[idx[0]], 128 - pdim_size, idx[1] * fdim_size

        t = nl.ndarray((2, 3, nl.par_dim(32), 64), dtype=nl.float32,
                       buffer=nki.compiler.psum.alloc(partial(place, banks=(5, 2))))
        for i in nl.affine_range(2):
            for j in nl.affine_range(3):
                t[i, j] = nisa.memset((32, 64), 0, nl.float32)
        nl.ndarray((32, 64), dtype=nl.float32,
                   buffer=nki.compiler.sbuf.mod_alloc(base_addr=8, num_free_tiles=(1,)))
    """
    trace = recorded(tmp_path, body, {}, "old")
    places = [op.writes[0].storage.place for op in operations(trace.recorded)]
    assert places == [(96, 2048 * (5, 2)[i] + 256 * j) for i in range(2) for j in range(3)]


def test_what_is_not_placed_lies_between_what_is(cli: Cli, tmp_path: Path) -> None:
    body = """
        a = nl.ndarray((128, 1024), dtype=x.dtype, buffer=nl.sbuf, address=(0, 4096))
        nisa.dma_copy(dst=a, src=x)
        b = nl.ndarray((128, 1024), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=b, src=a)
        c = nl.ndarray((128, 1024), dtype=x.dtype, buffer=nl.sbuf)
        nisa.tensor_copy(dst=c, src=b)
    """
    traced = recorded(tmp_path, body, {"x": "float32[128,1024]"}).traced(buffers="as-written")
    places = {name: memory.addresses for name, memory in traced.values.memories.items()}
    assert places == {"a": (4096,), "b": (0,), "c": (8192,), "x": ()}


ERRORS = {
    "'t' is placed at bytes 229,370 to 229,434": (
        "t = nl.ndarray((128, 16), nl.float32, nl.sbuf, address=(0, 229370))",
        "a partition of sbuf has 229,376 bytes",
    ),
    "'t' is placed at partitions 64 to 192": (
        "t = nl.ndarray((128, 16), nl.float32, nl.sbuf, address=(64, 0))",
        "there are 128 partitions",
    ),
    "a tile at the address 5": (
        "t = nl.ndarray((128, 16), nl.float32, nl.sbuf, address=5)",
        "an address is (partition, byte)",
    ),
    "the place of block () in psum is (0, 0)": (
        "t = nl.ndarray((128, 16), nl.float32, nki.compiler.psum.alloc(lambda *block: (0, 0)))",
        "a place is (partition, byte), in PSUM (bank, partition, byte)",
    ),
}


@pytest.mark.parametrize("message", ERRORS)
def test_places_that_do_not_exist_are_errors_at_their_line(
    cli: Cli, tmp_path: Path, message: str
) -> None:
    line, rule = ERRORS[message]
    path = written(tmp_path, f"{line}\nnisa.memset(dst=t, value=0)", "")
    path.write_text(path.read_text().replace("import nki\n", "import nki, nki.compiler\n"))
    result = cli("trace", f"{path}:kernel", "--buffers", "as-written")
    assert result.code == 1
    assert f"kernels.py:9:5: error: {message}" in result.err
    assert f"rule: {rule}" in result.err


def test_an_address_that_a_run_time_bound_decides_is_an_error(tmp_path: Path) -> None:
    body = """
        for i in range(4):
            for j in range(4):
                t = nl.ndarray((128, 8), nl.float32, nl.sbuf, address=(0, 32 * (i % 2)))
                nisa.memset(dst=t, value=0)
    """
    trace = recorded(tmp_path, body, {})
    with pytest.raises(HeadwayError, match="'t' depends on a loop with a run-time bound"):
        trace.traced({"j": "n"}, "as-written")
    text = to_text(trace.traced({"i": "n"}, "as-written").program)
    assert "memset" in text


# ---- exactly the order of the memory


def touched(operand: Operand, memory: Any) -> Any:
    """Mark the bytes of a tile that an operand touches, in the memory of its partitions."""
    storage = operand.storage
    assert storage.place is not None
    inside = np.zeros(operand.root, dtype=bool)
    inside[tuple(slice(const_of(low), const_of(high)) for low, high in operand.box)] = True
    rows = inside.reshape(storage.shape[0], -1).repeat(storage.dtype.itemsize, axis=1)
    partition, byte = storage.place
    found = np.zeros_like(memory)
    found[partition : partition + rows.shape[0], byte : byte + rows.shape[1]] = rows
    return found


def physical(trace: Trace) -> set[tuple[int, int]]:
    """The pairs of operations that touch a common byte, one of them writing."""
    memory = np.zeros((128, 2048), dtype=bool)
    marks: list[tuple[Any, Any]] = []
    for op in operations(trace.recorded):
        reads, writes = (
            np.logical_or.reduce([memory, *(touched(o, memory) for o in operands)])
            for operands in (op.reads, op.writes)
        )
        marks.append((reads | writes, writes))
    return {
        (i, j)
        for (i, (all_i, writes_i)), (j, (all_j, writes_j)) in combinations(enumerate(marks), 2)
        if (all_i & writes_j).any() or (writes_i & all_j).any()
    }


def ordered(traced: Traced) -> set[tuple[int, int]]:
    """The pairs of instances of the program that touch a common cell, one of them writing."""
    found = [i for i in instances(traced.program, {}) if isinstance(i.node, Instr)]
    sets = [(set(i.reads) | set(i.writes), set(i.writes)) for i in found]
    return {
        (i, j)
        for (i, (all_i, writes_i)), (j, (all_j, writes_j)) in combinations(enumerate(sets), 2)
        if all_i & writes_j or writes_i & all_j
    }


def random_kernel(random: Random) -> str:
    """A loop over tiles that turn, whole or in parts, at random places; some lie still."""
    lines: list[str] = []
    for name in "abc":
        blocks = random.choice((1, 6))
        width = random.choice((4, 8, 16)) if blocks > 1 else random.choice((8, 12, 24))
        turns = random.randint(1, 4)
        base = 4 * random.randint(0, 24)
        stride = 4 * random.choice((width, width, width // 2, width + 4))
        start = random.choice((0, 0, 32, 64))
        lines.append(
            f"{name} = nl.ndarray(({blocks}, nl.par_dim(64), {width}), dtype=nl.float32, "
            f"buffer=nki.compiler.sbuf.alloc(lambda block, partitions, size: "
            f"({start}, {base} + {stride} * (block[0] % {turns}))))"
        )
        lines.append(f"w{name}, n{name} = {width}, {blocks}")
    lines.append("for i in range(6):")
    for _ in range(random.randint(1, 4)):
        name = random.choice("abc")
        half = random.choice(("", f", 0:w{name} // 2", f", w{name} // 2:w{name}"))
        band = f", :, i * (w{name} // 6) : (i + 1) * (w{name} // 6)"
        part = random.choice(("", "", f", :{half}" if half else "", ", 0:32", band))
        tile = f"{name}[i % n{name}{part}]"
        lines.append(f"    nisa.memset(dst={tile}, value=0)")
        if random.random() < 0.5:
            lines.append(f"    nisa.tensor_copy(dst={tile}, src={tile})")
    return "\n".join(lines)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(60))
def test_random_tiles_are_ordered_exactly_as_their_bytes(tmp_path: Path, seed: int) -> None:
    body = random_kernel(Random(seed))
    path = written(tmp_path, body, "")
    path.write_text(path.read_text().replace("import nki\n", "import nki, nki.compiler\n"))
    trace = record(path, "kernel", {})
    assert ordered(trace.traced(buffers="as-written")) == physical(trace), indent(body, "  ")
