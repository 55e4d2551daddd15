"""What a kernel's call says about what it computes: which operand is which, numbers and words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

from headway.frontends.nki.affine import Sym
from headway.frontends.nki.layout import UNFOLLOWED
from headway.frontends.nki.literals import Array, NotFirst
from headway.frontends.nki.means import UNKNOWN, Means
from headway.frontends.nki.registers import Register
from headway.frontends.nki.tensor import Tensor


@dataclass(frozen=True, slots=True)
class Call:
    """An operation of `headway.values.operations` with what it is called with.

    `reads` and `writes` are the roles of the operands, in order; `values` are numbers and words.
    """

    operation: str
    reads: str
    values: dict[str, Any] = field(default_factory=dict[str, Any])
    writes: str = "dst"


def without_values(reason: str) -> Call:
    """Return the call of an operation whose order is all that is known of it."""
    return Call("", "", {"reason": reason})


def meaning(
    call: Call | None, reads: Sequence[Tensor], writes: Sequence[Tensor], mask: Any = None
) -> tuple[Means, tuple[Any, ...]]:
    """Return what a call means, and the numbers that it computes with."""
    if call is None:
        return UNKNOWN, ()
    if not call.operation:
        return _unknown(str(call.values["reason"]))
    for tensor in (*reads, *writes):
        if tensor.dynamic and UNFOLLOWED in tensor.dynamic:
            return _unknown("an index was computed at run time, and its value is not followed")
    is_inside = mask is not None and _is_of_operands(call, mask, reads)
    if mask is not None and not is_inside and not _fits(call, mask, writes):
        return _unknown("what a mask leaves out is followed element for element only")
    numbers: dict[str, Any] = {}
    words: list[tuple[str, str]] = []
    for name, value in call.values.items():
        if value is None:
            continue
        if isinstance(value, Register):
            return _unknown(f"{name} is in a register, whose value is not followed")
        kept = _literal(value)
        if kept is None:
            words.append((name, _word(value)))
        else:
            numbers[name] = kept
    if mask is not None:
        numbers["inside" if is_inside else "mask"] = Array(mask)
    indices = tuple([len(tensor.also) for tensor in (*reads, *writes)])
    roles = _roles(call.reads, call.writes, indices)
    return _means(call.operation, roles, tuple(numbers), tuple(words)), tuple(numbers.values())


_means = cache(Means)


@cache
def _roles(reads: str, writes: str, indices: tuple[int, ...]) -> tuple[str, ...]:
    """Return the role of each operand; the i-th tensor has `indices[i]` that say where it lies."""
    sources, targets = reads.split(), writes.split()
    found: list[str] = []
    for at, (role, count) in enumerate(zip((*sources, *targets), indices, strict=True)):
        found += [role] if at < len(sources) else []
        found += [f"{role}.{number}" for number in range(count)]
    return (*found, *targets)


_MASKABLE = frozenset(
    "activation affine_select arithmetic dma function iota memset reciprocal scalar_tensor_tensor "
    "tensor_copy tensor_copy_predicated tensor_scalar tensor_tensor where".split()
)


def _is_of_operands(call: Call, mask: Any, reads: Sequence[Tensor]) -> bool:
    """Tell whether a mask says which elements of the operands take part."""
    if call.operation == "tensor_reduce":
        return _covers(mask, reads[0].shape)
    return call.operation == "matmul"


def _fits(call: Call, mask: Any, writes: Sequence[Tensor]) -> bool:
    """Tell whether a mask has the shape of the only result, or may be repeated to it."""
    is_maskable = call.operation in _MASKABLE and len(writes) == 1
    return is_maskable and _covers(mask, writes[0].shape)


def _covers(mask: Any, target: tuple[int, ...]) -> bool:
    shape = tuple(mask.shape)
    short = len(target) - len(shape)
    return short >= 0 and all(n in (1, size) for n, size in zip(shape, target[short:], strict=True))


def _unknown(reason: str) -> tuple[Means, tuple[Any, ...]]:
    return Means(settings=(("reason", reason),)), ()


_NUMBERS = (int, float, bool, Sym, NotFirst)


def _literal(value: Any) -> Any:
    """Return a number in a form that can be compared, None if it is a word."""
    if type(value) in _NUMBERS or isinstance(value, _NUMBERS):
        return value
    if isinstance(value, list | tuple):
        return tuple(_literal(part) for part in cast(Sequence[Any], value))
    if getattr(value, "ndim", None) == 0 or (hasattr(value, "__float__") and not _shape(value)):
        return value.item() if hasattr(value, "item") else float(value)
    return Array(value) if _shape(value) else None


def _shape(value: Any) -> Any:
    return getattr(value, "shape", ())


def _word(value: Any) -> str:
    """Return the name of a function or constant."""
    name = getattr(value, "__name__", None) or str(value)
    return str(name).rsplit(".", 1)[-1]
