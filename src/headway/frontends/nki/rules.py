"""Rules of the hardware that a call breaks, whatever its shapes: who reaches PSUM, sizes of tiles.

The limits are those of the public documentation of `nki.isa` and of the architecture.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

from headway.frontends.nki.places import problem
from headway.frontends.nki.tensor import Tensor

STATIONARY_COLUMNS = 128
MOVING_COLUMNS = 512


def check_engine(name: str, engine: str, tensors: Iterable[Tensor]) -> None:
    """Check that an engine that a call names reaches its tiles. Raise InvalidProgram."""
    if engine != "gpsimd":
        return
    for tensor in tensors:
        if tensor.buffer.name == "psum":
            raise problem(
                f"{name} on gpsimd uses {tensor.name!r}, which is in PSUM",
                rule="gpsimd reaches SBUF only",
                help="copy the tile to SBUF first, or leave the engine open",
            )


def check_matmul(name: str, dst: Tensor, stationary: Tensor, moving: Tensor) -> None:
    """Check where the operands of a matmul are, and their sizes. Raise InvalidProgram."""
    for role, tensor in (("stationary", stationary), ("moving", moving)):
        if tensor.buffer.name != "sbuf":
            raise problem(
                f"{name} reads its {role} operand {tensor.name!r} from {_place(tensor)}",
                rule="the tensor engine reads SBUF and writes PSUM",
                help="copy the tile to SBUF first",
            )
    if dst.buffer.name != "psum":
        raise problem(
            f"{name} writes {dst.name!r}, which is in {_place(dst)}",
            rule="the tensor engine reads SBUF and writes PSUM",
            help="allocate it with buffer=nl.psum",
        )
    limits = (("stationary", stationary, STATIONARY_COLUMNS), ("moving", moving, MOVING_COLUMNS))
    for role, tensor, most in limits:
        columns = prod(tensor.shape[1:])
        if columns > most:
            raise problem(
                f"{name} has a {role} operand of {columns} columns, shape {tensor.shape}",
                rule=f"the {role} operand has at most {most} elements in each partition",
                help="split it into several matmuls",
            )


def check_transfer(name: str, dst: Tensor, src: Tensor) -> None:
    """Check that a transfer does not touch PSUM. Raise InvalidProgram."""
    for tensor in (dst, src):
        if tensor.buffer.name == "psum":
            raise problem(
                f"{name} moves {tensor.name!r}, which is in PSUM",
                rule="DMA reaches HBM and SBUF",
                help="copy the tile between PSUM and SBUF with tensor_copy",
            )


def check_reduced(name: str, axes: tuple[int, ...]) -> None:
    """Check the axes of a reduction along free dimensions. Raise InvalidProgram."""
    if 0 in axes:
        raise problem(
            f"{name} along the partition dimension",
            rule="it reduces free dimensions",
            help="use tensor_partition_reduce, or multiply by a column of ones",
        )


def check_column(name: str, role: str, value: object) -> None:
    """Check that a tile has one value for each partition. Raise InvalidProgram."""
    if isinstance(value, Tensor) and prod(value.shape[1:]) != 1:
        raise problem(
            f"{name} has a {role} of shape {value.shape}",
            rule=f"the {role} is a number, or a tile with one value for each partition",
        )


_NEEDED = {
    "activation": "op data",
    "activation_reduce": "op data reduce_op",
    "bn_aggr": "data",
    "bn_stats": "data",
    "dropout": "data prob",
    "max8": "src",
    "memset": "value",
    "nc_find_index8": "data vals",
    "nc_match_replace8": "data vals imm",
    "nc_transpose": "data",
    "range_select": "on_true_tile comp_op0 comp_op1 bound0 bound1",
    "reciprocal": "data",
    "scalar_tensor_tensor": "data op0 operand0 op1 operand1",
    "select_reduce": "predicate on_true on_false",
    "tensor_copy": "src",
    "tensor_partition_reduce": "op data",
    "tensor_reduce": "op data",
    "tensor_scalar": "data op0 operand0",
    "tensor_scalar_reduce": "data op0 operand0 reduce_op",
    "tensor_tensor": "data1 data2 op",
    "tensor_tensor_scan": "data0 data1 initial op0 op1",
}
_TILES = frozenset("data data0 data1 data2 on_true_tile src vals".split())


def check_given(name: str, bound: Mapping[str, object], parameters: Sequence[str]) -> None:
    """Check that a call has what it cannot do without, and tiles as its data. Raise likewise."""
    wanted = _NEEDED.get(name, "").split()
    missing = [key for key in wanted if key not in bound]
    wrong = [key for key in wanted if key in _TILES and not hasattr(bound.get(key), "shape")]
    if missing or wrong:
        fact = f"no {missing[0]}" if missing else f"{wrong[0]}={bound[wrong[0]]}, which is no tile"
        raise problem(f"{name} has {fact}", help=f"its parameters: {', '.join(parameters)}")


def check_transposed(name: str, dst: Tensor, data: Tensor) -> None:
    """Check that the destination of a transpose has the other shape. Raise InvalidProgram."""
    rows, columns = data.shape[0], prod(data.shape[1:])
    if (dst.shape[0], prod(dst.shape[1:])) != (columns, rows):
        raise problem(
            f"{name} of shape {data.shape} writes shape {dst.shape}",
            rule=f"a transpose of {rows} partitions and {columns} elements in each has "
            f"{columns} partitions and {rows} elements in each",
        )


_OPERATORS = frozenset("op op0 op1 cmp_op comp_op0 comp_op1 reduce_op".split())


def check_operators(name: str, bound: Mapping[str, object]) -> None:
    """Check that operators are functions, not their names. Raise InvalidProgram."""
    for key in _OPERATORS & bound.keys():
        if isinstance(bound[key], str):
            raise problem(
                f"{name} has {key}={bound[key]!r}, which is text",
                rule="an operator is a function of nki.language or numpy",
                help=f"write {key}=nl.{bound[key]}",
            )


def check_pair(name: str, first: Tensor, second: Tensor) -> None:
    """Check that two tiles of an element for element operation fit. Raise InvalidProgram."""
    rows = {tile.shape[0] for tile in (first, second)} - {1}
    columns = {prod(tile.shape[1:]) for tile in (first, second)} - {1}
    extents = zip(reversed(first.shape), reversed(second.shape), strict=False)
    repeats = all(1 in pair or len(set(pair)) == 1 for pair in extents)
    if len(rows) > 1 or (len(columns) > 1 and not repeats):
        raise problem(
            f"{name} of shapes {first.shape} and {second.shape}",
            rule="both have the same partitions and the same elements in each of them",
        )


def _place(tensor: Tensor) -> str:
    return tensor.buffer.name.upper()
