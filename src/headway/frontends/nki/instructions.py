"""The instructions of `nki.isa`: their parameters, and the shape of what they give.

In the new style the destination is the first parameter, `dst`; in the old style most instructions
return a new tile. One table serves both; `OLD` has those whose parameters differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from headway.frontends.nki import elementwise as ew
from headway.frontends.nki.tensor import Tensor
from headway.frontends.nki.types import PSUM, SBUF, Memory

Arguments = Mapping[str, Any]
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: its operation's name in costs, its parameters after `dst`, its result."""

    operation: str
    parameters: tuple[str, ...]
    shape: Callable[[Arguments], Shape]
    memory: Memory = SBUF
    destination: str = "dst"


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


def product(args: Arguments) -> Shape:
    """The shape of a product of matrices."""
    return (ew.free_size(args["stationary"].shape), ew.free_size(args["moving"].shape))


def _gathered(args: Arguments) -> Shape:
    """Sixteen partitions share their indices; each index names some elements in a row."""
    data, index = args["src_buffer"], args["index"]
    count = args.get("num_valid_indices") or 16 * ew.free_size(index.shape)
    return (data.shape[0], int(count), int(args.get("num_elem_per_idx") or 1))


def shape_given(args: Arguments) -> Shape:
    """The shape is an argument itself."""
    return tuple(args["shape"])


def _of(operation: str, parameters: str, shape: Callable[[Arguments], Shape]) -> Instruction:
    return Instruction(operation, tuple(parameters.split()), shape)


_DATA = _like("data")
INSTRUCTIONS: dict[str, Instruction] = {
    "activation": _of("activation", "op data bias scale reduce_op reduce_res reduce_cmd", _DATA),
    "activation_reduce": _of("activation_reduce", "op data reduce_op reduce_res bias scale", _DATA),
    "activate2": _of(
        "activation",
        "op data imm0 imm1 op0 op1 relu_param reverse0 reverse1 reduce_op reduce_res reduce_cmd",
        _DATA,
    ),
    "affine_select": _of(
        "affine_select",
        "pattern channel_multiplier on_true_tile on_false_value cmp_op offset",
        _like("on_true_tile"),
    ),
    "bn_aggr": _of("bn_aggr", "data", _columns(2)),
    "bn_stats": _of("bn_stats", "data", _columns(6)),
    "dropout": _of("dropout", "data prob", _DATA),
    "exponential": _of(
        "tensor_scalar", "src max_value reduce_res reduce_cmd reduce_init", _like("src")
    ),
    "iota": _of("iota", "pattern offset channel_multiplier", shape_given),
    "local_gather": _of(
        "local_gather", "src_buffer index num_elem_per_idx num_valid_indices", _gathered
    ),
    "max8": _of("max8", "src", lambda args: (args["src"].shape[0], 8)),
    "memset": _of("memset", "value", shape_given),
    "nc_find_index8": _of("nc_find_index8", "data vals", _columns(8)),
    "nc_match_replace8": _of("nc_match_replace8", "data vals imm dst_idx", _DATA),
    "nc_n_gather": _of("nc_n_gather", "data indices", _like("indices")),
    "nc_stream_shuffle": _of("nc_stream_shuffle", "src shuffle_mask", _like("src")),
    "nc_transpose": Instruction("transpose", ("data",), _transposed, PSUM),
    "nonzero_with_count": _of("nonzero_with_count", "src index_offset padding_val", _like("src")),
    "quantize_mx": _of("tensor_copy", "src dst_scale", _like("src")),
    "rand2": _of("rng", "min max", shape_given),
    "rand_get_state": _of("rng", "engine", shape_given),
    "range_select": _of(
        "range_select",
        "on_true_tile comp_op0 comp_op1 bound0 bound1 reduce_cmd reduce_res reduce_op "
        "range_start on_false_value",
        _like("on_true_tile"),
    ),
    "reciprocal": _of("reciprocal", "data", _DATA),
    "rng": _of("rng", "engine", shape_given),
    "scalar_tensor_tensor": _of(
        "scalar_tensor_tensor", "data op0 operand0 op1 operand1 reverse0 reverse1", _DATA
    ),
    "select_reduce": _of(
        "select_reduce",
        "predicate on_true on_false reduce_res reduce_cmd reduce_op reverse_pred",
        _like("on_true"),
    ),
    "sequence_bounds": _of(
        "sequence_bounds",
        "segment_ids",
        lambda args: (args["segment_ids"].shape[0], 2, ew.free_size(args["segment_ids"].shape)),
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
    "tensor_scalar_cumulative": _of(
        "tensor_scalar_cumulative", "src op0 op1 imm0 imm1 reduce_cmd", _like("src")
    ),
    "tensor_scalar_reduce": _of(
        "tensor_scalar_reduce",
        "data op0 operand0 reduce_op reduce_res reverse0 reduce_cmd reduce_init reduce_res_negate",
        _DATA,
    ),
    "tensor_tensor": _of("tensor_tensor", "data1 data2 op", _common("data1", "data2")),
    "tensor_tensor_scan": _of(
        "tensor_tensor_scan", "data0 data1 initial op0 op1 reverse0 reverse1", _like("data0")
    ),
    "topk": Instruction("topk", ("idx_dst", "src", "n"), _like("idx_dst"), destination="val_dst"),
}
# Those of the old style whose parameters are others than the ones above without `dst`.
OLD: dict[str, Instruction] = {
    "affine_select": _of(
        "affine_select", "pred on_true_tile on_false_value", _like("on_true_tile")
    ),
    "iota": _of("iota", "expr dtype", lambda args: tuple(args["expr"].shape)),
    "nc_stream_shuffle": _of("nc_stream_shuffle", "src dst shuffle_mask", _like("src")),
    "memset": _of("memset", "shape value dtype", shape_given),
    "tensor_copy_dynamic_dst": _of("tensor_copy", "dst src", _like("src")),
    "tensor_copy_dynamic_src": _of("tensor_copy", "src", _like("src")),
    "tensor_copy_predicated": _of(
        "tensor_copy_predicated", "src dst predicate reverse_pred", _like("src")
    ),
}
