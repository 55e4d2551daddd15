"""Calls of `nki.isa`: one recorded instruction each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headway.frontends.nki import elementwise as ew
from headway.frontends.nki.accumulation import accumulates
from headway.frontends.nki.calls import Call
from headway.frontends.nki.instructions import (
    INSTRUCTIONS,
    OLD,
    Arguments,
    Instruction,
    product,
    shape_given,
)
from headway.frontends.nki.places import problem
from headway.frontends.nki.rules import (
    check_engine,
    check_matmul,
    check_pair,
    check_reduced,
    check_transfer,
)
from headway.frontends.nki.tensor import Tensor, allocated
from headway.frontends.nki.types import DTYPES, PSUM, DType, dtype_of

# Parameters that an instruction writes besides its destination.
WRITTEN = frozenset({"dst", "reduce_res", "dst_scale", "val_dst", "idx_dst", "dst_idx"})
# Parameters that say how, and are no operands.
_OPTIONS = frozenset({"engine", "dtype", "mask", "name", "shape"})
# What these compute has another name.
_MEANS = {
    "nc_transpose": "transpose",
    "tensor_copy_dynamic_dst": "tensor_copy",
    "tensor_copy_dynamic_src": "tensor_copy",
}
# The cost of these follows the operand that is streamed.
_SIZED_BY = {"tensor_reduce": "data", "tensor_partition_reduce": "data"}
_ELEMENT_FOR_ELEMENT = frozenset({"activation", "reciprocal", "tensor_copy", "tensor_scalar"})


def call(name: str, is_old: bool, /, *args: Any, **keywords: Any) -> Any:
    """Record one instruction and return its destination."""
    instruction = OLD[name] if is_old and name in OLD else INSTRUCTIONS[name]
    to = instruction.destination
    bound = _bound(name, instruction, is_old and to not in keywords, args, keywords)
    dst = bound.get(to)
    if dst is None:
        dst = allocated(instruction.shape(bound), _dtype(bound), instruction.memory)
    _check(name, dst, bound, instruction)
    record(name, instruction.operation, {**bound, to: dst})
    return dst


def record(name: str, operation: str, bound: Arguments) -> None:
    """Record an instruction whose written parameters are known by name."""
    reads: dict[str, Tensor] = {}
    writes: dict[str, Tensor] = {}
    values: dict[str, Any] = {}
    for key, value in bound.items():
        if isinstance(value, Tensor):
            if key in WRITTEN:
                writes[key] = value
            else:
                reads[key] = ew.on_chip(value)
        elif key not in _OPTIONS:
            values[key] = value
    for tensor in writes.values():
        if not tensor.buffer.is_on_chip:
            raise problem(
                f"{name} writes {tensor.name!r}, which is in HBM",
                rule="engines write SBUF and PSUM; only DMA reaches HBM",
                help="write a tile and store it",
            )
    engine = _engine(bound)
    if engine:
        check_engine(name, engine, (*reads.values(), *writes.values()))
    sized = [bound[_SIZED_BY[name]]] if name in _SIZED_BY else ()
    flags = ("power",) if str(values.get("op")) == "power" else ()
    if name == "iota":
        values["shape"] = bound["dst"].shape
    call = Call(_MEANS.get(name, name), " ".join(reads), values, " ".join(writes))
    ew.emit(operation, [*reads.values()], [*writes.values()], engine, flags, sized, call)


def _bound(
    name: str,
    instruction: Instruction,
    returns: bool,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
) -> dict[str, Any]:
    """Give each argument its name."""
    to = instruction.destination
    has_destination = returns or to in instruction.parameters
    parameters = instruction.parameters if has_destination else (to, *instruction.parameters)
    if returns and instruction.shape is shape_given and "shape" not in parameters:
        parameters = ("shape", *parameters)
    if len(args) > len(parameters):
        raise problem(f"{name} takes {len(parameters)} positional arguments, {len(args)} given")
    bound = dict(zip(parameters, args, strict=False))
    for key, value in keywords.items():
        if key in bound:
            raise problem(f"{name} got two values for {key!r}")
        bound[key] = value
    if not returns and not isinstance(bound.get(to), Tensor):
        raise problem(f"{name} needs a tile as its destination", help=f"pass {to}=TILE")
    return bound


def _dtype(bound: Arguments) -> DType:
    if bound.get("dtype") is not None:
        return dtype_of(bound["dtype"])
    tensors = [v for k, v in bound.items() if isinstance(v, Tensor) and k not in _OPTIONS]
    return tensors[0].dtype if tensors else DTYPES["float32"]


def _check(name: str, dst: Tensor, bound: Arguments, instruction: Instruction) -> None:
    """Check what the instruction asks of its operands. Raise InvalidProgram."""
    if name == "tensor_reduce":
        check_reduced(name, ew.reduced_axes(bound["data"], bound.get("axis")))
    if name == "tensor_tensor" and _are_tiles(bound):
        check_pair(name, bound["data1"], bound["data2"])
    if name not in _ELEMENT_FOR_ELEMENT:
        return
    data = bound.get("data", bound.get("src"))
    if isinstance(data, Tensor) and data.size != dst.size:
        raise problem(f"{name} reads shape {data.shape} and writes shape {dst.shape}")


def _are_tiles(bound: Arguments) -> bool:
    return isinstance(bound.get("data1"), Tensor) and isinstance(bound.get("data2"), Tensor)


def _engine(bound: Arguments) -> str:
    """The engine that the call names, or nothing."""
    if not bound.get("engine"):
        return ""
    name = str(bound["engine"]).rsplit(".", 1)[-1]
    return "" if name in ("unknown", "unknown_engine") else name.removesuffix("_engine")


def nc_matmul(is_old: bool) -> Callable[..., Any]:
    """Return the matrix multiplication of a style."""

    def new(
        dst: Tensor, stationary: Tensor, moving: Tensor, *, accumulate: Any = None, **options: Any
    ) -> Tensor:
        if not options.get("perf_mode"):
            check_matmul("nc_matmul", dst, stationary, moving)
        # None: the first write replaces, later ones add.
        adds = accumulates(dst)
        ew.multiply(dst, stationary, moving, adds if accumulate is None else bool(accumulate))
        return dst

    def old(stationary: Tensor, moving: Tensor, **options: Any) -> Tensor:
        del options
        shape = product({"stationary": stationary, "moving": moving})
        dst = allocated(shape, DTYPES["float32"], PSUM)
        ew.multiply(dst, stationary, moving)
        return dst

    return old if is_old else new


def nc_matmul_mx(
    dst: Tensor,
    stationary: Tensor,
    moving: Tensor,
    stationary_scale: Tensor,
    moving_scale: Tensor,
    *,
    accumulate: Any = None,
    **options: Any,
) -> Tensor:
    """Record a multiplication of matrices in microscaling formats, which have scales beside them.

    Four elements in a row of the contracted dimension are one element of the packed types.
    """
    del options
    adds = [dst] if accumulate is not False else []
    reads = [stationary, moving, stationary_scale, moving_scale, *adds]
    ew.emit("matmul", reads, [dst], sizes=[moving])
    return dst


def dma_copy(dst: Tensor, src: Tensor, **options: Any) -> Tensor:
    """Record a transfer."""
    del options
    check_transfer("dma_copy", dst, src)
    ew.transfer(dst, src)
    return dst


def dma_transpose(dst: Tensor, src: Tensor, **options: Any) -> Tensor:
    """Record a transposing transfer."""
    del options
    ew.transfer(dst, src, "dma_transpose")
    return dst


def dma_transpose_old(src: Tensor, dst: Any = None, dtype: object = None, **options: Any) -> Tensor:
    """Record a transposing transfer to a new tile, or to a given one."""
    return ew.load_transposed(src, dtype) if dst is None else dma_transpose(dst, src, **options)
