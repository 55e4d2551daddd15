"""Masks of the old style: an instruction whose mask leaves nothing is not executed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headway.frontends.nki.record import recorder
from headway.frontends.nki.tensor import Tensor


def masked(call: Callable[[], Any], mask: Any) -> Any:
    """Record a call unless its mask is empty; then its result is a tile that nothing wrote.

    The elements that a mask leaves out count as touched, and keep their values.
    """
    if mask is None and recorder().mask is None:
        return call()
    if not is_empty(mask):
        with recorder().under(mask if leaves_out(mask) else None):
            return call()
    with recorder().muted():
        return call()


def is_empty(mask: Any) -> bool:
    """Tell whether a mask, a truth value or an array of them, leaves nothing."""
    if mask is None or isinstance(mask, Tensor):
        return False
    return not (mask.any() if hasattr(mask, "any") else mask)


def leaves_out(mask: Any) -> bool:
    """Tell whether a mask is an array that leaves out some elements."""
    return hasattr(mask, "all") and not isinstance(mask, Tensor) and not mask.all()


def is_skipped(value: object) -> bool:
    """Tell whether a value is the result of an instruction that was masked out."""
    return isinstance(value, Tensor) and value.storage in recorder().skipped
