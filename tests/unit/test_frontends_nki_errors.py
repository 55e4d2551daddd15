"""What the author of a kernel meets when something is wrong: his file, his line, a way out."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from headway.cli.main import main
from headway.errors import HeadwayError, InvalidInput
from headway.frontends import ArgSpec, record, trace
from headway.frontends.nki.standins import modules
from headway.frontends.nki.types import DTYPES, MEMORIES

Failure = Callable[..., str]

HEAD = """\
import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def kernel(x):
"""
X = ArgSpec.parse("float32[1024,512]")


@pytest.fixture
def failure(tmp_path: Path) -> Failure:
    """Trace a kernel whose body is wrong; return the message with the file's folder cut off."""

    def message(body: str, head: str = HEAD, **args: ArgSpec) -> str:
        path = tmp_path / "kernels.py"
        lines = dedent(body).strip("\n").splitlines()
        path.write_text(head + "".join(f"    {line}\n" for line in lines))
        with pytest.raises(HeadwayError) as error:
            record(path, "kernel", args or {"x": X})
        return str(error.value).replace(str(tmp_path) + "/", "")

    return message


def test_an_unknown_name_is_named_with_its_line(failure: Failure) -> None:
    assert failure("nisa.tensor_copi(x, x)") == (
        "kernels.py:8:5: error: nki.isa.tensor_copi is not known to the NKI front end\n"
        "   8 |     nisa.tensor_copi(x, x)\n"
        "     |     ^\n"
        "  rule: the operations that it knows are listed in docs/nki.md\n"
        "  help: did you mean 'tensor_copy'?"
    )


def test_an_unknown_name_of_the_old_style_too(failure: Failure) -> None:
    head = "import neuronxcc.nki.language as nl\n\n\ndef kernel(x):\n"
    assert failure("nl.frobnicate(x)", head) == (
        "kernels.py:5:5: error: neuronxcc.nki.language.frobnicate is not known to the NKI "
        "front end\n"
        "   5 |     nl.frobnicate(x)\n"
        "     |     ^\n"
        "  rule: the operations that it knows are listed in docs/nki.md"
    )


def test_a_name_that_is_asked_for_is_only_missing(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(
        "import nki.language as nl\n\n\ndef kernel(x):\n"
        "    assert not hasattr(nl, 'frobnicate')\n"
        "    nl.load(x[0:128, :])\n"
    )
    assert record(path, "kernel", {"x": X}).recorded_operations == 1


def test_too_many_partitions(failure: Failure) -> None:
    assert failure("tile = nl.load(x[0:256, :])") == (
        "kernels.py:8:5: error: a tile of shape (256, 512) has 256 partitions\n"
        "   8 |     tile = nl.load(x[0:256, :])\n"
        "     |     ^\n"
        "  rule: the first dimension of a tile is the partition, at most 128"
    )


def test_a_launch_grid(failure: Failure) -> None:
    body = """
        @nki.jit
        def inner(y):
            nl.load(y[0:128, :])
        inner[1](x)
        inner[2, 1](x)
        """
    assert failure(body).splitlines()[0] == (
        "kernels.py:12:5: error: a launch grid of (2, 1) inside of a kernel"
    )


def test_shapes_that_do_not_fit(failure: Failure) -> None:
    body = """
        a = nl.load(x[0:128, :])
        b = nl.load(x[0:128, 0:100])
        c = nl.add(a, b)
        """
    assert failure(body) == (
        "kernels.py:10:5: error: operands of shapes (128, 512) and (128, 100)\n"
        "  10 |     c = nl.add(a, b)\n"
        "     |     ^\n"
        "  rule: extents are equal, or 1 (broadcast)"
    )


def test_a_matmul_with_different_contractions(failure: Failure) -> None:
    body = """
        a = nl.load(x[0:64, 0:128])
        b = nl.load(x[0:128, :])
        psum = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
        nisa.nc_matmul(psum, a, b)
        """
    assert failure(body).splitlines()[0] == (
        "kernels.py:11:5: error: matmul of stationary (64, 128) and moving (128, 512)"
    )


def test_a_transfer_between_different_sizes(failure: Failure) -> None:
    body = """
        tile = nl.load(x[0:128, :])
        nl.store(x[0:64, :], value=tile)
        """
    assert failure(body).splitlines()[0] == (
        "kernels.py:9:5: error: a transfer from shape (128, 512) to shape (64, 512)"
    )


def test_a_slice_that_leaves_its_tensor(failure: Failure) -> None:
    assert failure("tile = nl.load(x[1000:1100, :])").splitlines()[0] == (
        "kernels.py:8:5: error: slice 1000:1100 leaves a dimension of 1024 in shape (1024, 512)"
    )


def test_an_engine_that_writes_to_hbm(failure: Failure) -> None:
    body = """
        tile = nl.load(x[0:128, :])
        nisa.tensor_copy(x[0:128, :], tile)
        """
    assert failure(body).splitlines()[0] == (
        "kernels.py:9:5: error: tensor_copy writes 'x', which is in HBM"
    )


@pytest.mark.parametrize("decision", ["i > 3", "i == 0", "i != 0", "i % 2", "not i"])
def test_a_decision_about_the_index_of_a_device_loop(failure: Failure, decision: str) -> None:
    body = f"""
        def body(i):
            if {decision}:
                nl.load(x[0:128, :])
        nl.fori_loop(0, 8, body)
        """
    assert failure(body).splitlines()[0] == (
        "kernels.py:9:9: error: the index of a device loop is used where its value must be known"
    )


def test_an_assertion_of_the_kernel(failure: Failure) -> None:
    assert failure("assert x.shape[0] == 7, 'seven rows, please'").splitlines()[0] == (
        "kernels.py:8:5: error: kernel cannot be traced: AssertionError: seven rows, please"
    )


def test_a_missing_argument(failure: Failure) -> None:
    assert failure("pass", y=X) == (
        "kernels.py:6:1: error: kernel has no argument 'y'\n  help: arguments: x"
    )


def test_an_argument_that_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text("def kernel(x, y=1):\n    pass\n")
    with pytest.raises(HeadwayError) as error:
        record(path, "kernel", {})
    assert str(error.value) == (
        f"{path}:1:1: error: kernel needs the arguments x\n  help: --arg x=float32[128,512]"
    )


def test_a_missing_file() -> None:
    with pytest.raises(HeadwayError) as error:
        record("no/such/kernels.py", "kernel")
    assert str(error.value) == "error: there is no file 'no/such/kernels.py'"


def test_a_missing_module() -> None:
    with pytest.raises(HeadwayError, match=r"there is no module 'no_such_package.kernels'"):
        record("no_such_package.kernels", "kernel")


def test_a_missing_kernel_lists_those_there_are(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(HEAD + "    pass\n")
    with pytest.raises(HeadwayError) as error:
        record(path, "kernal")
    assert str(error.value) == (
        f"error: there is no kernel 'kernal' in {path}\n  help: kernels in this file: kernel"
    )


def test_a_file_that_is_not_python(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text("def kernel(x:\n")
    with pytest.raises(InvalidInput, match=r"kernels.py:1:1: error: not Python: "):
        record(path, "kernel")


@pytest.mark.parametrize("text", ["import sys\nsys.exit(5)\n", "def kernel():\n    exit(5)\n"])
def test_a_file_that_exits_is_an_error_and_does_not_end_headway(tmp_path: Path, text: str) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(text)
    with pytest.raises(HeadwayError, match=r"kernels.py:2:\d+: error: .* SystemExit: 5"):
        record(path, "kernel")


def test_a_file_that_cannot_be_imported(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text("LIMIT = {}\nLIMIT['missing']\n")
    with pytest.raises(HeadwayError) as error:
        record(path, "kernel")
    assert str(error.value).splitlines()[0] == (
        f"{path}:2:1: error: the file cannot be imported: KeyError: 'missing'"
    )


SCRIPT = """\
import nki
import nki.language as nl
import numpy as np


@nki.jit
def kernel(x):
    nl.load(x[0:128, :])


y = kernel(np.ones((1024, 512)))
np.testing.assert_allclose(y - 1.0, 0.0)


@nki.jit
def later(x):
    nl.load(x)
"""


def test_a_file_that_tries_its_kernels_is_executed_as_far_as_that(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(SCRIPT)
    found = record(path, "kernel", {"x": X})
    assert found.recorded_operations == 1
    assert found.stopped.startswith(f"{path}:12:1: TypeError: unsupported operand type(s) for -")
    with pytest.raises(HeadwayError) as error:
        record(path, "later", {"x": X})
    assert str(error.value).startswith(f"error: there is no kernel 'later' in {path}\n  rule: the ")
    assert "executed as far as" in str(error.value)


FACTORY = """\
import nki
import nki.language as nl


def build(rows, step=1):
    @nki.jit
    def kernel(x):
        nl.load(x[0:rows:step, :])

    return kernel, rows


class Kernels:
    @staticmethod
    @nki.jit
    def whole(x):
        nl.load(x)
"""


def test_a_function_may_make_the_kernel_out_of_some_of_the_arguments(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(FACTORY)
    args = {"x": X, "rows": ArgSpec.parse("64")}
    assert record(path, "build", args).recorded[0].reads[0].box[0] == (0, 64)
    with pytest.raises(InvalidInput, match="build has no argument 'x'"):
        record(path, "build", {"x": X})
    with pytest.raises(InvalidInput, match="no argument 'columns'"):
        record(path, "build", {**args, "columns": ArgSpec.parse("4")})


def test_a_kernel_may_be_a_method_of_a_class(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(FACTORY)
    found = record(path, "Kernels.whole", {"x": ArgSpec.parse("float32[128,4]")})
    assert found.recorded_operations == 1
    assert found.program().name.isidentifier()


def test_a_package_that_is_missing_may_be_imported_and_takes_no_tensor(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text("from no_such_package import helper\n\n\ndef kernel(x):\n    helper(x)\n")
    with pytest.raises(HeadwayError) as error:
        record(path, "kernel", {"x": X})
    assert str(error.value).splitlines()[0] == (
        f"{path}:5:5: error: no_such_package.helper is called with a tensor and is not installed"
    )


def test_a_framework_that_is_missing_may_be_imported_and_not_used(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(
        "import torch_xla\nimport torch_xla.core.xla_model as xm\n"
        "import nki.language as nl\n\n\n"
        "class Function(torch_xla.autograd.Function):\n    pass\n\n\n"
        "def kernel(x: torch_xla.Tensor):\n    nl.load(x[0:128, :])\n"
    )
    assert record(path, "kernel", {"x": X}).recorded_operations == 1


def test_what_is_missing_is_not_taken_apart_without_end(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(
        "from no_such_package import shard\n\n\ndef kernel(x):\n    _, n, i = shard((0, 1))\n"
    )
    with pytest.raises(HeadwayError) as error:
        record(path, "kernel", {"x": X})
    assert str(error.value).splitlines()[0] == (
        f"{path}:5:5: error: kernel cannot be traced: TypeError: no_such_package.shard() is not "
        "installed, and its value is needed"
    )


def test_private_parts_of_the_vendors_packages_may_be_imported_and_take_no_tensor(
    tmp_path: Path,
) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(
        "import neuronxcc.nki.nccl\n"
        "from neuronxcc.nki._private_kernels.attention import attention_isa_kernel\n"
        "from neuronxcc.nki._private.private_api import mlp_kernel\n"
        "from neuronxcc.starfish.support.util import allclose\n\n\n"
        "def kernel(x):\n    mlp_kernel(x)\n"
    )
    with pytest.raises(HeadwayError) as error:
        record(path, "kernel", {"x": X})
    assert str(error.value).splitlines()[0] == (
        f"{path}:8:5: error: neuronxcc.nki._private.private_api.mlp_kernel is called with a "
        "tensor and is not installed"
    )


def test_a_part_of_the_vendors_packages_that_is_spelt_wrong_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text("import neuronxcc.nki.languag as nl\n")
    with pytest.raises(HeadwayError, match=r"No module named 'neuronxcc\.nki\.languag'"):
        record(path, "kernel", {"x": X})


def test_a_file_may_turn_logging_off_with_the_level_of_the_vendor(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(
        "import logging\nimport nki.language as nl\nlogging.disable(logging.OFF)\n\n\n"
        "def kernel(x):\n    nl.load(x[0:128, :])\n"
    )
    assert record(path, "kernel", {"x": X}).recorded_operations == 1
    assert logging.root.manager.disable == 0
    assert not hasattr(logging, "OFF")


def test_a_package_may_have_folders_that_are_no_packages(tmp_path: Path) -> None:
    (tmp_path / "models/parts").mkdir(parents=True)
    (tmp_path / "models/__init__.py").write_text("")
    (tmp_path / "models/parts/sizes.py").write_text("ROWS = 128\n")
    path = tmp_path / "models/kernels.py"
    path.write_text(
        "import nki.language as nl\nfrom models.parts.sizes import ROWS\n\n\n"
        "def kernel(x):\n    nl.load(x[0:ROWS, :])\n"
    )
    for _ in range(4):  # modules are forgotten in an order that varies
        assert record(path, "kernel", {"x": X}).recorded_operations == 1


def test_a_kernel_may_take_keywords_that_it_does_not_list(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(
        "import nki.language as nl\n\n\n"
        "def kernel(x, **options):\n    nl.load(x[0 : options['rows'], :])\n"
    )
    args = {"x": X, "rows": ArgSpec.parse("64")}
    assert record(path, "kernel", args).recorded[0].reads[0].box[0] == (0, 64)


def test_an_operation_outside_a_kernel(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text("import nki.language as nl\n\ntile = nl.ndarray((128, 4))\n")
    with pytest.raises(HeadwayError) as error:
        record(path, "kernel")
    assert str(error.value).splitlines()[0] == (
        f"{path}:3:1: error: an NKI operation outside a kernel that is being traced"
    )


def test_a_function_can_be_traced_without_a_file() -> None:
    def kernel(x):  # pyright: ignore
        import nki.language as nl  # pyright: ignore

        for i in range(8):
            nl.load(x[i * 128 : (i + 1) * 128, :])

    program = trace(kernel, args={"x": X})
    assert (program.name, len(program.body)) == ("kernel", 1)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("float32[4096, 512]", "float32[4096,512]"),
        ("int32[]", "int32[]"),
        ("3", "3"),
        ("-0.5", "-0.5"),
        ("'max'", "'max'"),
        ("True", "True"),
    ],
)
def test_an_argument_is_a_tensor_or_a_plain_value(text: str, shown: str) -> None:
    assert str(ArgSpec.parse(text)) == shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("float33[4]", "unknown data type 'float33'"),
        ("float32[4", "'float32[4' is neither a tensor nor a plain value"),
        ("__import__('os')", "\"__import__('os')\" is neither a tensor nor a plain value"),
    ],
)
def test_an_argument_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(InvalidInput) as error:
        ArgSpec.parse(text)
    assert str(error.value).splitlines()[0] == f"error: {message}"


def test_the_command_writes_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(
        HEAD + "    for i in nl.affine_range(8):\n"
        "        tile = nl.load(x[i * 128 : (i + 1) * 128, :])\n"
    )
    arguments = ["trace", f"{path}:kernel", "--arg", "x=float32[1024,512]", "--buffers", "2"]
    assert main([*arguments, "--dynamic-bound", "i=n"]) == 0
    assert capsys.readouterr().out == (
        "program @kernel {\n"
        "  input n\n"
        "  engine sync\n"
        "  queue loads on sync\n"
        "  buffer tile slots 2 shape(128, 2048) space(sbuf)\n"
        "  loop i n {\n"
        "    sync load_tile triggers(loads) writes(tile[i % 2]) "
        "does(dma, elements=512, bytes=262144, moves=load)\n"
        "  }\n"
        "}\n"
    )


def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.hwy"
    assert main(["trace", "nowhere.py:kernel", "-o", str(out)]) == 1
    assert capsys.readouterr().err == "error: there is no file 'nowhere.py'\n"
    assert not out.exists()


@pytest.mark.parametrize("argument", ["x", "=3", "x="])
def test_the_command_refuses_an_argument_without_a_value(
    argument: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", "kernels.py:kernel", "--arg", argument]) == 1
    assert capsys.readouterr().err == (f"error: --arg {argument!r} is not of the form NAME=VALUE\n")


def test_no_buffers_at_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(HEAD + "    pass\n")
    arguments = ["trace", f"{path}:kernel", "--arg", "x=float32[4,4]", "--buffers", "0"]
    assert main(arguments) == 1
    assert capsys.readouterr().err == "error: 0 buffers: a tile needs at least 1\n"


@pytest.mark.parametrize("part", ["nki.isa", "nki.language"])
def test_the_document_lists_every_known_name(part: str) -> None:
    text = (Path(__file__).parents[2] / "docs" / "nki.md").read_text()
    known = set(vars(modules()[part])) - {*DTYPES, *MEMORIES}
    missing = sorted(n for n in known if not n.startswith("__") and f"`{n}`" not in text)
    assert missing == []


# ---- rules of the hardware


TILES = """
    a = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.sbuf)
    nisa.dma_copy(dst=a, src=x[0:128, 0:128])
    p = nl.ndarray((128, 128), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=p, stationary=a, moving=a)
"""


@pytest.mark.parametrize(
    ("line", "message", "why"),
    [
        (
            "nisa.tensor_copy(dst=a, src=a, colour=3)",
            "tensor_copy has no keyword argument 'colour'",
            "its keywords: dst, src, engine, dtype, mask, name, shape, buffer",
        ),
        (
            'nisa.activation(dst=a, op="exp", data=a)',
            "activation has op='exp', which is text",
            "write op=nl.exp",
        ),
        (
            "nisa.activation(dst=a, op=nl.exp, data=a, bias=a[:, 0:2])",
            "activation has a bias of shape (128, 2)",
            "the bias is a number, or a tile with one value for each partition",
        ),
        (
            "a[...] = 1 if a > 0 else 2",
            "'a' is compared where the result must be known",
            "tensors have values only when the kernel runs",
        ),
        (
            "nl.load(x[0:128, 0:8], mask=nl.arange(8) < 3 and nl.arange(8) > 1)",
            "kernel cannot be traced: ValueError: The truth value of an array with more than one "
            "element is ambiguous. Use a.any() or a.all()",
            "join masks with & and |, not with 'and' and 'or': (i < 3) & (j < 4)",
        ),
        (
            "nl.add(a, a, dtyp=nl.float32)",
            "nl.add has no keyword argument 'dtyp'",
            "did you mean 'dtype'? its keywords: x, y, dtype",
        ),
        (
            "nisa.dma_copy(dst=a, src=x[0:128, 0:128], dge=1)",
            "dma_copy has no keyword argument 'dge'",
            "its keywords: dst, src, oob_mode, dst_rmw_op, priority, dge_mode, dtype, name, engine",
        ),
        (
            "nl.ndarray((128, 128), nl.float32, memory=nl.psum)",
            "nl.ndarray has no keyword argument 'memory'",
            "its keywords: shape, dtype, buffer, name, address",
        ),
        (
            "nl.where(a, a, a, engine=1)",
            "nl.where has no keyword argument 'engine'",
            "its keywords: condition, x, y, dtype",
        ),
        (
            "nl.fori_loop(0, 4, body=print)",
            "nl.fori_loop has no keyword argument 'body'",
            "did you mean 'body_fun'? its keywords: lower, upper, body_fun, step",
        ),
        (
            "nl.affine_range(4, unroll=2)",
            "nl.affine_range has no keyword argument 'unroll'",
            "its keywords: start, stop, step",
        ),
        (
            "nisa.register_alloc(value=1)",
            "register_alloc has no keyword argument 'value'",
            "its keywords: x",
        ),
        (
            "nki.collectives.all_to_all(srcs=[x], dsts=[x], group=0)",
            "all_to_all has no keyword argument 'group'",
            "its keywords: srcs, dsts, replica_group, replica_groups, priority, dtype, "
            "collective_dim, op",
        ),
        (
            "nki.compiler.psum.mod_alloc(size=1)",
            "mod_alloc has no keyword argument 'size'",
            "its keywords: base_addr, base_bank, base_partition, num_bank_tiles, num_par_tiles, "
            "num_free_tiles",
        ),
        (
            "nki.compiler.no_reorder(when=1)",
            "no_reorder has no keyword argument 'when'",
            "its keywords: none",
        ),
        (
            "nisa.tensor_copy(dst=a, src=p, engine=nisa.gpsimd_engine)",
            "tensor_copy on gpsimd uses 'p', which is in PSUM",
            "gpsimd reaches SBUF only",
        ),
        (
            "nisa.nc_matmul(dst=p, stationary=p, moving=a)",
            "nc_matmul reads its stationary operand 'p' from PSUM",
            "the tensor engine reads SBUF and writes PSUM",
        ),
        (
            "nisa.nc_matmul(dst=a, stationary=a, moving=a)",
            "nc_matmul writes 'a', which is in SBUF",
            "the tensor engine reads SBUF and writes PSUM",
        ),
        (
            "nisa.dma_copy(dst=x[0:128, 0:128], src=p)",
            "dma_copy moves 'p', which is in PSUM",
            "DMA reaches HBM and SBUF",
        ),
        (
            "nisa.tensor_reduce(dst=a[0:1, :], op=nl.add, data=a, axis=0)",
            "tensor_reduce along the partition dimension",
            "it reduces free dimensions",
        ),
        (
            "nisa.tensor_tensor(dst=a, data1=a, data2=a[0:64, :], op=nl.add)",
            "tensor_tensor of shapes (128, 128) and (64, 128)",
            "both have the same partitions and the same elements in each of them",
        ),
        (
            "nisa.tensor_copy(dst=a, src=a[:, 0:64])",
            "tensor_copy reads shape (128, 64) and writes shape (128, 128)",
            "",
        ),
        (
            "nisa.activation(dst=a, op=nl.exp, data=nl.ndarray((128, 128), name='z'))",
            "activation reads 'z', which nothing has written",
            "a new tensor holds no values: it is written before it is read",
        ),
        (
            "nisa.tensor_copy(dst=a, src=a).depends_on(p)",
            "depends_on is not traced",
            "instructions depend on each other through what they read and write",
        ),
        (
            "nisa.tensor_tensor(a, a, nl.add)",  # as in the old style
            "tensor_tensor has no op",
            "its parameters: dst, data1, data2, op",
        ),
        (
            "nisa.tensor_tensor(a, a, nl.add, nl.add)",
            "tensor_tensor has data2=add, which is no tile",
            "its parameters: dst, data1, data2, op",
        ),
        (
            "nisa.activation(dst=x, op=nl.exp, data=x)",
            "activation writes 'x', which is in HBM",
            "write a tile and store it",
        ),
        (
            "nisa.nc_transpose(dst=p, data=a[:, 0:64])",
            "nc_transpose of shape (128, 64) writes shape (128, 128)",
            "",
        ),
        (
            "nisa.nc_matmul(a, a)",  # as in the old style
            "nc_matmul is missing 1 required positional argument: 'moving'",
            "its parameters: dst, stationary, moving, accumulate, is_stationary_onezero, "
            "is_moving_onezero, is_transpose, tile_position, tile_size, perf_mode, name",
        ),
        ("nisa.bn_stats(a)", "bn_stats has no data", "its parameters: dst, data"),
        (
            "a[:, 0:8].broadcast_to((128, 16))",
            "broadcast of shape (128, 8) to (128, 16)",
            "only a size of 1 is repeated",
        ),
        (
            "nisa.tensor_copy(dst=a, src=a, engine='vectr')",
            "there is no engine 'vectr'",
            "engines: tensor, vector, scalar, gpsimd, sync, unknown",
        ),
        ("a @ a", "@ of tensors", "use nl.matmul(a, b), or nisa.nc_matmul"),
        ("a.sum(axis=1)", "'a' has no attribute 'sum'", "use nl.sum(tile)"),
        ("a.T", "'a' has no attribute 'T'", "use nl.transpose(tile)"),
        (
            "for i in range(int(a)): pass",
            "'a' is used where its value must be known",
            "tensors have values only when the kernel runs",
        ),
    ],
)
def test_a_mistake_in_a_call(failure: Failure, line: str, message: str, why: str) -> None:
    lines = failure(dedent(TILES).strip() + "\n" + line).splitlines()
    assert lines[0] == f"kernels.py:12:5: error: {message}"
    assert lines[1] == f"  12 |     {line}"
    assert not why or {f"  rule: {why}", f"  help: {why}"} & set(lines)


@pytest.mark.parametrize(
    ("role", "shapes", "message"),
    [
        ("stationary", (256, 128), "256 columns, shape (128, 256)"),
        ("moving", (128, 1024), "1024 columns, shape (128, 1024)"),
    ],
)
def test_an_operand_of_a_matmul_that_is_too_wide(
    failure: Failure, role: str, shapes: tuple[int, int], message: str
) -> None:
    body = f"""
        a = nl.load(x[0:128, 0:{shapes[0]}])
        b = nl.load(x[0:128, 0:{shapes[1]}])
        p = nl.ndarray(({shapes[0] if shapes[0] < 129 else 128}, 512), nl.float32, buffer=nl.psum)
        nisa.nc_matmul(dst=p, stationary=a, moving=b)
        """
    found = failure(body, x=ArgSpec.parse("float32[128,1024]")).splitlines()
    assert found[0] == f"kernels.py:11:5: error: nc_matmul has a {role} operand of {message}"


def test_a_kernel_that_calls_itself_is_an_error(failure: Failure) -> None:
    assert failure("kernel(x)").splitlines()[0] == (
        "kernels.py:8:5: error: kernel cannot be traced: RecursionError: maximum recursion depth "
        "exceeded"
    )


def test_a_function_of_numpy_on_a_tile_names_the_one_of_nl(failure: Failure) -> None:
    found = failure("import numpy as np\nnp.exp(nl.load(x[0:128, :]))").splitlines()
    assert found[-1] == "  help: functions of tiles are those of nl: nl.exp, not np.exp"


def test_a_tensor_is_printed_as_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(HEAD + "    tile = nl.load(x[0:128, :])\n    assert False, repr(tile)\n")
    with pytest.raises(HeadwayError, match=r"<tile: float32\[128,512\] in sbuf>"):
        record(path, "kernel", {"x": X})


def test_a_tile_that_only_a_masked_instruction_writes_is_not_read_in_vain(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(
        "import neuronxcc.nki.language as nl\n\n\ndef kernel(x):\n"
        "    tile = nl.load(x[0:128, 0:8], mask=False)\n    nl.exp(tile)\n"
    )
    assert record(path, "kernel", {"x": X}).recorded_operations == 1


def test_what_is_written_in_an_earlier_turn_counts_as_written(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(
        HEAD
        + "    last = nl.ndarray((128, 8), dtype=nl.float32)\n"
        + "    for i in range(4):\n"
        + "        if i > 0:\n"
        + "            nisa.activation(dst=last, op=nl.exp, data=last)\n"
        + "        nisa.dma_copy(dst=last, src=x[0:128, 0:8])\n"
    )
    assert record(path, "kernel", {"x": X}).recorded_operations == 7
