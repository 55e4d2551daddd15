"""Calls of `nki.isa`: one recorded instruction each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headway.frontends.nki import elementwise as ew
from headway.frontends.nki.accumulation import accumulates
from headway.frontends.nki.calls import Call, without_values
from headway.frontends.nki.creation import memory_of
from headway.frontends.nki.instructions import (
    INSTRUCTIONS,
    OLD,
    Arguments,
    Instruction,
    product,
    shape_given,
)
from headway.frontends.nki.keywords import only
from headway.frontends.nki.places import problem
from headway.frontends.nki.rules import (
    check_column,
    check_engine,
    check_given,
    check_matmul,
    check_operators,
    check_pair,
    check_reduced,
    check_transfer,
    check_transposed,
)
from headway.frontends.nki.tensor import Tensor, allocated
from headway.frontends.nki.transfers import moved
from headway.frontends.nki.types import DTYPES, PSUM, DType, dtype_of

# Parameters that an instruction writes besides its destination.
WRITTEN = frozenset({"dst", "reduce_res", "dst_scale", "val_dst", "idx_dst", "dst_idx"})
# Parameters that say how, and are no operands.
_OPTIONS = ("engine", "dtype", "mask", "name", "shape", "buffer")
# What these compute has another name.
_MEANS = {
    "nc_transpose": "transpose",
    "rand2": "uniform",
    "rand_get_state": "random_state_to",
    "rng": "random_bits",
    "tensor_copy_dynamic_dst": "tensor_copy",
    "tensor_copy_dynamic_src": "tensor_copy",
}
# What these compute is not documented well enough.
_NO_VALUES = {"topk": "the public documentation says two things about the layout of topk"}
# Where these run when the call names no engine.
_USUAL_ENGINE = {"rand_get_state": "gpsimd"}
# What these make has the shape of their destination.
_SHAPED = frozenset({"iota", "rand2", "rand_get_state", "rng"})
_ENGINES = ("tensor", "vector", "scalar", "gpsimd", "sync", "unknown")
# The cost of these follows the operand that is streamed.
_SIZED_BY = {"tensor_reduce": "data", "tensor_partition_reduce": "data"}
_FUNCTIONS_OF_SUMS = frozenset({"activation", "activation_reduce"})
_ELEMENT_FOR_ELEMENT = frozenset({"activation", "reciprocal", "tensor_copy", "tensor_scalar"})


def call(name: str, is_old: bool, /, *args: Any, **keywords: Any) -> Any:
    """Record one instruction and return its destination."""
    instruction = OLD[name] if is_old and name in OLD else INSTRUCTIONS[name]
    to = instruction.destination
    bound = _bound(name, instruction, is_old and to not in keywords, args, keywords)
    dst = bound.get(to)
    if dst is None:
        memory = memory_of(bound["buffer"]) if bound.get("buffer") else instruction.memory
        dst = allocated(instruction.shape(bound), _dtype(bound), memory)
    _check(name, dst, bound, instruction)
    record(name, instruction.operation, {**bound, to: dst})
    return dst


def record(name: str, operation: str, bound: Arguments) -> None:
    """Record an instruction whose written parameters are known by name."""
    writes = {k: v for k, v in bound.items() if isinstance(v, Tensor) and k in WRITTEN}
    for tensor in writes.values():
        if not tensor.buffer.is_on_chip:
            raise problem(
                f"{name} writes {tensor.name!r}, which is in HBM",
                rule="engines write SBUF and PSUM; only DMA reaches HBM",
                help="write a tile and store it",
            )
    reads: dict[str, Tensor] = {}
    values: dict[str, Any] = {}
    for key, value in bound.items():
        if isinstance(value, Tensor):
            if key not in writes:
                reads[key] = ew.on_chip(value)
        elif key not in _OPTIONS:
            values[key] = value
    engine = _engine(bound) or _USUAL_ENGINE.get(name, "")
    if engine:
        check_engine(name, engine, (*reads.values(), *writes.values()))
    sized = [bound[_SIZED_BY[name]]] if name in _SIZED_BY else ()
    flags = ("power",) if str(values.get("op")) == "power" else ()
    if name in _SHAPED:
        values["shape"] = bound["dst"].shape
    if name == "quantize_mx":
        values |= {f"{key}_type": tensor.dtype.name for key, tensor in writes.items()}
    call = Call(_MEANS.get(name, name), " ".join(reads), values, " ".join(writes))
    if name in _NO_VALUES:
        call = without_values(_NO_VALUES[name])
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
    only(name, keywords, (to, *instruction.parameters, *_OPTIONS))
    if not returns and not isinstance(bound.get(to), Tensor):
        raise problem(f"{name} needs a tile as its destination", help=f"pass {to}=TILE")
    if name not in OLD or instruction is not OLD[name]:
        check_given(name, bound, parameters)
    return bound


def _dtype(bound: Arguments) -> DType:
    if bound.get("dtype") is not None:
        return dtype_of(bound["dtype"])
    aside = {*_OPTIONS, *WRITTEN}
    tensors = [v for k, v in bound.items() if isinstance(v, Tensor) and k not in aside]
    return tensors[0].dtype if tensors else DTYPES["float32"]


def _check(name: str, dst: Tensor, bound: Arguments, instruction: Instruction) -> None:
    """Check what the instruction asks of its operands. Raise InvalidProgram."""
    check_operators(name, bound)
    if name in _FUNCTIONS_OF_SUMS:
        check_column(name, "bias", bound.get("bias"))
        check_column(name, "scale", bound.get("scale"))
    if name == "tensor_reduce":
        check_reduced(name, ew.reduced_axes(bound["data"], bound.get("axis")))
    if name == "nc_transpose":
        check_transposed(name, dst, bound["data"])
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
    engine = name.removesuffix("_engine")
    if engine not in _ENGINES:
        raise problem(f"there is no engine {name!r}", help=f"engines: {', '.join(_ENGINES)}")
    return "" if engine == "unknown" else engine


def nc_matmul(is_old: bool) -> Callable[..., Any]:
    """Return the matrix multiplication of a style."""

    def new(
        dst: Tensor, stationary: Tensor, moving: Tensor, *, accumulate: Any = None, **options: Any
    ) -> Tensor:
        rows = _rows(options)
        if rows == 1:
            check_matmul("nc_matmul", dst, stationary, moving)
        ew.multiply(dst, stationary, moving, _adds(dst, accumulate), rows)
        return dst

    def old(stationary: Tensor, moving: Tensor, **options: Any) -> Tensor:
        rows = _rows(options)
        free = product({"stationary": stationary, "moving": moving})
        dst = allocated([size // rows for size in free], DTYPES["float32"], PSUM)
        ew.multiply(dst, stationary, moving, rows=rows)
        return dst

    return old if is_old else new


def _rows(options: Arguments) -> int:
    """Return how many rows of the contracted dimension lie in each partition."""
    mode = str(getattr(options.get("perf_mode"), "name", options.get("perf_mode")))
    return 2 if "double_row" in mode else 1


def _adds(dst: Tensor, accumulate: Any) -> object:
    """None: the first write replaces, later ones add."""
    adds = accumulates(dst)
    return adds if accumulate is None else bool(accumulate)


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
    adds = _adds(dst, accumulate)
    types: dict[str, Any] = {
        "stationary_type": stationary.dtype.name,
        "moving_type": moving.dtype.name,
    }
    roles = "stationary moving stationary_scale moving_scale"
    reads = [stationary, moving, stationary_scale, moving_scale]
    if adds is not False:
        roles, reads, types = f"{roles} addend", [*reads, dst], {**types, "accumulate": adds}
    ew.emit("matmul", reads, [dst], sizes=[moving], call=Call("matmul_mx", roles, types))
    return dst


def dma_copy(
    dst: Tensor, src: Tensor, *, oob_mode: Any = None, dst_rmw_op: Any = None, **options: Any
) -> Tensor:
    """Record a transfer; with `dst_rmw_op` it combines what it moves with what is there."""
    del options
    check_transfer("dma_copy", dst, src)
    if dst_rmw_op is None:
        ew.transfer(dst, src, skips=str(oob_mode).endswith("skip"))
    else:
        call = Call("arithmetic", "left right", {"op": dst_rmw_op})
        moved("dma_compute", (dst, src), (dst,), call=call)
    return dst


def dma_transpose(dst: Tensor, src: Tensor, axes: Any = None, **options: Any) -> Tensor:
    """Record a transposing transfer."""
    del options
    ew.transfer(dst, src, "dma_transpose", axes=ew.transposition(src, axes))
    return dst


def dma_transpose_old(
    src: Tensor, dst: Any = None, dtype: object = None, axes: Any = None, **options: Any
) -> Tensor:
    """Record a transposing transfer to a new tile, or to a given one."""
    if dst is None:
        return ew.load_transposed(src, dtype, axes)
    return dma_transpose(dst, src, axes, **options)
