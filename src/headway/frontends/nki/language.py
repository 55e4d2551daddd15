"""The names of `nki.language`: what they are, in the old and the new style."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from headway.frontends.nki import elementwise as ew
from headway.frontends.nki import loops
from headway.frontends.nki.affine import Sym
from headway.frontends.nki.calls import Call
from headway.frontends.nki.places import problem
from headway.frontends.nki.registers import Register
from headway.frontends.nki.tensor import Tensor, allocated, sequence
from headway.frontends.nki.types import (
    DTYPES,
    HBM,
    MEMORIES,
    SBUF,
    Memory,
    PartitionExtent,
    Token,
    dtype_of,
)

PSUM_ZEROS = "psum-zeros"

TILE_SIZE = SimpleNamespace(
    pmax=128,
    psum_fmax=512,
    gemm_stationary_fmax=128,
    gemm_moving_fmax=512,
    bn_stats_fmax=512,
    psum_min_align=4,
    sbuf_min_align=1,
    total_available_sbuf_size=192 * 1024,
)


@dataclass(frozen=True, slots=True)
class Function:
    """A function such as `nl.add`: called on tiles, or handed over as an operator."""

    name: str
    call: Callable[..., Any]

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        keywords.pop("mask", None)
        return self.call(*args, **keywords)

    def __str__(self) -> str:
        return self.name


def _unary(name: str) -> Function:
    def call(data: object, dtype: object = None) -> Tensor:
        return ew.unary(name, data, dtype)

    return Function(name, call)


def _binary(name: str) -> Function:
    def call(left: object, right: object, dtype: object = None) -> Tensor:
        return ew.binary(name, left, right, dtype)

    return Function(name, call)


def _reduction(name: str) -> Function:
    def call(
        data: object, axis: object = None, dtype: object = None, keepdims: bool = False
    ) -> Tensor:
        return ew.reduction(name, data, axis, dtype, keepdims)

    return Function(name, call)


def functions() -> dict[str, Function]:
    """Return the functions of elements, and the reductions."""
    found = {name: _unary(name) for name in ew.UNARY}
    found |= {name: _binary(name) for name in ew.BINARY}
    return found | {name: _reduction(name) for name in ew.REDUCTIONS}


# ---- tensors


def memory_of(buffer: object) -> Memory:
    """Return the memory that `buffer=` names; SBUF by default."""
    if buffer is None:
        return SBUF
    if isinstance(buffer, Memory):
        return buffer
    if str(buffer) in MEMORIES:
        return MEMORIES[str(buffer)]
    raise problem(f"unknown buffer {buffer!r}", help=f"known: {', '.join(MEMORIES)}")


def ndarray(
    shape: Sequence[Any], dtype: object = "float32", buffer: object = None, **options: Any
) -> Tensor:
    """Return a new tensor."""
    return allocated(shape, dtype_of(dtype), memory_of(buffer), str(options.get("name") or ""))


def constant(is_old: bool) -> Callable[..., Tensor]:
    """Return `zeros` of a style.

    In the old style the zeros of a PSUM tile are the start of a matmul accumulation group.
    """

    def zeros(
        shape: Sequence[Any], dtype: object = "float32", buffer: object = None, **options: Any
    ) -> Tensor:
        del options
        memory = memory_of(buffer)
        flags = (PSUM_ZEROS,) if is_old and memory.name == "psum" else ()
        return ew.filled(shape, dtype_of(dtype), memory, flags)

    return zeros


def full(
    shape: Sequence[Any],
    fill_value: object,
    dtype: object = "float32",
    buffer: object = None,
    **options: Any,
) -> Tensor:
    """Return a new tensor full of one number."""
    del options
    return ew.filled(shape, dtype_of(dtype), memory_of(buffer), value=fill_value)


def ones(
    shape: Sequence[Any], dtype: object = "float32", buffer: object = None, **options: Any
) -> Tensor:
    """Return a new tensor full of ones."""
    return full(shape, 1, dtype, buffer, **options)


def zeros_like(data: Tensor, dtype: object = None, buffer: object = None, **options: Any) -> Tensor:
    """Return zeros in the shape of another tensor."""
    del options
    return ew.filled(data.shape, dtype_of(dtype or data.dtype), memory_of(buffer))


def empty_like(data: Tensor, dtype: object = None, buffer: object = None, **options: Any) -> Tensor:
    """Return a new tensor in the shape of another."""
    del options
    return allocated(data.shape, dtype_of(dtype or data.dtype), memory_of(buffer))


def shared_constant(value: Any, dtype: object = None, **options: Any) -> Tensor:
    """Return a tensor in HBM that holds a constant."""
    del options
    shape = getattr(value, "shape", (1, 1))
    tensor = allocated(shape, dtype_of(dtype or getattr(value, "dtype", "float32")), HBM)
    tensor.storage.contents = value
    return tensor


def where(condition: Tensor, x: object, y: object, dtype: object = None) -> Tensor:
    """Return x where a condition holds, else y."""
    sides = {"condition": condition, "on_true": x, "on_false": y}
    found = {n: ew.on_chip(t) for n, t in sides.items() if isinstance(t, Tensor)}
    tiles = list(found.values())
    kind = next((t.dtype for t in tiles[1:]), DTYPES["float32"])
    shape = ew.broadcast_shape([t.shape for t in tiles])
    result = allocated(shape, dtype_of(dtype or kind), SBUF)
    numbers = {name: side for name, side in sides.items() if name not in found}
    call = Call("where", " ".join(found), numbers)
    ew.emit("tensor_copy_predicated", tiles, [result], call=call)
    return result


def expand_dims(data: Tensor, axis: int) -> Tensor:
    """Return a view with one more dimension."""
    return data.expand_dims(axis)


def sizeinbytes(dtype: object) -> int:
    """Return the size of an element."""
    return dtype_of(dtype).itemsize


# ---- the launch: one program


def program_id(axis: int = 0) -> int:
    """Return the number of this program."""
    del axis
    return 0


def num_programs(axes: int = 0) -> int:
    """Return how many programs there are."""
    del axes
    return 1


def program_ndim() -> int:
    """Return the dimensions of the launch grid."""
    return 0


def device_print(*args: Any, **keywords: Any) -> None:
    """Print nothing: there are no values yet."""


# ---- indices


def ds(start: Any, size: int) -> slice:
    """Return the slice of `size` elements from `start`."""
    is_unknown = isinstance(start, Register | Tensor)
    return slice(start, size if is_unknown else start + size)


def arange(*bounds: Any) -> Any:
    """Return an index array."""
    import numpy as np

    if any(isinstance(bound, Sym | Register) for bound in bounds):
        raise problem("nl.arange of a run-time value", rule="index arrays have static bounds")
    return np.arange(*(int(bound) for bound in bounds))


class _Grid:
    """`nl.mgrid`: index arrays of all dimensions, with names p, x, y, z, w."""

    def __getitem__(self, parts: Any) -> Any:
        import numpy as np

        return _Axes(np.asarray(axis) for axis in np.ogrid[sequence(parts)])


class _Axes(tuple[Any, ...]):
    p = property(lambda self: self[0])
    x = property(lambda self: self[1])
    y = property(lambda self: self[2])
    z = property(lambda self: self[3])
    w = property(lambda self: self[4])


def names(is_old: bool) -> dict[str, Any]:
    """Return every name of the language module."""
    table: dict[str, Any] = {**DTYPES, **MEMORIES, **functions()}
    table |= {name: value for name, value in globals().items() if name in _AS_DEFINED}
    table |= {
        "affine_range": loops.affine_range,
        "sequential_range": loops.affine_range,
        "static_range": loops.TracedRange,
        "dynamic_range": loops.dynamic_range,
        "fori_loop": loops.fori_loop,
        "while_loop": loops.while_loop,
        "zeros": constant(is_old),
        "ones": ones,
        "load": _masked(ew.load),
        "store": _masked(ew.store),
        "copy": Function("copy", ew.copy),
        "load_transpose2d": _masked(ew.load_transposed),
        "transpose": _masked(ew.transposed),
        "matmul": Function("matmul", ew.matmul),
        "broadcast_to": ew.broadcast,
        "expand_dims": expand_dims,
        "mgrid": _Grid(),
        "par_dim": PartitionExtent,
        "tile_size": TILE_SIZE,
        "program_id": program_id,
        "num_programs": num_programs,
        "program_ndim": program_ndim,
        "device_print": device_print,
        "tensor": Tensor,
        "NkiTensor": Tensor,
        "constants": SimpleNamespace(sizeinbytes=sizeinbytes),
    }
    return table


_AS_DEFINED = frozenset(
    "ndarray full zeros_like empty_like shared_constant where ds arange".split()
)


def _masked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Accept `mask=` and compiler options; what a mask leaves out counts as touched."""

    def call(*args: Any, mask: Any = None, dtype: Any = None, **options: Any) -> Any:
        del mask
        known = {key: options[key] for key in ("value",) if key in options}
        return function(*args, **known, **({} if dtype is None else {"dtype": dtype}))

    return call


def tokens(kind: str, *members: str) -> SimpleNamespace:
    """Return an enumeration whose members only have names."""
    return SimpleNamespace(**{name: Token(f"{kind}.{name}") for name in members})
