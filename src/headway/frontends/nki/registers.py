"""Registers: numbers that exist only when the kernel runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from headway.frontends.nki.places import here, loop_name, problem
from headway.frontends.nki.record import DeviceLoop, Operand, recorder


@dataclass(slots=True, eq=False)
class Register:
    """A number in a register; `reads` is the memory that it was loaded from.

    Its value is `factor` times what was loaded, plus `shift`; with no factor it is not followed.
    """

    __array_ufunc__: ClassVar[None] = None  # arithmetic with index arrays is ours

    reads: tuple[Operand, ...] = ()
    _loop: DeviceLoop | None = field(default=None, repr=False)
    factor: int | None = None
    shift: int = 0

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

    def load(self, operands: tuple[Operand, ...], is_followed: bool = True) -> None:
        """Take a value from memory."""
        self.reads = operands
        self.factor, self.shift = (1 if is_followed and operands else None), 0

    def __add__(self, other: Any) -> Register:
        return self._computed(other, 1, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Register:
        return self._computed(other, 1, -other if isinstance(other, int) else 0)

    def __rsub__(self, other: Any) -> Register:
        return self._computed(other, -1, other)

    def __mul__(self, other: Any) -> Register:
        return self._computed(other, other, 0)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Register:
        return self._computed(None, 1, 0)

    def _computed(self, other: Any, factor: Any, shift: Any) -> Register:
        """Return a value that depends on the same memory; that with an int is followed."""
        more = other.reads if isinstance(other, Register) else ()
        reads = tuple(dict.fromkeys((*self.reads, *more)))
        shape = getattr(other, "shape", ()) or getattr(self, "shape", ())
        if shape:
            return Indices(reads, shape=tuple(shape))
        result = Register(reads)
        if isinstance(other, int) and self.factor is not None:
            result.factor, result.shift = self.factor * factor, self.shift * factor + shift
        return result


@dataclass(slots=True, eq=False)
class Indices(Register):
    """Index arrays moved by a number that is known only at run time."""

    shape: tuple[int, ...] = ()
