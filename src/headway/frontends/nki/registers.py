"""Registers: numbers that exist only when the kernel runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from headway.frontends.nki.places import here, loop_name, problem
from headway.frontends.nki.record import DeviceLoop, Operand, recorder


@dataclass(slots=True, eq=False)
class Register:
    """A number in a register; `reads` is the memory that it was loaded from."""

    __array_ufunc__: ClassVar[None] = None  # arithmetic with index arrays is ours

    reads: tuple[Operand, ...] = ()
    _loop: DeviceLoop | None = field(default=None, repr=False)

    def __bool__(self) -> bool:
        """Take part in `while register:`, whose body is traced once."""
        if self._loop is None:
            at = here()
            self._loop = recorder().open_device_loop(
                loop_name(at, "turn"), at, None, self.reads, is_while=True
            )
            return True
        loop, self._loop = self._loop, None
        loop.reads = tuple(dict.fromkeys((*loop.reads, *self.reads)))
        recorder().close(loop)
        return False

    def __index__(self) -> int:
        raise problem(
            "a register is used where its value must be known",
            rule="registers have values only when the kernel runs",
        )

    def load(self, operands: tuple[Operand, ...]) -> None:
        """Take a value from memory."""
        self.reads = operands

    def _unknown(self, other: Any) -> Register:
        """Arithmetic: a value that depends on the same memory."""
        more = other.reads if isinstance(other, Register) else ()
        reads = tuple(dict.fromkeys((*self.reads, *more)))
        shape = getattr(other, "shape", ()) or getattr(self, "shape", ())
        return Indices(reads, shape=tuple(shape)) if shape else Register(reads)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = _unknown


@dataclass(slots=True, eq=False)
class Indices(Register):
    """Index arrays moved by a number that is known only at run time."""

    shape: tuple[int, ...] = ()
