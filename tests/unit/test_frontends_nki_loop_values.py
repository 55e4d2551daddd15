"""Every form of a loop, in both styles, computes what numpy does: in order and concurrently.

Each body works on `x`, float32[6, 128, 8], and leaves its result in `y`, of the same shape.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import numpy
import pytest
from kernel_files import recorded, results

from headway.compiler import synchronize
from headway.errors import InvalidProgram
from headway.execution import run
from headway.frontends import ArgSpec, record
from headway.frontends.nki.convert import loops
from headway.frontends.nki.memory import Buffers
from headway.ir.walk import instructions

np: Any = numpy

HEAD = """
y = nl.ndarray((6, 128, 8), dtype=nl.float32, buffer=nl.shared_hbm)

def double(i):
    tile = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x[i])
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
    nisa.dma_copy(dst=y[i], src=tile)

"""
OLD_HEAD = """
y = nl.ndarray((6, 128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
"""


@dataclass(frozen=True, slots=True)
class Form:
    """A form of loop: so many loops and instructions are left in the program."""

    name: str
    body: str
    expected: Callable[[Any], Any]
    loops: int
    instructions: int
    style: str = "new"
    inputs: dict[str, int] = field(default_factory=dict[str, int])


def doubled(x: Any) -> Any:
    return 2 * x


def prefixes(x: Any) -> Any:
    """Sums of the first blocks, as float32 adds them."""
    return np.cumsum(x, axis=0, dtype=np.float32)


def but(x: Any, **changed: Any) -> Any:
    """Doubled, but for some blocks: `_3` is block 3."""
    found = 2 * x
    for name, value in changed.items():
        found[int(name[1:])] = value
    return found


def triangular(x: Any) -> Any:
    return np.stack([x[: i + 1].sum(axis=0, dtype=np.float32) for i in range(6)])


CARRIED = """
total = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
nisa.memset(dst=total, value=0.0)
for i in nl.{range}(6):
    tile = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x[i])
    nisa.tensor_tensor(dst=total, data1=total, data2=tile, op=nl.add)
    nisa.dma_copy(dst=y[i], src=total)
"""
BOUND = """
bound = nl.ndarray((1, 1), dtype=nl.int32, buffer=nl.sbuf)
nisa.dma_copy(dst=bound, src=n)
register = nisa.register_alloc()
nisa.register_load(register, bound)
"""

FORMS = [
    *(
        Form(f"new {kind}", f"for i in {kind}(6):\n    double(i)", doubled, 1, 3)
        for kind in ("range", "nl.affine_range", "nl.sequential_range", "nl.static_range")
    ),
    Form("new from a start in steps", "for i in range(0, 6, 2):\n    double(i)\n    double(i + 1)",
         doubled, 1, 6),
    Form("new backwards", "for i in reversed(range(6)):\n    double(i)", doubled, 1, 3),
    Form("new nested", "for i in range(3):\n    for j in range(2):\n        double(2 * i + j)",
         doubled, 2, 3),
    Form("new while of Python", "i = 0\nwhile i < 2:\n    double(i)\n    i += 1",
         lambda x: but(x, **{f"_{i}": np.nan for i in range(2, 6)}), 0, 6),
    Form("new comprehension",
         "tiles = [nl.load(x[i]) for i in range(6)]\nfor i in range(6):\n"
         "    nl.store(y[i], tiles[5 - i])",
         lambda x: x[::-1], 2, 2),
    Form("new first iteration differs",
         "for i in range(6):\n    double(i)\n    if i == 0:\n        nl.store(y[0], nl.load(x[5]))",
         lambda x: but(x, _0=x[5]), 1, 8),
    Form("new last iteration differs",
         "for i in range(6):\n    double(i)\n    if i == 5:\n        nl.store(y[5], nl.load(x[0]))",
         lambda x: but(x, _5=x[0]), 1, 8),
    Form("new every other iteration differs",
         "for i in range(6):\n    if i % 2:\n        nl.store(y[i], nl.load(x[i]))\n"
         "    else:\n        double(i)",
         lambda x: but(x, _1=x[1], _3=x[3], _5=x[5]), 1, 5),
    Form("new condition on the index",
         "for i in range(6):\n    if i < 3:\n        double(i)\n"
         "    else:\n        nl.store(y[i], nl.load(x[i]))",
         lambda x: but(x, _3=x[3], _4=x[4], _5=x[5]), 2, 5),
    Form("new break", "for i in range(9):\n    if i == 6:\n        break\n    double(i)",
         doubled, 1, 3),
    Form("new triangular", """
for i in range(6):
    total = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
    nisa.memset(dst=total, value=0.0)
    for j in range(i + 1):
        tile = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[j])
        nisa.tensor_tensor(dst=total, data1=total, data2=tile, op=nl.add)
    nisa.dma_copy(dst=y[i], src=total)
""", triangular, 2, 8),
    Form("new carried", CARRIED.format(range="affine_range"), prefixes, 1, 4),
    Form("new two buffers in turn", """
pair = [nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf) for _ in range(2)]
for i in range(6):
    nisa.dma_copy(dst=pair[i % 2], src=x[i])
    nisa.tensor_scalar(dst=pair[i % 2], data=pair[i % 2], op0=nl.multiply, operand0=2.0)
    nisa.dma_copy(dst=y[i], src=pair[i % 2])
""", doubled, 1, 6),
    Form("new numbers of the iteration", """
for i in range(6):
    tile = nl.load(x[i])
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=float(2 ** i))
    nl.store(y[i], tile)
""", lambda x: x * (2.0 ** np.arange(6))[:, None, None], 1, 3),
    Form("new fori_loop", "nl.fori_loop(0, 6, double)", doubled, 1, 3),
    Form("new fori_loop by name", "nl.fori_loop(lower=0, upper=6, body_fun=double)",
         doubled, 1, 3),
    Form("new dynamic_range by name",
         "for i in nl.dynamic_range(start=0, stop=6):\n    double(i)", doubled, 1, 3),
    Form("new fori_loop in steps",
         "nl.fori_loop(0, 6, lambda i: (double(i), double(i + 1)), 2)", doubled, 1, 6),
    Form("new fori_loop in a fori_loop",
         "nl.fori_loop(0, 3, lambda i: nl.fori_loop(0, 2, lambda j: double(i * 2 + j)))",
         doubled, 2, 3),
    Form("new fori_loop in a range",
         "for i in range(3):\n    nl.fori_loop(0, 2, lambda j: double(i * 2 + j))", doubled, 2, 3),
    Form("new dynamic_range", "for i in nl.dynamic_range(6):\n    double(i)", doubled, 1, 3),
    Form("new dynamic_range of a register",
         BOUND + "for i in nl.dynamic_range(register):\n    double(i)",
         doubled, 1, 4, inputs={"i_trips": 6}),
    Form("new fori_loop up to a register", BOUND + "nl.fori_loop(0, register, double)",
         doubled, 1, 4, inputs={"i_trips": 6}),
    Form("new fori_loop up to a register that is set by name", BOUND + """
last = nisa.register_alloc(x=0)
nisa.register_move(dst=last, src=register)
nl.fori_loop(0, last, double)
""", doubled, 1, 4, inputs={"i_trips": 6}),
    Form("new while of a register", BOUND + """
tile = nl.ndarray((128, 48), dtype=nl.float32, buffer=nl.sbuf)
nisa.memset(dst=tile, value=1.0)
while register:
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
    nisa.register_load(register, bound)
for i in range(6):
    nisa.dma_copy(dst=y[i], src=tile[:, i * 8 : i * 8 + 8])
""", lambda x: np.full_like(x, 8.0), 2, 4, inputs={"turn_trips": 3}),
    Form("new while_loop", BOUND + """
tile = nl.ndarray((128, 48), dtype=nl.float32, buffer=nl.sbuf)
nisa.memset(dst=tile, value=1.0)

def again(going):
    nisa.tensor_scalar(dst=tile, data=tile, op0=nl.multiply, operand0=2.0)
    nisa.register_load(going, bound)
    return going

nl.while_loop(register, again)
for i in range(6):
    nisa.dma_copy(dst=y[i], src=tile[:, i * 8 : i * 8 + 8])
""", lambda x: np.full_like(x, 8.0), 2, 4, inputs={"going_trips": 3}),
    *(
        Form(f"old {kind}", f"for i in {kind}(6):\n    nl.store(y[i], nl.load(x[i]) * 2)",
             doubled, 1, 3, "old")
        for kind in ("range", "nl.affine_range", "nl.sequential_range", "nl.static_range")
    ),
    Form("old carried", """
total = nl.zeros((128, 8), dtype=nl.float32)
for i in nl.sequential_range(6):
    total[...] = nl.add(total, nl.load(x[i]))
    nl.store(y[i], total)
""", prefixes, 1, 4, "old"),
    Form("old index arrays", """
p, f = nl.mgrid[0:128, 0:8]
for i in nl.affine_range(6):
    nl.store(y[i, p, f], nl.load(x[i, p, f]) * 2)
""", doubled, 1, 3, "old"),
    Form("old mask at the edge", """
p, f = nl.arange(128)[:, None], nl.arange(3)[None, :]
for i in nl.affine_range(6):
    for j in nl.affine_range(3):
        tile = nl.load(x[i, p, j * 3 + f], mask=(j * 3 + f < 8))
        nl.store(y[i, p, j * 3 + f], tile * 2, mask=(j * 3 + f < 8))
""", doubled, 2, 6, "old"),
    Form("old block dimension", """
tiles = nl.ndarray((6, nl.par_dim(128), 8), dtype=nl.float32, buffer=nl.sbuf)
for i in nl.affine_range(6):
    tiles[i] = nl.load(x[i])
for i in nl.affine_range(6):
    nl.store(y[i], tiles[5 - i])
""", lambda x: x[::-1], 2, 2, "old"),
    Form("old loop_reduce", """
total = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)
for i in nl.affine_range(6):
    tile = nl.load(x[i])
    total[...] = nl.loop_reduce(tile, op=nl.add, loop_indices=[i])
for i in nl.affine_range(6):
    nl.store(y[i], total)
""", lambda x: np.broadcast_to(prefixes(x)[5], x.shape), 2, 4, "old"),
    Form("old accumulation in PSUM", """
ones = nl.ones((128, 128), dtype=nl.float32)
for i in nl.affine_range(6):
    sums = nl.zeros((128, 8), dtype=nl.float32, buffer=nl.psum)
    for j in nl.affine_range(6):
        sums += nisa.nc_matmul(ones, nl.load(x[j]))
    nl.store(y[i], nl.copy(sums))
""", lambda x: np.broadcast_to(x.sum(axis=(0, 1)), x.shape), 2, 5, "old"),
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_form_of_loop_computes_what_numpy_does(form: Form, tmp_path: Path) -> None:
    head = HEAD if form.style == "new" else OLD_HEAD
    body = indent(dedent(head + form.body), "    ") + "\n    return y\n"
    arguments = {"x": "float32[6,128,8]", **({"n": "int32[1,1]"} if BOUND in form.body else {})}
    trace = recorded(tmp_path, body, arguments, form.style)
    x = np.random.default_rng(0).standard_normal((6, 128, 8)).astype(np.float32)
    given = {"x": x, "n": np.array([[6]])}
    choices: tuple[Buffers, ...] = (1, "automatic")
    for buffers in choices:
        traced = trace.traced(buffers=buffers)
        sync = synchronize(traced.program, "trn2", "counted")
        used = {name: given[name] for name in traced.values.arguments}
        outcome = run(traced, sync, form.inputs, used, orders=1)
        assert outcome.is_equal
        np.testing.assert_allclose(outcome.results[0], form.expected(x), rtol=1e-4, atol=1e-4)
    assert len(list(loops(trace.rolled))) == form.loops
    assert len(list(instructions(trace.program().body))) == form.instructions


def test_a_mask_leaves_elements_out_of_a_reduction_over_a_loop(tmp_path: Path) -> None:
    body = """
        y = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
        total = nl.zeros((128, 8), dtype=nl.float32, buffer=nl.sbuf)
        p, f = nl.arange(128)[:, None], nl.arange(8)[None, :]
        for i in nl.affine_range(3):
            tile = nl.load(x[i, p, f])
            total[p, f] = nl.loop_reduce(tile[p, f], op=nl.add, loop_indices=[i], mask=f < 5)
        nl.store(y, value=total)
        return y
    """
    x = np.random.default_rng(0).standard_normal((3, 128, 8), dtype=np.float32)
    (y,) = results(recorded(tmp_path, body, {"x": "float32[3,128,8]"}, "old").traced(), {"x": x})
    np.testing.assert_array_equal(y[:, 5:], 0)
    np.testing.assert_allclose(y[:, :5], x.sum(0)[:, :5], rtol=1e-5, atol=1e-6)


LAUNCHES = """
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def scaled(x, y, factor):
    row, column = nl.program_id(0), nl.program_id(1)
    rows, columns = nl.ds(row * 128, 128), nl.ds(column * 8, 8)
    nl.store(y[rows, columns], value=nl.load(x[rows, columns]) * factor)


def host(x):
    y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    z = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    scaled[2, 3](x, y, 2.0)
    scaled[nl.spmd_dim(2, nl.nc(2)), 3](y, z, 3.0)
    return z


def build(factor):
    def launch(x):
        y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
        scaled[2, 3](x, y, factor)
        return y

    return launch
"""


@pytest.mark.parametrize(("name", "options"), [("host", {}), ("build", {"factor": 6.0})])
def test_a_function_of_the_host_launches_all_programs_of_a_grid(
    name: str, options: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(LAUNCHES)
    args = {"x": ArgSpec.parse("float32[256,24]")}
    args |= {n: ArgSpec(value=value) for n, value in options.items()}
    traced = record(path, name, args).traced()
    x = np.random.default_rng(0).standard_normal((256, 24), dtype=np.float32)
    np.testing.assert_allclose(results(traced, {"x": x})[0], 6 * x, rtol=1e-6)
    sync = synchronize(traced.program, "trn2", "counted")
    assert run(traced, sync, {}, orders=3).is_equal


def test_a_mask_of_an_operand_may_be_about_the_index_of_a_loop_alone(tmp_path: Path) -> None:
    body = """
        y = nl.ndarray((4, 128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
        p, f = nl.arange(128)[:, None], nl.arange(8)[None, :]
        for i in nl.affine_range(COUNT):
            tile = nl.load(x[i, p, f])
            nl.store(y[i, p, f], value=nl.exp(tile[p, f][p < 128][i < 3]))
        return y
    """
    args = {"x": "float32[4,128,8]"}
    traced = recorded(tmp_path, body.replace("COUNT", "3"), args, "old").traced()
    x = np.random.default_rng(0).standard_normal((4, 128, 8), dtype=np.float32)
    np.testing.assert_allclose(results(traced, {"x": x})[0][:3], np.exp(x[:3]), rtol=1e-6)
    with pytest.raises(InvalidProgram, match="an operand whose mask leaves nothing"):
        recorded(tmp_path, body.replace("COUNT", "4"), args, "old")


def test_a_masked_column_index_that_leaves_the_tensor_keeps_the_rows_of_its_turn(
    tmp_path: Path,
) -> None:
    body = """
        y = nl.ndarray((384, 16), dtype=nl.float32, buffer=nl.shared_hbm)
        f = 8 + nl.arange(16)[None, :]
        for i in nl.affine_range(3):
            p = i * 128 + nl.arange(128)[:, None]
            tile = nl.zeros((128, 16), dtype=nl.float32, buffer=nl.sbuf)
            tile[...] = nl.load(x[p, f], mask=f < 20)
            nl.store(y[p, nl.arange(16)[None, :]], value=tile)
        return y
    """
    traced = recorded(tmp_path, body, {"x": "float32[384,20]"}, "old").traced()
    x = np.random.default_rng(0).standard_normal((384, 20), dtype=np.float32)
    np.testing.assert_array_equal(results(traced, {"x": x})[0][:, :12], x[:, 8:])


def test_two_tiles_may_repeat_each_other_along_free_dimensions(tmp_path: Path) -> None:
    body = """
        y = nl.ndarray((128, 3, 8), dtype=nl.float32, buffer=nl.shared_hbm)
        rows, taps = nl.load(x[:, :, :]), nl.load(w[:, :, :])
        nl.store(y, value=nisa.tensor_tensor(rows, taps, np.multiply))
        return y
    """
    args = {"x": "float32[128,3,8]", "w": "float32[128,3,1]"}
    traced = recorded(tmp_path, body, args, "old").traced()
    random = np.random.default_rng(0)
    x, w = (random.standard_normal((128, 3, n), dtype=np.float32) for n in (8, 1))
    np.testing.assert_array_equal(results(traced, {"x": x, "w": w})[0], x * w)
