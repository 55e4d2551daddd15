"""The arguments of a kernel: tensors in HBM described by type and shape, or plain values."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from headway.errors import Diagnostic, InvalidInput
from headway.frontends.nki.places import here
from headway.frontends.nki.record import Storage
from headway.frontends.nki.tensor import Tensor, whole
from headway.frontends.nki.types import DTYPES, HBM, dtype_of

_TENSOR = re.compile(r"\s*([a-z]\w*)\s*\[([\d,\s]*)\]\s*")


@dataclass(frozen=True, slots=True)
class ArgSpec:
    """A tensor `dtype[shape]` in HBM, or the plain Python value `value`."""

    dtype: str = ""
    shape: tuple[int, ...] = ()
    value: object = None

    @property
    def is_tensor(self) -> bool:
        """Whether this describes a tensor."""
        return bool(self.dtype)

    @staticmethod
    def parse(text: str) -> ArgSpec:
        """Read `float32[4096,512]`, or a Python literal such as `3`. Raise InvalidInput."""
        match = _TENSOR.fullmatch(text)
        if match is None:
            return ArgSpec(value=_literal(text))
        name, extents = match.groups()
        if name not in DTYPES:
            known = ", ".join(DTYPES)
            raise InvalidInput(Diagnostic(f"unknown data type {name!r}", help=f"known: {known}"))
        return ArgSpec(name, tuple(int(e) for e in extents.split(",") if e.strip()))

    def __str__(self) -> str:
        if not self.is_tensor:
            return repr(self.value)
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"

    def argument(self, name: str, number: int) -> object:
        """Return what the kernel gets: a tensor of its own memory, or the value."""
        if not self.is_tensor:
            return self.value
        dtype = dtype_of(self.dtype)
        # Sites below zero are those of arguments: no line of the kernel allocates them.
        storage = Storage(-1 - number, name, self.shape, dtype, HBM, (), (), here())
        return whole(storage, self.shape, dtype)


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise InvalidInput(
            Diagnostic(
                f"{text!r} is neither a tensor nor a plain value",
                help="write float32[4096,512], 3, 0.5, True or 'text'",
            )
        ) from None


def is_tensor(value: object) -> bool:
    """Tell whether a kernel's argument is a tensor."""
    return isinstance(value, Tensor)
