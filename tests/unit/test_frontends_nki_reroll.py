"""Re-rolling, its proof, its speed, and the parts below it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from effort import effort

from headway.errors import HeadwayError, InvalidInput, Location
from headway.frontends import ArgSpec, record
from headway.frontends.nki.affine import Sym, iteration, number, substituted
from headway.frontends.nki.bands import bands
from headway.frontends.nki.engines import Policy
from headway.frontends.nki.expand import proved
from headway.frontends.nki.lifetimes import Lifetimes, Rotation, Turning, modulo, strides
from headway.frontends.nki.memory import CAPACITY
from headway.frontends.nki.record import Operand, Recorder, Storage, recording
from headway.frontends.nki.reroll import Reroller, Rolled, RolledNode, RolledOp
from headway.frontends.nki.types import DTYPES, HBM, SBUF
from headway.ir.program import Instr, Work

AT = Location("kernels.py", 1, 1)
WORK = Work("dma")


def stored(site: int = 0) -> Storage:
    return Storage(site, "x", (1000,), DTYPES["float32"], HBM, (), (), AT)


def recorded(rows: list[int]) -> Recorder:
    """A loop that reads row `rows[i]` in its iteration i."""
    trace = Recorder()
    x = stored()
    with recording(trace):
        loop = trace.open_python_loop("i", AT)
        for row in rows:
            trace.next_iteration(loop)
            trace.add("dma", [Operand(x, (1000,), ((row, row + 1),))], [], WORK)
        trace.close(loop)
    return trace


def rolled(rows: list[int]) -> tuple[RolledNode, ...]:
    trace = recorded(rows)
    return proved(Reroller().roll(trace.body), trace.body)


def form(nodes: tuple[RolledNode, ...]) -> str:
    """`.` for an operation, `trip(body)` for a loop."""
    return "".join(f"{n.trip}({form(n.body)})" if isinstance(n, Rolled) else "." for n in nodes)


@pytest.mark.parametrize(
    ("rows", "shape"),
    [
        ([], ""),
        ([5], "."),
        ([5, 9], "2(.)"),
        ([0, 3, 6, 9], "4(.)"),
        ([9, 6, 3, 0], "4(.)"),
        ([7, 0, 1, 2, 3], ".4(.)"),
        ([7, 9, 0, 1, 2, 3], "..4(.)"),
        ([0, 1, 2, 3, 9], "4(.)."),
        ([7, 0, 1, 2, 3, 9], ".4(.)."),
        ([7, 2, 0, 1, 2, 3, 9, 5], "..4(.).."),
        ([0, 50, 1, 51, 2, 52], "3(..)"),
        ([0, 50, 1, 51, 2, 52, 3], "3(..)."),
        ([9, 0, 50, 1, 51, 2, 52], ".3(..)"),
        ([0, 1, 4, 9, 16, 25], "......"),
        ([3, 1, 4, 1, 5, 9, 2, 6], "...3(.).."),  # 1, 5, 9
        ([3, 1, 4, 1, 5, 8, 2, 6], "........"),
        ([5, 3, 8, 0, 1, 2, 3, 9, 5, 7], "...4(.)..."),
        ([0, 1, 2, 3, 10, 20, 30, 40], "4(.)4(.)"),
        ([9, 7, 4, 0, 50, 1, 51, 2, 52, 8, 8, 5], "...3(..)..."),
        ([i % 8 * 100 + i * i // 64 for i in range(8)] * 3, "3(........)"),
    ],
)
def test_a_row_of_numbers_has_this_form(rows: list[int], shape: str) -> None:
    assert form(rolled(rows)) == shape


def test_the_proof_refuses_a_loop_that_is_wrong() -> None:
    trace = recorded([0, 3, 6, 9])
    (loop,) = Reroller().roll(trace.body)
    assert isinstance(loop, Rolled)
    (op,) = loop.body
    assert isinstance(op, RolledOp)
    wrong = RolledOp(op.origin, (Sym(0, ((0, 4),)), *op.numbers[1:]))
    for broken in (replace(loop, body=(wrong,)), replace(loop, trip=3), replace(loop, trip=5)):
        with pytest.raises(HeadwayError, match="a loop was rolled wrongly"):
            proved((broken,), trace.body)


@pytest.mark.thorough
def test_effort_to_roll_a_long_trace_grows_with_its_length() -> None:
    def rolling(length: int) -> int:
        trace = recorded([*range(length - 1), 0])
        return effort(lambda: Reroller().roll(trace.body))

    assert rolling(8_000) < 1.1 * 8 * rolling(1_000)


@pytest.mark.thorough
def test_effort_for_a_loop_that_does_not_roll_grows_with_its_length() -> None:
    def rolling(length: int) -> int:
        rows = [i * i for i in range(length)]
        assert form(rolled(rows)) == "." * length
        return effort(lambda: rolled(rows))

    assert rolling(4_000) < 1.1 * 8 * rolling(500)


# ---- numbers


def test_numbers_add_up_and_vanish() -> None:
    i, j = iteration(0), iteration(1)
    assert i * 3 + j - 2 == Sym(-2, ((0, 3), (1, 1)))
    assert (i + 1) - i == 1
    assert 5 - i == Sym(5, ((0, -1),))
    assert (i * 6 + 4) // 2 == Sym(2, ((0, 3),))
    assert substituted(i * 3 + j, {0: 2}) == Sym(6, ((1, 1),))
    assert number(4, ((0, 0),)) == 4


def test_an_index_has_no_value_before_the_kernel_runs() -> None:
    for wrong in (
        lambda: iteration(0) // 2,
        lambda: [1, 2][iteration(0)],
        lambda: iteration(0) < 3,
    ):
        with pytest.raises(HeadwayError, match="where its value must be known"):
            wrong()


def test_a_remainder_has_small_factors() -> None:
    assert modulo(iteration(0) * 6 + iteration(1) * 5 + 9, 4) == Sym(1, ((0, 2), (1, 1)))
    assert modulo(iteration(0) * 8 - 1, 4) == 3


# ---- slots


def tiles(lives: list[tuple[int, int]]) -> tuple[list[Storage], Lifetimes]:
    """Tile k is allocated in iteration k of loop 7."""
    found = Lifetimes([])
    found.trips[7] = len(lives)
    made: list[Storage] = []
    for k, (first, last) in enumerate(lives):
        made.append(Storage(0, "t", (8, 8), DTYPES["float32"], SBUF, (k,), (7,), AT))
        found._use(made[-1], first, last)  # pyright: ignore[reportPrivateUsage]
    return made, found


@pytest.mark.parametrize(
    ("lives", "wanted", "slots"),
    [
        ([(0, 1), (2, 3), (4, 5)], 1, 1),
        ([(0, 1), (2, 3), (4, 5)], 2, 2),
        ([(0, 1), (2, 3), (4, 5)], 8, 3),
        ([(0, 2), (1, 4), (3, 6)], 1, 2),
        ([(0, 9), (1, 9), (2, 9), (3, 9)], 2, 4),
        ([(0, 9), (1, 2), (3, 4), (5, 6)], 1, 4),
    ],
)
def test_a_tile_has_as_many_slots_as_live_at_a_time(
    lives: list[tuple[int, int]], wanted: int, slots: int
) -> None:
    made, found = tiles(lives)
    assert Turning(made, found, ()).rotation(wanted).slots == slots


def test_allocations_are_counted_through_nested_loops() -> None:
    assert strides((1, 2, 3), {1: 4, 2: 5, 3: 6}, ()) == (30, 6, 1)
    assert strides((1, 2, 3), {1: 4, 2: 5, 3: 6}, (2,)) == (0, 6, 1)
    assert strides((1, 2, 3), {1: 4, 2: 5}, ()) == (0, 0, 1)
    assert Rotation((30, 6, 1), 4).count((iteration(0), 2, 5)) == Sym(17, ((0, 30),))


# ---- bands


def test_rows_that_an_index_walks_over_are_bands() -> None:
    i = iteration(0)
    cut = bands((512, 64), [((i * 128, i * 128 + 128), (0, 64)), ((0, 512), (0, 64))])
    assert (cut.slots, cut.shape) == (4, (128, 64))
    assert list(cut.pieces(((i * 128, i * 128 + 128), (0, 64)))) == [(i, ((0, 128), (0, 64)))]
    assert [band for band, _ in cut.pieces(((0, 512), (0, 64)))] == [0, 1, 2, 3]


def test_many_bands_share_slots() -> None:
    i = iteration(0)
    cut = bands((64, 64), [((i, i + 1), (0, 64))])
    assert cut.slots == 8
    assert [band for band, _ in cut.pieces(((0, 64), (0, 64)))] == list(range(8))


def test_a_box_that_no_loop_moves_stays_a_box() -> None:
    i = iteration(0)
    cut = bands((64, 64), [((i * 8, i * 8 + 8), (0, 32)), ((0, 8), (32, 64))])
    assert cut.widths == (8, None)
    assert list(cut.pieces(((0, 8), (32, 64)))) == [(0, ((0, 8), (32, 64)))]


def test_a_length_that_depends_on_a_loop_takes_the_whole_dimension() -> None:
    i = iteration(0)
    assert bands((64, 64), [((0, i * 8 + 8), (0, 64))]).widths == (64, None)


def test_a_memory_that_would_overflow_rotates_less(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(
        "import nki.language as nl\n\n\ndef kernel(x):\n"
        "    for i in range(8):\n        tile = nl.load(x[i * 128 : (i + 1) * 128, :])\n"
    )
    wide = CAPACITY["sbuf"] // 4 // 2  # two of these fill a partition
    trace = record(path, "kernel", {"x": ArgSpec.parse(f"float32[1024,{wide}]")})
    assert [b.slots for b in trace.program(buffers=4).buffers] == [2]


@pytest.mark.thorough
def test_effort_for_a_loop_of_many_rows_grows_with_its_length() -> None:
    def rolling(length: int) -> int:
        rows = [5 * (i % 7) + i // 7 * (i // 7) for i in range(length)]
        assert form(rolled(rows)).count("(") >= length // 7 - 8
        return effort(lambda: rolled(rows))

    assert rolling(5_600) < 1.1 * 8 * rolling(700)


def test_engines_and_queues_follow_the_documented_policy(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(
        "import nki.isa as nisa\nimport nki.language as nl\n\n\ndef kernel(x, n):\n"
        "    a = nl.load(x[0:128, 0:128])\n"
        "    b = nl.load(n[0:128, :])\n"
        "    p = nl.matmul(a, a, transpose_x=True)\n"
        "    e = nl.exp(p)\n"
        "    s = nl.add(a, e)\n"
        "    q = nl.add(b, b)\n"
        "    c = nisa.tensor_scalar(dst=s, data=s, op0=nl.add, operand0=1.0, "
        "engine=nisa.gpsimd_engine)\n"
        "    nl.store(x[0:128, 0:128], value=s)\n"
    )
    args = {"x": ArgSpec.parse("float32[128,128]"), "n": ArgSpec.parse("int32[128,8]")}
    program = record(path, "kernel", args).program()
    assert [(i.engine, i.queue, i.cost.operation) for i in program.body] == [  # pyright: ignore
        ("sync", "loads", "dma"),
        ("sync", "loads", "dma"),
        ("tensor", None, "matmul"),
        ("scalar", None, "activation"),
        ("vector", None, "tensor_tensor"),
        ("gpsimd", None, "tensor_tensor"),
        ("gpsimd", None, "tensor_scalar"),
        ("gpsimd", "stores", "dma"),
    ]


def program_of(tmp_path: Path, policy: Policy) -> list[tuple[str, str | None]]:
    path = tmp_path / "kernels.py"
    path.write_text(
        "import nki.isa as nisa\nimport nki.language as nl\n\n\ndef kernel(x):\n"
        "    a = nl.load(x[0:128, 0:64])\n"
        "    b = nl.load(x[0:128, 64:128])\n"
        "    c = nl.load(x[0:128, 128:192])\n"
        "    nisa.tensor_copy(a, b)\n"
        "    nisa.tensor_copy(a, c, engine=nisa.vector_engine)\n"
        "    nl.store(x[0:128, 0:64], value=a)\n"
    )
    trace = record(path, "kernel", {"x": ArgSpec.parse("float32[128,192]")})
    body = trace.program(policy=policy).body
    return [(i.engine, i.queue) for i in body if isinstance(i, Instr)]


@pytest.mark.parametrize(
    ("triggers", "expected"),
    [
        ("split", ["loads", "loads", "loads", "stores on gpsimd"]),
        ("one", ["loads", "loads", "loads", "stores on sync"]),
        ("spread", ["loads", "loads_scalar", "loads", "stores on gpsimd"]),
    ],
)
def test_transfers_are_triggered_as_the_policy_says(
    triggers: str, expected: list[str], tmp_path: Path
) -> None:
    found = [(e, q) for e, q in program_of(tmp_path, Policy(triggers=triggers)) if q]
    assert [q for _, q in found[:3]] == expected[:3]
    assert f"{found[3][1]} on {found[3][0]}" == expected[3]
    hosts = {"loads": "sync", "loads_scalar": "scalar"}
    assert all(hosts[str(q)] == e for e, q in found[:3])


def test_an_engine_is_chosen_only_for_calls_that_name_none(tmp_path: Path) -> None:
    found = program_of(tmp_path, Policy({"tensor_copy": "scalar"}))
    assert [e for e, q in found if q is None] == ["scalar", "vector"]


@pytest.mark.parametrize(
    ("engines", "triggers", "message"),
    [
        ({"tensor_copy": "turbo"}, "split", "there is no engine 'turbo' for tensor_copy"),
        ({}, "somehow", "unknown way to trigger DMA 'somehow'"),
    ],
)
def test_a_policy_that_cannot_be(engines: dict[str, str], triggers: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Policy(engines, triggers)
