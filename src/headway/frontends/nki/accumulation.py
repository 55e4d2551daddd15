"""Whether a matmul adds to what PSUM holds, where the kernel leaves that open.

The first write of a place in a PSUM tile replaces what was there, later ones add to it. In a loop
of the device, which is traced once, that depends on the iteration.
"""

from __future__ import annotations

from headway.frontends.nki.affine import Number, terms_of
from headway.frontends.nki.literals import NotFirst
from headway.frontends.nki.record import Box, recorder
from headway.frontends.nki.tensor import Tensor


def accumulates(dst: Tensor) -> bool | NotFirst:
    """Return whether a matmul into `dst` adds, and remember that it was written."""
    trace = recorder()
    before = trace.groups.setdefault(dst.storage, {})
    if any(_covers(box, dst.box) for box in before):
        return True
    before[dst.box] = None
    numbers = [*dst.storage.index, *(number for span in dst.box for number in span)]
    moving = {level for number in numbers for level, _ in terms_of(number)}
    levels = [level for level in trace.device_levels(dst.storage) if level not in moving]
    return NotFirst(tuple(levels)) if levels else False


def _covers(outer: Box, inner: Box) -> bool:
    return outer == inner or all(
        _at_most(a, c) and _at_most(d, b) for (a, b), (c, d) in zip(outer, inner, strict=False)
    )


def _at_most(one: Number, other: Number) -> bool:
    """Tell whether a number is known to be at most another one."""
    distance = other - one
    return isinstance(distance, int) and distance >= 0
