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
        return self._computed(1, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Register:
        return self._computed(1, other if isinstance(other, Register) else -other)

    def __rsub__(self, other: Any) -> Register:
        return self._computed(-1, other)

    def __mul__(self, other: Any) -> Register:
        return self._computed(other, 0)

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Register:
        return self._computed(None, 0)

    def _computed(self, factor: Any, shift: Any) -> Register:
        """Return `factor * self + shift`, which is followed if both are known."""
        more = [operand for part in (factor, shift) for operand in getattr(part, "reads", ())]
        reads = tuple(dict.fromkeys((*self.reads, *more)))
        is_followed = isinstance(factor, int)
        array = self._indices(factor, shift)
        result = Register(reads) if array is None else Indices(reads, array=array)
        if self.factor is not None and is_followed and (isinstance(shift, int) or is_array(shift)):
            result.factor, result.shift = self.factor * factor, self.shift * factor
            result.shift += shift if isinstance(shift, int) else 0
        return result

    def _indices(self, factor: Any, shift: Any) -> Any:
        """Return the index arrays that a computed value has, None if it is one number."""
        return shift if is_array(shift) else factor if is_array(factor) else None


@dataclass(slots=True, eq=False)
class Indices(Register):
    """Index arrays that a number moves that is known only at run time, or a column of numbers."""

    array: Any = None
    is_column: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the indices."""
        return self.array.shape

    def _computed(self, factor: Any, shift: Any) -> Register:
        result = Register._computed(self, factor, shift)
        if isinstance(result, Indices):
            result.is_column = self.is_column
        return result

    def _indices(self, factor: Any, shift: Any) -> Any:
        scaled = self.array * (factor if isinstance(factor, int) or is_array(factor) else 1)
        return scaled + shift if is_array(shift) else scaled


def is_array(value: object) -> bool:
    """Tell whether a value is an index array."""
    return hasattr(value, "__array__") and getattr(value, "ndim", 0) > 0
