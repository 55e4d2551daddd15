"""Operations that choose between elements."""

from __future__ import annotations

from typing import Any

from headway.values.functions import binary
from headway.values.numbers import as_float, np
from headway.values.operations.elementwise import accumulated, beside
from headway.values.operations.movement import affine


def where(condition: Any, on_true: Any, on_false: Any) -> Any:
    """`on_true` where the condition is not zero."""
    return np.where(condition != 0, as_float(on_true), as_float(on_false))


def affine_select(
    on_true_tile: Any,
    on_false_value: Any,
    pattern: Any = (),
    channel_multiplier: Any = 0,
    offset: Any = 0,
    cmp_op: str = "greater_equal",
    pred: Any = None,
) -> Any:
    """The tile where an affine value compares with 0 as `cmp_op` says, else a number.

    In the old style the kernel gives the truth values themselves.
    """
    if pred is not None:
        return np.where(pred, as_float(on_true_tile), np.float32(on_false_value))
    places = affine(pattern, offset, channel_multiplier, on_true_tile.shape[0])
    chosen = binary(cmp_op, places, 0).reshape(on_true_tile.shape)
    return np.where(chosen, as_float(on_true_tile), np.float32(on_false_value))


def range_select(
    on_true_tile: Any,
    comp_op0: str,
    comp_op1: str,
    bound0: Any,
    bound1: Any,
    range_start: Any = 0,
    on_false_value: Any = -3.4028235e38,
    reduce_op: str = "maximum",
    reduce_cmd: str = "",
    accumulators: Any = None,
) -> dict[str, Any]:
    """The tile where the place of an element compares with both bounds, else the least float."""
    rows = as_float(on_true_tile).reshape(on_true_tile.shape[0], -1)
    places = np.arange(rows.shape[1])[None, :] + range_start
    inside = binary(comp_op0, places, as_float(bound0).reshape(-1, 1))
    inside = inside & binary(comp_op1, places, as_float(bound1).reshape(-1, 1))
    result = np.where(inside, rows, np.float32(on_false_value))
    kept = accumulated(reduce_op, result, reduce_cmd, accumulators)
    return {"dst": result, "reduce_res": kept, "accumulators": kept}


def select_reduce(
    predicate: Any,
    on_true: Any,
    on_false: Any,
    reduce_op: str = "maximum",
    reduce_cmd: str = "",
    reverse_pred: bool = False,
    accumulators: Any = None,
) -> dict[str, Any]:
    """`on_true` where the predicate is not zero, and the reduction of the result."""
    chosen = (predicate == 0) if reverse_pred else (predicate != 0)
    result = np.where(chosen, as_float(on_true), as_float(beside(on_false, on_true)))
    kept = accumulated(reduce_op, result, reduce_cmd, accumulators)
    return {"dst": result, "reduce_res": kept, "accumulators": kept}


def tensor_copy_predicated(src: Any, predicate: Any, reverse_pred: bool = False) -> dict[str, Any]:
    """`src` where the predicate is not zero; elsewhere what was there stays."""
    chosen = (predicate == 0) if reverse_pred else (predicate != 0)
    return {"dst": src, "mask": chosen}


OPERATIONS = {
    f.__name__: f
    for f in (affine_select, range_select, select_reduce, tensor_copy_predicated, where)
}
