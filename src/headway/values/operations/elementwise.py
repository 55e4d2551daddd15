"""Operations that compute each element from those at the same place.

An operand of one element per partition is repeated along the free dimensions.
"""

from __future__ import annotations

from typing import Any

from headway.values.functions import UNARY, are_wide_integers, binary, plain_name, reduction, unary
from headway.values.numbers import as_float, is_array, np


def beside(operand: Any, data: Any) -> Any:
    """Return an operand in a form that numpy broadcasts against `data`.

    A tile of one element per partition gets as many dimensions as the data; a tile with as many
    elements per partition gets its shape.
    """
    if not is_array(operand) or operand.shape == data.shape:
        return operand
    if operand.size == operand.shape[0] and operand.shape[0] in (1, data.shape[0]):
        return operand.reshape(operand.shape[0], *(1,) * (data.ndim - 1))
    return operand.reshape(data.shape) if operand.size == data.size else operand


def ordered(op: str, left: Any, right: Any, is_reversed: bool) -> Any:
    """Return `left op right`, or the other way round; of some functions there is only `op left`."""
    if plain_name(op) in UNARY:
        return unary(op, left)
    return binary(op, right, left) if is_reversed else binary(op, left, right)


def function(data: Any, op: str) -> Any:
    """One function of each element."""
    return unary(op, data)


def arithmetic(left: Any, right: Any, op: str, accumulate: bool = True) -> Any:
    """A function of two tiles, or of a tile and a number."""
    del accumulate  # says how a matmul in this place would begin
    arrays: list[Any] = [x for x in (left, right) if is_array(x)]
    is_exact = len(arrays) == 2 and are_wide_integers(*arrays)
    if len(arrays) == 2 and left.ndim != right.ndim:
        wide = left if left.ndim > right.ndim else right
        left, right = beside(left, wide), beside(right, wide)
    return binary(op, left, right, is_exact)


def tensor_tensor(data1: Any, data2: Any, op: str) -> Any:
    """A function of two tiles; gpsimd computes with 32-bit integers exactly."""
    return binary(op, data1, beside(data2, data1), are_wide_integers(data1, data2))


def tensor_scalar(
    data: Any,
    op0: str,
    operand0: Any = None,
    op1: str = "",
    operand1: Any = None,
    reverse0: bool = False,
    reverse1: bool = False,
) -> Any:
    """`(data op0 operand0) op1 operand1`."""
    result = ordered(op0, data, beside(operand0, data), reverse0)
    if not op1 or operand1 is None:
        return result
    return ordered(op1, result, beside(operand1, data), reverse1)


def scalar_tensor_tensor(
    data: Any,
    op0: str,
    operand0: Any,
    op1: str,
    operand1: Any,
    reverse0: bool = False,
    reverse1: bool = False,
) -> Any:
    """`(data op0 operand0) op1 operand1`, where operand1 is a tile."""
    result = ordered(op0, data, beside(operand0, data), reverse0)
    return ordered(op1, result, beside(operand1, data), reverse1)


def tensor_scalar_reduce(
    data: Any,
    op0: str,
    operand0: Any = None,
    reduce_op: str = "add",
    reverse0: bool = False,
    reduce_cmd: str = "",
    reduce_init: Any = None,
    reduce_res_negate: bool = False,
    accumulators: Any = None,
) -> dict[str, Any]:
    """`data op0 operand0`, and its reduction along the free dimensions."""
    result = ordered(op0, data, beside(operand0, data), reverse0)
    kept = accumulated(reduce_op, result, reduce_cmd, accumulators, reduce_init)
    return {
        "dst": result,
        "reduce_res": -kept if reduce_res_negate else kept,
        "accumulators": kept,
    }


def tensor_scalar_cumulative(
    src: Any,
    op0: str,
    op1: str,
    imm0: Any,
    imm1: Any = None,
    reduce_cmd: str = "",
    accumulators: Any = None,
) -> dict[str, Any]:
    """`result[i] = (src[i] op0 imm0) op1 result[i - 1]` along the free dimensions."""
    rows = binary(op0, src, beside(imm0, src)).reshape(src.shape[0], -1)
    result = np.empty(rows.shape, dtype=np.float32)
    if reduce_cmd == "load_reduce":
        state = as_float(imm1).reshape(-1)
    elif reduce_cmd == "reduce":
        state = accumulators.reshape(-1)
    else:
        state = np.full(rows.shape[0], _START[plain_name(op1)], dtype=np.float32)
    for i in range(rows.shape[1]):
        state = result[:, i] = binary(op1, rows[:, i], state)
    return {"dst": result, "accumulators": result[:, -1:]}


_START = {"add": 0, "subtract": 0, "multiply": 1, "maximum": -np.inf, "minimum": np.inf}


def exponential(
    src: Any,
    max_value: Any = 0.0,
    reduce_cmd: str = "",
    reduce_init: Any = 0.0,
    accumulators: Any = None,
) -> dict[str, Any]:
    """`exp(src - max_value)`, and its sum along the free dimensions."""
    result = unary("exp", as_float(src) - as_float(beside(max_value, src)))
    kept = accumulated("add", result, reduce_cmd, accumulators, reduce_init)
    return {"dst": result, "reduce_res": kept, "accumulators": kept}


def accumulated(op: str, tile: Any, reduce_cmd: str, accumulators: Any, initial: Any = None) -> Any:
    """Return what the accumulators of the vector engine hold after reducing a tile.

    Without a command, or with `idle`, nobody may rely on them: it is this reduction.
    """
    reduced = along_free(op, tile)
    if reduce_cmd == "reduce":
        return binary(op, accumulators, reduced)
    if reduce_cmd == "load_reduce":
        return binary(op, as_float(beside(initial, reduced)), reduced)
    return reduced


def registers(reduce_op: str, tile: Any, reduce_cmd: str, before: Any) -> Any:
    """Return what the reduce registers of the scalar engine hold after an activation."""
    if reduce_cmd == "reset_reduce":
        return along_free(reduce_op, tile)
    if reduce_cmd == "reset":
        return np.zeros_like(before)
    if reduce_cmd == "reduce":
        return binary(reduce_op, before, along_free(reduce_op, tile))
    return before


def activation(
    data: Any,
    op: str,
    bias: Any = 0.0,
    scale: Any = 1.0,
    reduce_op: str = "add",
    reduce_cmd: str = "",
    accumulators: Any = None,
) -> dict[str, Any]:
    """`op(data * scale + bias)`; what it reduces to is added up in registers."""
    scaled = as_float(data) * as_float(beside(scale, data)) + as_float(beside(bias, data))
    result = unary(op, scaled)
    kept = registers(reduce_op, result, reduce_cmd, accumulators)
    return {"dst": result, "reduce_res": kept, "accumulators": kept}


def activation_reduce(**arguments: Any) -> dict[str, Any]:
    """The same, where the registers hold the reduction of this instruction alone."""
    return activation(**arguments, reduce_cmd="reset_reduce")


def activate2(
    data: Any,
    op: str,
    imm0: Any,
    imm1: Any,
    op0: str = "",
    op1: str = "",
    relu_param: Any = 0.0,
    reverse0: bool = False,
    reverse1: bool = False,
    reduce_op: str = "add",
    reduce_cmd: str = "",
    accumulators: Any = None,
) -> dict[str, Any]:
    """`op((data op0 imm0) op1 imm1)`; what it reduces to is combined in registers."""
    del relu_param  # of functions that have no values
    result = as_float(data)
    for step, number, is_reversed in ((op0, imm0, reverse0), (op1, imm1, reverse1)):
        if step and step != "bypass":
            result = ordered(step, result, beside(number, data), is_reversed)
    result = unary(op, result)
    kept = registers(reduce_op, result, reduce_cmd, accumulators)
    return {"dst": result, "reduce_res": kept, "accumulators": kept}


def reciprocal(data: Any) -> Any:
    """`1 / data`."""
    return unary("reciprocal", data)


def tensor_tensor_scan(
    data0: Any,
    data1: Any,
    initial: Any,
    op0: str,
    op1: str,
    reverse0: bool = False,
    reverse1: bool = False,
) -> Any:
    """`result[i] = (data0[i] op0 result[i - 1]) op1 data1[i]` along the free dimension."""
    rows = data0.shape[0]
    first, second = data0.reshape(rows, -1), data1.reshape(rows, -1)
    result = np.empty(first.shape, dtype=np.float32)
    state = as_float(initial).reshape(-1) if is_array(initial) else as_float(initial)
    for i in range(first.shape[1]):
        state = ordered(op0, first[:, i], state, reverse0)
        state = ordered(op1, state, second[:, i], reverse1)
        result[:, i] = state
    return result.reshape(data0.shape)


def along_free(op: str, tile: Any) -> Any:
    """Return the reduction of each partition: one element."""
    rows = tile.reshape(tile.shape[0], -1)
    return reduction(op, rows, (1,)).reshape(-1, 1)


OPERATIONS = {
    f.__name__: f
    for f in (
        activate2,
        activation,
        activation_reduce,
        arithmetic,
        exponential,
        function,
        reciprocal,
        scalar_tensor_tensor,
        tensor_scalar,
        tensor_scalar_cumulative,
        tensor_scalar_reduce,
        tensor_tensor,
        tensor_tensor_scan,
    )
}
