"""What only the old style has: block dimensions, launch grids, masks, allocation by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from headway.errors import HeadwayError, InvalidInput
from headway.frontends import ArgSpec, Trace, record
from headway.frontends.nki.launch import ONE, Launch
from headway.frontends.nki.record import Op
from headway.frontends.nki.tidy import operations as recorded
from headway.ir import to_text, verify
from headway.ir.program import Loop
from headway.ir.walk import walk

Traced = Callable[..., Trace]

HEAD = """\
import numpy as np
import neuronxcc.nki as nki
import neuronxcc.nki.compiler as ncc
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
"""
X = ArgSpec.parse("float32[1024,512]")


@pytest.fixture
def traced(tmp_path: Path) -> Traced:
    def trace(body: str, launch: Launch = ONE, head: str = HEAD) -> Trace:
        lines = dedent(body).strip("\n").splitlines()
        path = tmp_path / "kernels.py"
        path.write_text(head + "".join(f"    {line}\n" for line in lines))
        return record(path, "kernel", {"x": X}, launch)

    return trace


def text(trace: Trace) -> list[str]:
    """The lines of the program; it is valid."""
    program = trace.program()
    verify(program)
    return [line.strip() for line in to_text(program).splitlines()]


def loops(trace: Trace) -> list[tuple[str, object]]:
    return [(n.iteration, n.trip) for n in walk(trace.program().body) if isinstance(n, Loop)]


BLOCKED = """
    tiles = nl.ndarray((8, nl.par_dim(128), 512), dtype=x.dtype, buffer=nl.sbuf)
    for i in nl.affine_range(8):
        tiles[i] = nl.load(x[nl.ds(i * 128, 128), :])
    for j in nl.affine_range(8):
        nl.store(x[nl.ds(j * 128, 128), :], value=tiles[j])
"""


def test_each_block_is_a_tile_of_its_own(traced: Traced) -> None:
    trace = traced(BLOCKED)
    assert loops(trace) == [("i", 8), ("j", 8)]
    lines = text(trace)
    assert "buffer tiles slots 8 shape(128, 2048) space(sbuf)" in lines
    assert any("tiles[i % 8]" in line for line in lines)
    assert any("tiles[j % 8]" in line for line in lines)


def test_blocks_that_live_one_after_the_other_share_slots(traced: Traced) -> None:
    trace = traced("""
        tiles = nl.ndarray((2, 16, nl.par_dim(128), 8), dtype=x.dtype, buffer=nl.sbuf)
        for b in nl.affine_range(2):
            for i in nl.affine_range(16):
                tiles[b, i, :, :] = nl.load(x[0:128, i * 8 : (i + 1) * 8])
                tiles[b, i, :, :] = nl.exp(tiles[b, i])
        """)
    assert any("tiles[(b * 16 + i) % 4]" in line or "tiles[i % 4]" in line for line in text(trace))


def test_blocks_may_be_indexed_with_arrays(traced: Traced) -> None:
    trace = traced("""
        ip, jf = nl.mgrid[0:128, 0:512]
        tiles = nl.zeros((4, nl.par_dim(128), 1024), dtype=x.dtype, buffer=nl.sbuf)
        for i in nl.affine_range(4):
            tiles[i, ip, jf] = nl.load(x[ip + i * 128, jf])
        """)
    assert trace.recorded_operations == 4 + 4
    assert {op.writes[0].box for op in operations(trace)} == {
        ((0, 128), (0, 1024)),
        ((0, 128), (0, 512)),
    }


def operations(trace: Trace) -> Iterator[Op]:
    return recorded(trace.recorded)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("tiles[4]", "block 4 of a dimension of 4 blocks"),
        ("tiles[nl.arange(4)[:, None, None], 0:128, 0:8]", "an index of several blocks at once"),
    ],
)
def test_an_index_that_names_no_block(traced: Traced, index: str, message: str) -> None:
    body = f"""
        tiles = nl.zeros((4, nl.par_dim(128), 8), dtype=x.dtype, buffer=nl.sbuf)
        nl.exp({index})
        """
    with pytest.raises(HeadwayError) as error:
        traced(body)
    assert f"kernels.py:11:5: error: {message}" in str(error.value)


def test_psum_zeros_of_blocks_start_accumulation_groups_one_by_one(traced: Traced) -> None:
    trace = traced("""
        a = nl.load(x[0:128, 0:128])
        sums = nl.zeros((3, nl.par_dim(128), 128), dtype=nl.float32, buffer=nl.psum)
        for i in nl.affine_range(2):
            sums[i] += nisa.nc_matmul(a, a)
        nl.copy(sums[2])
        """)
    names = [op.kind.operation for op in operations(trace)]
    assert names == ["dma", "memset", "matmul", "matmul", "tensor_copy"]


GRID = """
    b = nl.program_id(0)
    assert nl.num_programs(axes=0) == 4 and nl.program_ndim() == 2
    out = nl.ndarray((1024, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x[nl.ds(b * 128, 128), nl.ds(nl.program_id(1) * 128, 128)])
    nl.store(out[nl.ds(b * 128, 128), nl.ds(nl.program_id(1) * 128, 128)], value=tile)
    nl.store(x[nl.ds(b * 128, 128), 0:128], value=tile)
"""


def test_one_program_of_a_launch_grid(traced: Traced) -> None:
    trace = traced(GRID, Launch.parse("4,2", "3,1"))
    assert loops(trace) == []
    assert next(op.reads[0].box for op in operations(trace)) == ((384, 512), (128, 256))


def test_all_programs_of_a_launch_grid_are_loops(traced: Traced) -> None:
    trace = traced(GRID, Launch.parse("4,2", "all"))
    assert loops(trace) == [("program_0", 4), ("program_1", 2)]
    assert trace.recorded_operations == 4 * 2 * 3
    outs = {op.writes[0].storage for op in operations(trace) if op.writes[0].storage.name == "out"}
    assert len(outs) == 1  # shared by all programs


@pytest.mark.parametrize(
    ("grid", "program", "message"),
    [
        ("4,2", "4,0", "there is no program 4,0 in a grid of 4,2"),
        ("4,2", "1", "there is no program 1 in a grid of 4,2"),
        ("4x2", "", "--grid '4x2' is no list of numbers"),
        ("0", "", "a grid of 0"),
    ],
)
def test_a_launch_that_cannot_be(grid: str, program: str, message: str) -> None:
    with pytest.raises(InvalidInput) as error:
        Launch.parse(grid, program)
    assert error.value.diagnostics[0].message == message


def test_an_axis_that_the_grid_does_not_have(traced: Traced) -> None:
    with pytest.raises(HeadwayError) as error:
        traced("nl.program_id(1)", Launch.parse("2"))
    assert "kernels.py:10:5: error: dimension 1 of a launch grid of 1 dimensions" in str(
        error.value
    )


def test_an_instruction_whose_mask_is_empty_is_not_executed(traced: Traced) -> None:
    trace = traced("""
        total = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
        for i in nl.affine_range(4):
            ip, jf = nl.mgrid[0:128, 0:128]
            a = nl.load(x[ip, jf], mask=i * 2 < 6)
            total[0:128, 0:128] += nisa.nc_matmul(a, a, mask=i * 2 < 6)
            y = nl.exp(a, mask=(ip + i * 128 < 300))
            nl.store(x[ip, jf], value=y, mask=(ip + i * 128 < 300) & (jf < 5))
        """)
    names = [op.kind.operation for op in operations(trace)]
    assert names == ["dma", "matmul", "activation", "dma"] * 3


def test_allocation_by_hand_names_the_memory(traced: Traced) -> None:
    trace = traced("""
        buffer = ncc.sbuf.mod_alloc(base_addr=0, num_free_tiles=(2,))
        tiles = nl.ndarray((8, nl.par_dim(128), 512), dtype=x.dtype, buffer=buffer)
        bank = ncc.psum.alloc(lambda idx, pdim_size, fdim_size: (idx[0] % 8, 0, 0))
        sums = nl.ndarray((8, nl.par_dim(128), 512), dtype=nl.float32, buffer=bank)
        for i in nl.affine_range(8):
            tiles[i] = nl.load(x[nl.ds(i * 128, 128), :])
            sums[i] = nisa.nc_matmul(tiles[i][:, 0:128], tiles[i])
        """)
    memories = {op.writes[0].storage.memory.name for op in operations(trace)}
    assert memories == {"sbuf", "psum"}


def test_a_reduction_over_a_loop_copies_once_and_adds(traced: Traced) -> None:
    trace = traced("""
        total = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
        for i in nl.affine_range(4):
            tile = nl.load(x[nl.ds(i * 128, 128), :])
            total[...] = nl.loop_reduce(tile, op=np.add, loop_indices=(i,))
        """)
    names = [op.kind.operation for op in operations(trace)]
    assert names == ["dma", *["dma", "tensor_tensor"] * 3]


def test_decorators_of_the_compiler_and_options_change_nothing(traced: Traced) -> None:
    head = HEAD.replace(
        "@nki.jit\n",
        "@ncc.enable_stack_allocator(log_level=20)\n@ncc.skip_middle_end_transformations\n"
        "@nki.jit(mode='trace', additional_compile_opt='-O1')\n",
    )
    assert traced("nl.load(x[0:128, :])", head=head).recorded_operations == 1
    for decorator in ("nki.baremetal", "nki.benchmark(warmup=5, iters=10)", "nki.trace"):
        head = HEAD.replace("nki.jit", decorator)
        assert traced("nl.load(x[0:128, :])", head=head).recorded_operations == 1


def test_index_arrays_moved_by_a_number_in_a_tile_touch_the_whole_dimension(traced: Traced) -> None:
    trace = traced("""
        block = nl.load(x[0:1, 0:1], dtype=nl.int32)
        ip = nl.arange(128)[:, None]
        jf = nl.arange(16)[None, :]
        tile = nl.load(x[ip + block, jf])
        nl.store(x[block + ip, jf], value=tile)
        """)
    load, store = list(operations(trace))[1:]
    assert load.reads[0].box == ((0, 1024), (0, 16))
    assert load.reads[1].storage.name == "block"
    assert store.writes[0].box == ((0, 1024), (0, 16))


def test_a_mask_as_an_index_leaves_the_tile_as_it_is(traced: Traced) -> None:
    trace = traced("""
        ip = nl.arange(128)[:, None]
        tile = nl.load(x[ip, nl.arange(16)[None, :]][ip < 100])
        """)
    (load,) = operations(trace)
    assert load.reads[0].box == ((0, 128), (0, 16))


def test_a_matmul_with_a_mask_accumulates(traced: Traced) -> None:
    trace = traced("""
        ip, jf = nl.mgrid[0:128, 0:128]
        a = nl.load(x[ip, jf])
        total = nl.zeros((128, 128), dtype=nl.float32, buffer=nl.psum)
        total[ip, jf] += nisa.nc_matmul(a[ip, jf], a[ip, jf], mask=jf < 100)
        """)
    _, product = operations(trace)
    assert product.kind.operation == "matmul"
    assert [operand.storage.name for operand in product.writes] == ["total"]
    assert product.kind.means.roles == ("stationary", "moving", "addend", "dst")
