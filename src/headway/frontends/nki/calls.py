"""What a kernel's call says about what it computes: which operand is which, numbers and words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
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


def meaning(
    call: Call | None, reads: Sequence[Tensor], writes: Sequence[Tensor], mask: Any = None
) -> tuple[Means, tuple[Any, ...]]:
    """Return what a call means, and the numbers that it computes with."""
    if call is None:
        return UNKNOWN, ()
    if any(UNFOLLOWED in tensor.dynamic for tensor in (*reads, *writes)):
        return _unknown("an index was computed at run time, and its value is not followed")
    if mask is not None and not _fits(call, mask, writes):
        return _unknown("what a mask leaves out is followed element for element only")
    roles: list[str] = []
    for role, tensor in zip(call.reads.split(), reads, strict=True):
        roles += [role, *_indices(role, tensor)]
    targets = call.writes.split()
    for role, tensor in zip(targets, writes, strict=True):
        roles += _indices(role, tensor)
    numbers: dict[str, Any] = {}
    words: list[tuple[str, str]] = []
    for name, value in call.values.items():
        if isinstance(value, Register):
            return _unknown(f"{name} is in a register, whose value is not followed")
        kept = _literal(value)
        if kept is None:
            if value is not None:
                words.append((name, _word(value)))
        else:
            numbers[name] = kept
    if mask is not None:
        numbers["mask"] = Array(mask)
    return Means(call.operation, (*roles, *targets), tuple(numbers), tuple(words)), tuple(
        numbers.values()
    )


_MASKABLE = frozenset(
    "activation affine_select arithmetic dma function iota memset reciprocal scalar_tensor_tensor "
    "tensor_copy tensor_copy_predicated tensor_scalar tensor_tensor where".split()
)


def _fits(call: Call, mask: Any, writes: Sequence[Tensor]) -> bool:
    """Tell whether a mask has the shape of the only result, or may be repeated to it."""
    if call.operation not in _MASKABLE or len(writes) != 1:
        return False
    shape, target = tuple(mask.shape), writes[0].shape
    short = len(target) - len(shape)
    return short >= 0 and all(n in (1, size) for n, size in zip(shape, target[short:], strict=True))


def _unknown(reason: str) -> tuple[Means, tuple[Any, ...]]:
    return Means(settings=(("reason", reason),)), ()


def _indices(role: str, tensor: Tensor) -> list[str]:
    """The roles of what says where an operand lies."""
    return [f"{role}.{number}" for number in range(len(tensor.also))]


def _literal(value: Any) -> Any:
    """Return a number in a form that can be compared, None if it is a word."""
    if isinstance(value, bool | int | float | Sym | NotFirst):
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
