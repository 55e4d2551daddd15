"""Data types, memories and other constants that kernels name."""

from __future__ import annotations

from typing import Any, cast

from headway.errors import Diagnostic, InvalidInput


class Constant:
    """A value that kernels name, compared by what it says.

    No dataclass: `dataclasses.asdict` of a kernel's settings leaves it as it is.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        is_alike = type(other) is type(self)
        return self is other or (is_alike and self._says() == cast(Constant, other)._says())

    def __hash__(self) -> int:
        return hash(self._says())

    def _says(self) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in self.__slots__])


class DType(Constant):
    """An element type and its size in bytes."""

    __slots__ = ("itemsize", "name")

    def __init__(self, name: str, itemsize: int) -> None:
        self.name = name
        self.itemsize = itemsize

    @property
    def is_integer(self) -> bool:
        """Whether arithmetic on it is exact whole-number arithmetic."""
        return self.name.startswith(("int", "uint"))

    @property
    def dtype(self) -> Any:
        """The numpy type: numpy looks for this attribute, as in `np.dtype(nl.float32)`."""
        import numpy as np

        if self.name in _OF_ML:
            import ml_dtypes

            return np.dtype(getattr(ml_dtypes, self.name))
        if self.name in PACKED:  # numpy has none: whole numbers of that size hold the bits
            return np.dtype(f"uint{8 * self.itemsize}")
        return np.dtype({"bool_": "bool", "tfloat32": "float32"}.get(self.name, self.name))

    def __repr__(self) -> str:
        return self.name


_OF_ML = frozenset("bfloat16 float8_e4m3 float8_e5m2 float8_e4m3fn float8_e8m0fnu".split())
PACKED = frozenset("float4_e2m1fn_x4 float8_e4m3fn_x4 float8_e5m2_x4".split())
_SIZES = {
    1: "bool_ int8 uint8 float8_e4m3 float8_e5m2 float8_e4m3fn float8_e8m0fnu",
    2: "int16 uint16 float16 bfloat16 float4_e2m1fn_x4",
    4: "int32 uint32 float32 tfloat32 float8_e4m3fn_x4 float8_e5m2_x4",
    8: "int64 uint64 float64",
}
DTYPES = {name: DType(name, size) for size, names in _SIZES.items() for name in names.split()}
_ALIASES = {"bool": "bool_", "fp32": "float32"}


def dtype_of(value: object) -> DType:
    """Return the type that a name, a numpy type or one of ours stands for. Raise InvalidInput."""
    if isinstance(value, DType):
        return value
    name = value if isinstance(value, str) else getattr(value, "name", None)
    name = name or getattr(value, "__name__", str(value))
    name = _ALIASES.get(name, name)
    if name not in DTYPES:
        known = ", ".join(DTYPES)
        raise InvalidInput(Diagnostic(f"unknown data type {name!r}", help=f"known: {known}"))
    return DTYPES[name]


class Memory(Constant):
    """A memory that tensors live in; a shared one is the same for all programs of a launch."""

    __slots__ = ("is_shared", "name")

    def __init__(self, name: str, is_shared: bool = False) -> None:
        self.name = name
        self.is_shared = is_shared

    def __repr__(self) -> str:
        return self.name

    @property
    def is_on_chip(self) -> bool:
        """Whether its first dimension is the partition."""
        return self.name in ("sbuf", "psum")


SBUF, PSUM, HBM = Memory("sbuf"), Memory("psum"), Memory("hbm")
SHARED_HBM = Memory("hbm", is_shared=True)
MEMORIES = {
    "sbuf": SBUF,
    "psum": PSUM,
    "hbm": HBM,
    "shared_hbm": SHARED_HBM,
    "private_hbm": HBM,
}
PARTITIONS = 128


class PartitionExtent(int):
    """What `nl.par_dim(n)` gives: n, marked as the extent of the partition dimension."""


class Token(Constant):
    """A constant of an API that only its name matters of, as `engine.vector`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name
