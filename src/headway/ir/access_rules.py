"""Rules for accesses: slots and boxes lie inside a declared buffer."""

from __future__ import annotations

from collections.abc import Iterable

from headway.errors import Location
from headway.ir.expr import Expr
from headway.ir.expr_text import box_text
from headway.ir.names import shown, suggestion
from headway.ir.problems import Problems
from headway.ir.program import Access, Buffer
from headway.ir.rules import Rules


class AccessRules:
    """Checks accesses. What is known before the run is checked here, the rest when it runs."""

    def __init__(self, problems: Problems, rules: Rules, buffers: Iterable[Buffer]) -> None:
        self._problems = problems
        self._rules = rules
        self._buffers = {buffer.name: buffer for buffer in buffers}
        self._sound: set[int] = set()  # accesses, shared by equal clauses, that were checked

    def forget(self) -> None:
        """Leave a loop: equal clauses may be sound inside it and not after it."""
        self._sound.clear()

    def check(self, accesses: tuple[Access, ...], at: Location | None) -> None:
        """Check the accesses of one clause."""
        if id(accesses) in self._sound:
            return
        before = self._problems.count
        for access in accesses:
            self._access(access, at)
        if self._problems.count == before:
            self._sound.add(id(accesses))

    def _access(self, access: Access, at: Location | None) -> None:
        buffer = self._buffers.get(access.buffer)
        slot = self._rules.expression(access.slot, at)
        if buffer is None:
            name = access.buffer
            help = suggestion(name, self._buffers) or f"declare it: buffer {name[:40]}"
            self._problems.add(f"buffer {shown(name)} is not declared", at, help=help)
            return
        if slot is not None and not 0 <= slot < buffer.slots:
            self._slot(buffer, slot, at)
        if access.box is not None:
            self._box(buffer, access.box, at)

    def _slot(self, buffer: Buffer, slot: int, at: Location | None) -> None:
        message = f"buffer {buffer.name!r} has no slot {slot}: it has {buffer.slots}, from 0 on"
        self._problems.add(message, at)

    def _box(self, buffer: Buffer, box: tuple[tuple[Expr, Expr], ...], at: Location | None) -> None:
        if len(box) != len(buffer.shape):
            self._dimensions(buffer, box_text(box), at)
            return
        for (low, high), extent in zip(box, buffer.shape, strict=True):
            self._interval(buffer, low, high, extent, at)

    def _dimensions(self, buffer: Buffer, box: str, at: Location | None) -> None:
        message = f"box {box} does not fit buffer {buffer.name!r}, which has "
        if buffer.shape:
            self._problems.add(f"{message}the shape {buffer.shape}", at)
        else:
            help = "give the buffer a shape, or access the whole slot"
            self._problems.add(f"{message}no shape", at, help=help)

    def _interval(
        self, buffer: Buffer, low: Expr, high: Expr, extent: int, at: Location | None
    ) -> None:
        first, end = self._rules.expression(low, at), self._rules.expression(high, at)
        if first is not None and end is not None and first >= end:
            self._problems.add(f"box [{first}:{end}] of buffer {buffer.name!r} is empty", at)
        elif not (_inside(first, 0, extent - 1) and _inside(end, 1, extent)):
            text = box_text(((low, high),))
            message = f"box {text} of buffer {buffer.name!r} leaves its extent of {extent}"
            self._problems.add(message, at)


def _inside(value: int | None, low: int, high: int) -> bool:
    """Tell whether a value that is known before the run lies in `low` to `high`."""
    return value is None or low <= value <= high
