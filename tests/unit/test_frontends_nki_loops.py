"""Every loop form of both styles, as it comes out in the program."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from headway.errors import HeadwayError
from headway.frontends import ArgSpec, Trace, kernels, record
from headway.ir import to_text, verify
from headway.ir.program import Instr, Loop, While
from headway.ir.walk import walk

Traced = Callable[..., Trace]

NEW = """\
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x, cond=None):
"""
OLD = """\
import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x, cond=None):
"""
X = ArgSpec.parse("float32[1024,512]")
COND = ArgSpec.parse("int32[1,1]")


@pytest.fixture
def traced(tmp_path: Path) -> Traced:
    def trace(body: str, head: str = NEW, **args: ArgSpec) -> Trace:
        lines = dedent(body).strip("\n").splitlines()
        path = tmp_path / "kernels.py"
        path.write_text(head + "".join(f"    {line}\n" for line in lines))
        return record(path, "kernel", {"x": X, **args})

    return trace


def loop_text(trace: Trace, **options: object) -> list[str]:
    """The text of the body, without declarations."""
    program = trace.program(**options)  # pyright: ignore[reportArgumentType]
    verify(program)
    heads = ("engine", "queue", "buffer", "input", "program", "}")
    lines = [line.strip() for line in to_text(program).splitlines()]
    return [line.partition(" does(")[0] for line in lines if not line.startswith(heads)]


def loops(trace: Trace) -> list[tuple[str, object]]:
    body = trace.program().body
    return [(n.iteration, n.trip) for n in walk(body) if isinstance(n, Loop)]


COPY = """
    out = nl.ndarray((1024, 512), dtype=x.dtype, buffer=nl.shared_hbm)
    for i in LOOP:
        tile = nl.load(x[i * 128 : (i + 1) * 128, :])
        nl.store(out[i * 128 : (i + 1) * 128, :], value=tile)
    return out
"""


@pytest.mark.parametrize("head", [NEW, OLD], ids=["new", "old"])
@pytest.mark.parametrize(
    "form", ["range", "nl.affine_range", "nl.sequential_range", "nl.static_range"]
)
def test_a_python_loop_comes_back_as_a_loop(traced: Traced, head: str, form: str) -> None:
    trace = traced(COPY.replace("LOOP", f"{form}(8)"), head)
    assert trace.recorded_operations == 16
    assert trace.rolled_operations == 2
    assert loop_text(trace) == [
        "loop i 8 {",
        "sync load_tile triggers(loads) writes(tile[i % 4])",
        "gpsimd store_tile triggers(stores) reads(tile[i % 4])",
    ]


def test_a_nested_loop_rotates_by_the_count_of_allocations(traced: Traced) -> None:
    trace = traced(
        """
        for i in nl.affine_range(4):
            for j in nl.affine_range(3):
                tile = nl.load(x[i * 128 : (i + 1) * 128, j * 128 : (j + 1) * 128])
        """
    )
    assert loop_text(trace, buffers=2) == [
        "loop i 4 {",
        "loop j 3 {",
        "sync load_tile triggers(loads) writes(tile[(i + j) % 2])",
    ]


def test_a_bound_that_each_iteration_loads_anew_is_read_from_that_iterations_tile(
    traced: Traced,
) -> None:
    body = """
        for i in nl.affine_range(4):
            count = nl.load(cond[i : i + 1, :])
            for j in nl.dynamic_range(0, nisa.register_alloc(count)):
                tile = nl.load(x[0:128, :])
        """
    found = loop_text(traced(body, cond=ArgSpec.parse("int32[4,1]")), buffers=2)
    assert found == [
        "loop i 4 {",
        "sync load_count triggers(loads) writes(count[i % 2])",
        "loop j j_trips load j_bound reads(count[i % 2]) {",
        "sync load_tile triggers(loads) writes(tile[j % 2])",
    ]


def test_a_tile_in_loops_with_run_time_bounds_has_no_more_slots_than_asked_for(
    traced: Traced,
) -> None:
    trace = traced(
        """
        for i in nl.affine_range(4):
            for j in nl.affine_range(4):
                tile = nl.load(x[i * 128 : (i + 1) * 128, j * 128 : (j + 1) * 128])
        """
    )
    assert loop_text(trace, dynamic_bounds={"i": "n", "j": "m"}, buffers=2)[-1] == (
        "sync load_tile triggers(loads) writes(tile[j % 2])"
    )


def test_a_loop_of_a_comprehension_has_the_name_of_its_variable(traced: Traced) -> None:
    trace = traced(
        """
        kept = [nl.load(x[nl.ds(k * 128, 128), :]) for k in range(3)]
        for i in nl.affine_range(4):
            nl.store(x[i * 128 : (i + 1) * 128, :], value=kept[0])
        """
    )
    assert loop_text(trace, dynamic_bounds={"i": "n"})[0] == "loop k 3 {"


def test_a_tile_outside_the_loop_has_one_slot(traced: Traced) -> None:
    trace = traced(
        """
        total = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.sbuf)
        for i in nl.affine_range(8):
            tile = nl.load(x[i * 128 : (i + 1) * 128, :])
            nisa.tensor_tensor(total, total, tile, op=nl.add)
        """
    )
    assert (
        loop_text(trace)[-1] == "vector tensor_tensor_total reads(total, tile[i % 4]) writes(total)"
    )


def test_a_loop_of_the_device_stays_one_and_its_index_is_affine(traced: Traced) -> None:
    trace = traced(
        """
        def body(i):
            tile = nl.load(x[i * 128 : (i + 1) * 128, :])
            nisa.activation(tile, nl.exp, tile)
        nl.fori_loop(0, 8, body)
        """
    )
    assert trace.recorded_operations == 2
    assert loop_text(trace) == [
        "loop i 8 {",
        "sync load_tile triggers(loads) writes(tile[i % 4])",
        "scalar activation_tile reads(tile[i % 4]) writes(tile[i % 4])",
    ]


def test_a_bound_in_memory_becomes_an_input_and_a_control_read(traced: Traced) -> None:
    body = """
        count = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(count, cond)
        bound = nisa.register_alloc(count)
        for i in nl.dynamic_range(0, bound):
            tile = nl.load(x[0:128, :])
        """
    assert loop_text(traced(body, cond=COND)) == [
        "sync load_count triggers(loads) writes(count)",
        "loop i i_trips load i_bound reads(count) {",
        "sync load_tile triggers(loads) writes(tile[i % 4])",
    ]


def test_a_while_loop_reads_its_condition_again(traced: Traced) -> None:
    body = """
        flag = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(flag, cond)
        going = nisa.register_alloc(flag)
        while going:
            nisa.tensor_scalar(flag, flag, op0=nl.subtract, operand0=1)
            nisa.register_load(going, flag)
        """
    trace = traced(body, cond=COND)
    (loop,) = [n for n in walk(trace.program().body) if isinstance(n, While)]
    assert loop.control is not None
    assert loop_text(trace) == [
        "sync load_flag triggers(loads) writes(flag)",
        "while turn (turn < turn_trips) load turn_bound reads(flag) {",
        "vector tensor_scalar_flag reads(flag) writes(flag)",
    ]


def test_while_loop_with_a_body_function_is_the_same(traced: Traced) -> None:
    body = """
        flag = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
        nisa.dma_copy(flag, cond)
        going = nisa.register_alloc(flag)
        def turn(go):
            nisa.tensor_scalar(flag, flag, op0=nl.subtract, operand0=1)
            return nisa.register_load(nisa.register_alloc(), flag)
        nl.while_loop(going, turn)
        """
    assert "while go (go < go_trips) load go_bound reads(flag) {" in loop_text(
        traced(body, cond=COND)
    )


def test_an_accumulation_group_of_the_old_style_is_one_matmul(traced: Traced) -> None:
    trace = traced(
        """
        total = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
        for k in nl.affine_range(4):
            a = nl.load(x[k * 128 : (k + 1) * 128, 0:128])
            b = nl.load(x[k * 128 : (k + 1) * 128, :])
            total[...] += nisa.nc_matmul(a, b)
        result = nl.copy(total)
        """,
        OLD,
    )
    assert loop_text(trace)[3] == (
        "tensor matmul_total reads(a[k % 4], b[k % 4], total) writes(total)"
    )
    assert trace.recorded_operations == 4 * 3 + 1


def test_the_first_iteration_may_differ(traced: Traced) -> None:
    trace = traced(
        """
        tile = nl.load(x[0:128, :])
        for i in range(8):
            tile = nl.exp(tile)
        """
    )
    assert loop_text(trace) == [
        "sync load_tile triggers(loads) writes(tile)",
        "scalar activation_tile reads(tile) writes(tile_2)",
        "loop i 7 {",
        "scalar activation_tile_2 reads(tile_2[i % 4]) writes(tile_2[(i + 1) % 4])",
    ]


def test_double_buffering_by_hand_has_a_period(traced: Traced) -> None:
    trace = traced(
        """
        even = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
        odd = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
        for i in range(8):
            nisa.dma_copy(even if i % 2 == 0 else odd, x[i * 128 : (i + 1) * 128, :])
        """
    )
    assert loop_text(trace) == [
        "loop i 4 {",
        "sync load_even triggers(loads) writes(even)",
        "sync load_odd triggers(loads) writes(odd)",
    ]


def test_a_triangular_loop_keeps_its_affine_trip_count(traced: Traced) -> None:
    trace = traced(
        """
        for i in range(6):
            for j in range(i + 1):
                tile = nl.load(x[j * 128 : (j + 1) * 128, :])
        """
    )
    assert loop_text(trace, buffers=1) == [
        "sync load_tile triggers(loads) writes(tile)",
        "loop i 5 {",
        "loop j i + 2 {",
        "sync load_tile_2 triggers(loads) writes(tile)",
    ]
    assert trace.recorded_operations == 21


PREDICATED = """
    for i in range(12):
        tile = nl.load(x[0:128, :])
        if i < 7:
            nisa.activation(dst=tile, op=nl.exp, data=tile)
        else:
            nisa.tensor_copy(dst=tile, src=tile)
"""


def test_a_body_with_a_condition_is_one_loop_before_it_changes_and_one_after(
    traced: Traced,
) -> None:
    trace = traced(PREDICATED)
    assert loops(trace) == [("i", 7), ("i", 5)]
    assert (trace.recorded_operations, trace.rolled_operations) == (24, 4)
    body = loop_text(trace, buffers=2)
    assert body[-3] == "loop i 5 {"
    assert body[-2].endswith("writes(tile[(i + 7) % 2])") or "i + 1) % 2" in body[-2]


def test_a_causal_loop_keeps_its_diagonal_and_both_triangles(traced: Traced) -> None:
    trace = traced(
        """
        for i in range(8):
            for j in range(8):
                tile = nl.load(x[j * 128 : (j + 1) * 128, :])
                if j < i:
                    nisa.activation(dst=tile, op=nl.exp, data=tile)
                elif j == i:
                    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.add, operand0=1.0)
                else:
                    nisa.tensor_copy(dst=tile, src=tile)
        """
    )
    assert trace.recorded_operations == 128
    text = loop_text(trace, buffers=1)
    assert "loop i 4 {" in text
    inner = text[text.index("loop i 4 {") :]
    assert "loop j i + 2 {" in inner
    assert any(line.startswith("loop j ") and "5" in line and "i" in line[7:] for line in inner)


def test_loops_as_written_are_those_of_the_device_only(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(
        NEW
        + "    for i in range(4):\n"
        + "        tile = nl.load(x[i * 128 : (i + 1) * 128, :])\n"
        + "        for k in nl.dynamic_range(8):\n"
        + "            nisa.activation(dst=tile, op=nl.exp, data=tile)\n"
    )
    written = record(path, "kernel", {"x": X}, loops="as-written")
    assert loops(written) == [("k", 8)] * 4
    assert written.rolled_operations == written.recorded_operations == 8
    assert loops(record(path, "kernel", {"x": X})) == [("i", 4), ("k", 8)]
    with pytest.raises(HeadwayError, match="write rolled or as-written"):
        record(path, "kernel", {"x": X}, loops="unrolled")


def test_a_loop_without_pattern_stays_unrolled(traced: Traced) -> None:
    trace = traced(
        """
        for i in range(6):
            tile = nl.load(x[i * i : i * i + 1, :])
        """
    )
    assert (trace.recorded_operations, trace.rolled_operations) == (6, 6)
    assert loops(trace) == []


def test_break_ends_a_loop_and_those_inside(traced: Traced) -> None:
    trace = traced(
        """
        for i in range(8):
            for j in range(8):
                if j == 4:
                    break
                a = nl.load(x[0:128, :])
            b = nl.load(x[0:128, :])
        """
    )
    assert loops(trace) == [("i", 8), ("j", 4)]


def test_tiles_in_a_list_are_kept_apart_until_the_last_use(traced: Traced) -> None:
    trace = traced(
        """
        tiles = []
        for i in range(6):
            tiles.append(nl.load(x[i * 128 : (i + 1) * 128, :]))
        for i in range(6):
            nisa.activation(tiles[i], nl.exp, tiles[i])
        """
    )
    assert [b.slots for b in trace.program(buffers=2).buffers] == [6]


def test_columns_of_an_accumulator_are_slots(traced: Traced) -> None:
    trace = traced(
        """
        columns = nl.zeros((128, 4), dtype=nl.float32, buffer=nl.sbuf)
        for i in range(4):
            tile = nl.load(x[i * 128 : (i + 1) * 128, :])
            columns[0:128, i : i + 1] = nl.sum(tile, axis=1, keepdims=True)
        total = nl.sum(columns, axis=1, keepdims=True)
        """
    )
    text = loop_text(trace)
    assert text[0] == "vector memset_columns writes(columns, columns[1], columns[2], columns[3])"
    assert text[3] == "vector tensor_reduce_columns reads(tile[i % 4]) writes(columns[i % 4])"


def test_a_dynamic_bound_turns_a_rolled_loop_into_a_run_time_one(traced: Traced) -> None:
    trace = traced(COPY.replace("LOOP", "range(8)"))
    program = trace.program({"i": "n"})
    assert [d.name for d in program.inputs] == ["n"]
    assert loop_text(trace, dynamic_bounds={"i@9": "n"})[0] == "loop i n {"


def test_a_peeled_loop_cannot_have_a_dynamic_bound(traced: Traced) -> None:
    trace = traced(
        """
        tile = nl.load(x[0:128, :])
        for i in range(8):
            tile = nl.exp(tile)
        """
    )
    with pytest.raises(HeadwayError) as error:
        trace.program({"i": "n"})
    file = trace.at.file
    assert str(error.value) == (
        f"{file}:9:5: error: loop 'i' cannot have a run-time bound: some of its iterations differ "
        "from the others and were peeled\n"
        "   9 |     for i in range(8):\n"
        "     |     ^\n"
        "  help: trace with larger arguments, or bound another loop"
    )


def test_a_loop_that_stays_unrolled_in_one_execution_cannot_have_a_dynamic_bound(
    traced: Traced,
) -> None:
    trace = traced(
        """
        for j in range(2):
            for k in range(4):
                tile = nl.load(x[nl.ds(k * (1 + j * k) * 32, 128), :])
        """
    )
    assert loops(trace) == [("k", 4)]  # rows 0, 64, 192 and 384 are no loop
    with pytest.raises(HeadwayError, match=r"'k'.*: some of its executions stayed unrolled"):
        trace.program({"k": "n"})


def test_a_tile_that_outlives_its_dynamic_loop_is_an_error(traced: Traced) -> None:
    trace = traced(
        """
        for i in range(8):
            tile = nl.load(x[i * 128 : (i + 1) * 128, :])
        nl.store(x[0:128, :], value=tile)
        """
    )
    with pytest.raises(HeadwayError, match="is allocated in a loop with the run-time bound 'n'"):
        trace.program({"i": "n"})


def test_an_unknown_loop_names_those_there_are(traced: Traced) -> None:
    trace = traced(COPY.replace("LOOP", "range(8)"))
    with pytest.raises(HeadwayError) as error:
        trace.program({"j": "n"})
    assert str(error.value) == ("error: there is no loop 'j' after re-rolling\n  help: loops: i@9")


def test_every_instruction_points_at_the_kernels_line(traced: Traced) -> None:
    trace = traced(COPY.replace("LOOP", "range(8)"))
    places = [n.at for n in walk(trace.program().body) if isinstance(n, Instr)]
    assert [p.line for p in places if p] == [10, 11]
    assert {p.file for p in places if p} == {trace.at.file}


def test_nothing_stays_behind(traced: Traced) -> None:
    import sys

    before = set(sys.modules)
    traced(COPY.replace("LOOP", "range(8)"))
    left = set(sys.modules) - before
    assert not [name for name in left if name.startswith(("nki", "neuronxcc", "kernels"))]


def test_a_file_lists_its_kernels(traced: Traced, tmp_path: Path) -> None:
    traced(COPY.replace("LOOP", "range(8)"))
    assert kernels(tmp_path / "kernels.py") == ("kernel",)


def test_file_that_has_just_changed_is_traced_as_it_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    found: list[object] = []
    for count in (3, 4):
        path = tmp_path / "kernels.py"
        body = f"    for i in nl.affine_range({count}):\n        nl.load(x[i])\n"
        path.write_text(OLD + body)
        os.utime(path, (1_000_000_000, 1_000_000_000))  # within a second, and as long as before
        program = record(path, "kernel", {"x": ArgSpec.parse("float32[4,128,8]")}).program()
        found += [node.trip for node in walk(program.body) if isinstance(node, Loop)]
    assert found == [3, 4]
