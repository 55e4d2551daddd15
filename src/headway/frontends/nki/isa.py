"""The instructions of `nki.isa`: their parameters, and the shape of what they give.

In the new style the destination is the first parameter, `dst`; in the old style most instructions
return a new tile. One table serves both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from headway.frontends.nki import elementwise as ew
from headway.frontends.nki.accumulation import accumulates
from headway.frontends.nki.calls import Call
from headway.frontends.nki.places import problem
from headway.frontends.nki.tensor import Tensor, allocated
from headway.frontends.nki.types import DTYPES, PSUM, SBUF, DType, Memory, dtype_of

Arguments = Mapping[str, Any]
Shape = tuple[int, ...]

# Parameters that an instruction writes besides its destination.
WRITTEN = frozenset({"dst", "reduce_res", "dst_scale", "val_dst", "idx_dst", "dst_idx"})
# Parameters that say how, and are no operands.
_OPTIONS = frozenset({"engine", "dtype", "name", "shape"})


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: its operation's name in costs, its parameters after `dst`, its result."""

    operation: str
    parameters: tuple[str, ...]
    shape: Callable[[Arguments], Shape]
    memory: Memory = SBUF


def _like(name: str) -> Callable[[Arguments], Shape]:
    return lambda args: args[name].shape


def _columns(count: int) -> Callable[[Arguments], Shape]:
    return lambda args: (args["data"].shape[0], count)


def _common(*names: str) -> Callable[[Arguments], Shape]:
    def shape(args: Arguments) -> Shape:
        return ew.broadcast_shape([args[n].shape for n in names if isinstance(args[n], Tensor)])

    return shape


def _transposed(args: Arguments) -> Shape:
    data: Tensor = args["data"]
    return (ew.free_size(data.shape), data.shape[0])


def _reduced(args: Arguments) -> Shape:
    data: Tensor = args["data"]
    axes = ew.reduced_axes(data, args.get("axis"))
    return ew.reduced_shape(data.shape, axes, bool(args.get("keepdims")))


def _product(args: Arguments) -> Shape:
    return (ew.free_size(args["stationary"].shape), ew.free_size(args["moving"].shape))


def _given(args: Arguments) -> Shape:
    return tuple(args["shape"])


def _of(operation: str, parameters: str, shape: Callable[[Arguments], Shape]) -> Instruction:
    return Instruction(operation, tuple(parameters.split()), shape)


_DATA = _like("data")
INSTRUCTIONS: dict[str, Instruction] = {
    "activation": _of("activation", "op data bias scale reduce_op reduce_res reduce_cmd", _DATA),
    "activation_reduce": _of("activation_reduce", "op data reduce_op reduce_res bias scale", _DATA),
    "affine_select": _of(
        "affine_select",
        "pattern channel_multiplier on_true_tile on_false_value",
        _like("on_true_tile"),
    ),
    "bn_aggr": _of("bn_aggr", "data", _columns(2)),
    "bn_stats": _of("bn_stats", "data", _columns(6)),
    "dropout": _of("dropout", "data prob", _DATA),
    "iota": _of("iota", "pattern offset channel_multiplier", _given),
    "max8": _of("max8", "src", lambda args: (args["src"].shape[0], 8)),
    "memset": _of("memset", "value", _given),
    "nc_find_index8": _of("nc_find_index8", "data vals", _columns(8)),
    "nc_match_replace8": _of("nc_match_replace8", "data vals imm dst_idx", _DATA),
    "nc_stream_shuffle": _of("nc_stream_shuffle", "src shuffle_mask", _like("src")),
    "nc_transpose": Instruction("transpose", ("data",), _transposed, PSUM),
    "range_select": _of(
        "range_select",
        "on_true_tile comp_op0 comp_op1 bound0 bound1 range_start reduce_cmd reduce_res reduce_op",
        _like("on_true_tile"),
    ),
    "reciprocal": _of("reciprocal", "data", _DATA),
    "scalar_tensor_tensor": _of(
        "scalar_tensor_tensor", "data op0 operand0 op1 operand1 reverse0 reverse1", _DATA
    ),
    "select_reduce": _of(
        "select_reduce",
        "predicate on_true on_false reduce_res reduce_cmd reduce_op",
        _like("on_true"),
    ),
    "tensor_copy": _of("tensor_copy", "src", _like("src")),
    "tensor_copy_predicated": _of(
        "tensor_copy_predicated", "src predicate reverse_pred", _like("src")
    ),
    "tensor_partition_reduce": _of(
        "tensor_partition_reduce", "op data", lambda args: (1, *args["data"].shape[1:])
    ),
    "tensor_reduce": _of("tensor_reduce", "op data axis negate keepdims", _reduced),
    "tensor_scalar": _of(
        "tensor_scalar", "data op0 operand0 reverse0 op1 operand1 reverse1", _DATA
    ),
    "tensor_scalar_reduce": _of(
        "tensor_scalar_reduce", "data op0 operand0 reduce_op reduce_res reverse0", _DATA
    ),
    "tensor_tensor": _of("tensor_tensor", "data1 data2 op", _common("data1", "data2")),
    "tensor_tensor_scan": _of(
        "tensor_tensor_scan", "data0 data1 initial op0 op1 reverse0 reverse1", _like("data0")
    ),
}
# What these compute has another name.
_MEANS = {"nc_transpose": "transpose"}
# The cost of these follows the operand that is streamed.
_SIZED_BY = {"tensor_reduce": "data", "tensor_partition_reduce": "data"}
_ELEMENT_FOR_ELEMENT = frozenset(
    {"activation", "nc_stream_shuffle", "reciprocal", "tensor_copy", "tensor_scalar"}
)


def call(name: str, is_old: bool, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Record one instruction and return its destination."""
    instruction = INSTRUCTIONS[name]
    bound = _bound(name, instruction, is_old and "dst" not in keywords, args, keywords)
    dst = bound.get("dst")
    if dst is None:
        dst = allocated(instruction.shape(bound), _dtype(bound), instruction.memory)
    _check(name, dst, bound, instruction)
    record(name, instruction.operation, {**bound, "dst": dst})
    return dst


def record(name: str, operation: str, bound: Arguments) -> None:
    """Record an instruction whose written parameters are known by name."""
    given = {key: value for key, value in bound.items() if isinstance(value, Tensor)}
    writes = [value for key, value in given.items() if key in WRITTEN]
    reads = [ew.on_chip(value) for key, value in given.items() if key not in WRITTEN]
    for tensor in writes:
        if not tensor.buffer.is_on_chip:
            raise problem(
                f"{name} writes {tensor.name!r}, which is in HBM",
                rule="engines write SBUF and PSUM; only DMA reaches HBM",
                help="write a tile and store it",
            )
    sized = [given[_SIZED_BY[name]]] if name in _SIZED_BY else ()
    flags = ("power",) if str(bound.get("op")) == "power" else ()
    roles = " ".join(key for key in given if key not in WRITTEN)
    destinations = " ".join(key for key in given if key in WRITTEN)
    values = {k: v for k, v in bound.items() if k not in given and k not in _OPTIONS}
    if "shape" in bound and name == "iota":
        values["shape"] = bound["shape"]
    call = Call(_MEANS.get(name, name), roles, values, destinations)
    ew.emit(operation, reads, writes, _engine(bound), flags, sized, call)


def _bound(
    name: str,
    instruction: Instruction,
    returns: bool,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
) -> dict[str, Any]:
    """Give each argument its name."""
    parameters = instruction.parameters if returns else ("dst", *instruction.parameters)
    if returns and instruction.shape is _given:
        parameters = ("shape", *parameters)
    if len(args) > len(parameters):
        raise problem(f"{name} takes {len(parameters)} positional arguments, {len(args)} given")
    bound = dict(zip(parameters, args, strict=False))
    for key, value in keywords.items():
        if key in bound:
            raise problem(f"{name} got two values for {key!r}")
        bound[key] = value
    if not returns and not isinstance(bound.get("dst"), Tensor):
        raise problem(f"{name} needs a tile as its destination", help="pass dst=TILE")
    return bound


def _dtype(bound: Arguments) -> DType:
    if bound.get("dtype") is not None:
        return dtype_of(bound["dtype"])
    tensors = [v for k, v in bound.items() if isinstance(v, Tensor) and k not in _OPTIONS]
    return tensors[0].dtype if tensors else DTYPES["float32"]


def _check(name: str, dst: Tensor, bound: Arguments, instruction: Instruction) -> None:
    """Element for element instructions need as many elements out as in."""
    if name not in _ELEMENT_FOR_ELEMENT:
        return
    data = bound.get("data", bound.get("src"))
    if isinstance(data, Tensor) and data.size != dst.size:
        raise problem(f"{name} reads shape {data.shape} and writes shape {dst.shape}")


def _engine(bound: Arguments) -> str:
    """The engine that the call names, or nothing."""
    name = str(bound.get("engine") or "").rsplit(".", 1)[-1]
    return "" if name in ("unknown", "unknown_engine") else name.removesuffix("_engine")


def nc_matmul(is_old: bool) -> Callable[..., Any]:
    """Return the matrix multiplication of a style."""

    def new(
        dst: Tensor, stationary: Tensor, moving: Tensor, *, accumulate: Any = None, **options: Any
    ) -> Tensor:
        del options
        # None: the first write replaces, later ones add.
        adds = accumulates(dst)
        ew.multiply(dst, stationary, moving, adds if accumulate is None else bool(accumulate))
        return dst

    def old(stationary: Tensor, moving: Tensor, **options: Any) -> Tensor:
        del options
        shape = _product({"stationary": stationary, "moving": moving})
        dst = allocated(shape, DTYPES["float32"], PSUM)
        ew.multiply(dst, stationary, moving)
        return dst

    return old if is_old else new


def dma_copy(dst: Tensor, src: Tensor, **options: Any) -> Tensor:
    """Record a transfer."""
    del options
    ew.transfer(dst, src)
    return dst


def dma_transpose(dst: Tensor, src: Tensor, **options: Any) -> Tensor:
    """Record a transposing transfer."""
    del options
    ew.transfer(dst, src, "dma_transpose")
    return dst
