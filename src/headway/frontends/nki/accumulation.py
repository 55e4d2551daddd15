"""Whether a matmul adds to what PSUM holds, where the kernel leaves that open.

The first write of a place in a PSUM tile replaces what was there, later ones add to it. In a loop
of the device, which is traced once, that depends on the iteration.
"""

from __future__ import annotations

from headway.frontends.nki.affine import Number, const_of, number, terms_of
from headway.frontends.nki.literals import NotFirst
from headway.frontends.nki.record import Box, recorder
from headway.frontends.nki.tensor import Tensor


def accumulates(dst: Tensor) -> bool | NotFirst:
    """Return whether a matmul into `dst` adds, and remember that it was written."""
    trace = recorder()
    before = trace.groups.setdefault(dst.storage, {})
    place = _place(dst)
    if any(_covers(other, place) for other in before):
        return True
    _note(before, place)
    numbers = [*dst.storage.index, *(number for span in place for number in span)]
    moving = {level for number in numbers for level, _ in terms_of(number)}
    levels = [level for level in trace.device_levels(dst.storage) if level not in moving]
    return NotFirst(tuple(levels)) if levels else False


def _note(before: dict[Box, None], place: Box) -> None:
    """Remember a place, joined with those beside it in the same partitions."""
    rows, (left, right) = place
    for other in list(before):
        if other[0] == rows and (other[1][1] == left or other[1][0] == right):
            before.pop(other)
            left, right = (other[1][0], right) if other[1][1] == left else (left, other[1][1])
    before[rows, (left, right)] = None


def _place(dst: Tensor) -> Box:
    """Return the partitions and the bytes in each of them that a view reaches, whatever its form.

    The box of a view is larger than what it touches where a pattern or a reshape is not followed.
    """
    row = max(1, dst.storage.row)
    if dst.table is not None:
        first, offsets = const_of(dst.offset), dst.table.offsets
        rows, columns = (first + offsets) // row, (first + offsets) % row
        return (
            (int(rows.min()), int(rows.max()) + 1),
            (int(columns.min()), int(columns.max()) + dst.itemsize),
        )
    down = [axis for axis in dst.axes if axis.stride % row == 0]
    across = [axis for axis in dst.axes if axis.stride % row]
    height = 1 + sum((axis.size - 1) * axis.stride // row for axis in down)
    width = dst.itemsize + sum((axis.size - 1) * axis.stride for axis in across)
    terms = terms_of(dst.offset)
    top = number(
        const_of(dst.offset) // row,
        tuple((level, factor // row) for level, factor in terms if factor % row == 0),
    )
    left = number(
        const_of(dst.offset) % row,
        tuple((level, factor) for level, factor in terms if factor % row),
    )
    return (top, top + height), (left, left + width)


def _covers(outer: Box, inner: Box) -> bool:
    return outer == inner or all(
        _at_most(a, c) and _at_most(d, b) for (a, b), (c, d) in zip(outer, inner, strict=False)
    )


def _at_most(one: Number, other: Number) -> bool:
    """Tell whether a number is known to be at most another one."""
    distance = other - one
    return isinstance(distance, int) and distance >= 0
