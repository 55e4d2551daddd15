"""The names of `nki.language`: what they are, in the old and the new style."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from headway.frontends.nki import composite, creation, loops
from headway.frontends.nki import elementwise as ew
from headway.frontends.nki.affine import Sym
from headway.frontends.nki.allocation import CAPACITY
from headway.frontends.nki.calls import Call
from headway.frontends.nki.compiler import no_reorder
from headway.frontends.nki.keywords import checked, keywords_of, only
from headway.frontends.nki.masks import masked
from headway.frontends.nki.objects import NKIObject
from headway.frontends.nki.places import problem
from headway.frontends.nki.record import recorder
from headway.frontends.nki.registers import Register
from headway.frontends.nki.tensor import Tensor, allocated, sequence
from headway.frontends.nki.types import (
    DTYPES,
    MEMORIES,
    SBUF,
    PartitionExtent,
    Token,
    dtype_of,
)

SBUF_BYTES = CAPACITY["sbuf"]  # per partition
TILE_SIZE = SimpleNamespace(
    pmax=128,
    psum_fmax=512,
    psum_bank_fmax=512,
    psum_bank_fmax_bytes=2048,
    psum_num_banks=8,
    gemm_stationary_fmax=128,
    gemm_moving_fmax=512,
    bn_stats_fmax=512,
    psum_min_align=4,
    sbuf_min_align=1,
    sbuf_size_bytes=128 * SBUF_BYTES,
    sbuf_fmax=SBUF_BYTES // 4,
    sbuf_fmax_bytes=SBUF_BYTES,
    total_available_sbuf_size=SBUF_BYTES,
)


@dataclass(frozen=True, slots=True)
class Function:
    """A function such as `nl.add`: called on tiles, or handed over as an operator."""

    name: str
    call: Callable[..., Any]

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        mask = keywords.pop("mask", None)
        only(f"nl.{self.name}", keywords, keywords_of(self.call))
        return masked(lambda: self.call(*args, **keywords), mask)

    def __str__(self) -> str:
        return self.name


def _unary(name: str) -> Function:
    def call(x: object, dtype: object = None, **options: Any) -> Tensor:
        del options
        return ew.unary(name, x, dtype)

    return Function(name, call)


def _binary(name: str) -> Function:
    def call(x: object, y: object, dtype: object = None, **options: Any) -> Tensor:
        del options
        return ew.binary(name, x, y, dtype)

    return Function(name, call)


def _reduction(name: str) -> Function:
    def call(
        x: object,
        axis: object = None,
        dtype: object = None,
        keepdims: bool = False,
        **options: Any,
    ) -> Tensor:
        del options
        return ew.reduction(name, x, axis, dtype, keepdims)

    return Function(name, call)


def functions() -> dict[str, Function]:
    """Return the functions of elements, and the reductions."""
    found = {name: _unary(name) for name in ew.UNARY}
    found |= {name: _binary(name) for name in ew.BINARY}
    found |= {name: _reduction(name) for name in ew.REDUCTIONS}
    return found | {name: _operator(name) for name in ("average", "bypass")}


def _operator(name: str) -> Function:
    """Return what can only be handed over to an instruction."""

    def call(*args: object, **options: object) -> Tensor:
        raise problem(f"nl.{name} is called", rule=f"nl.{name} is an operator of instructions")

    return Function(name, call)


# ---- views and choices


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


def expand_dims(x: Tensor, axis: int) -> Tensor:
    """Return a view with one more dimension."""
    return x.expand_dims(axis)


def sizeinbytes(dtype: object) -> int:
    """Return the size of an element."""
    return dtype_of(dtype).itemsize


# ---- the launch


def program_id(axis: int = 0) -> int:
    """Return the number of this program along a dimension of the launch grid."""
    return recorder().running.program_id(axis)


def num_programs(axes: Any = None) -> Any:
    """Return how many programs there are along one dimension, some or all."""
    return recorder().running.num_programs(axes)


def program_ndim() -> int:
    """Return the dimensions of the launch grid."""
    return recorder().running.program_ndim()


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
    table |= {name: checked(f"nl.{name}", function) for name, function in _plain().items()}
    table |= {name: checked(f"nl.{name}", getattr(creation, name), more) for name, more in _CREATED}
    table |= {
        "sequential_range": checked("nl.sequential_range", loops.affine_range),
        "range": checked("nl.range", loops.static_range),
        "zeros": checked("nl.zeros", creation.constant(is_old), "name address"),
        "load": _masked("load", ew.load),
        "store": _masked("store", ew.store),
        "copy": Function("copy", ew.copy),
        "load_transpose2d": _masked("load_transpose2d", ew.load_transposed),
        "transpose": _masked("transpose", ew.transposed),
        "matmul": Function("matmul", ew.matmul),
        "broadcast_to": _masked("broadcast_to", ew.broadcast),
        "expand_dims": _masked("expand_dims", expand_dims),
        "where": _masked("where", where),
        "mgrid": _Grid(),
        "par_dim": PartitionExtent,
        "tile_size": TILE_SIZE,
        "bool": DTYPES["bool_"],
        "fp32": SimpleNamespace(min=-3.4028235e38, max=3.4028235e38),
        "nc": int,
        "spmd_dim": SpmdDim,
        "NKIObject": NKIObject,
        "device_print": device_print,
        "tensor": Tensor,
        "NkiTensor": Tensor,
        "constants": SimpleNamespace(sizeinbytes=sizeinbytes),
    }
    return table | {name: _masked(name, getattr(composite, name)) for name in _COMPOSITE}


def _plain() -> dict[str, Callable[..., Any]]:
    """Return what may be called outside a kernel too, or opens a loop: a mask means nothing."""
    found: dict[str, Callable[..., Any]] = {
        "is_hbm": creation.is_in("hbm"),
        "is_on_chip": creation.is_in("sbuf", "psum"),
        "is_psum": creation.is_in("psum"),
        "is_sbuf": creation.is_in("sbuf"),
    }
    ours = (arange, ds, no_reorder, num_programs, program_id, program_ndim)
    of_loops = (
        loops.affine_range,
        loops.dynamic_range,
        loops.fori_loop,
        loops.static_range,
        loops.while_loop,
    )
    of_values = (composite.finfo, composite.loop_reduce, composite.static_cast)
    return found | {function.__name__: function for function in (*ours, *of_loops, *of_values)}


_COMPOSITE = (
    "all_reduce",
    "atomic_rmw",
    "dropout",
    "gather_flattened",
    "rand",
    "random_seed",
    "rms_norm",
    "shared_identity_matrix",
    "softmax",
)
_CREATED = (
    ("empty_like", "name"),
    ("full", "name address"),
    ("ndarray", "name address"),
    ("ones", "name address"),
    ("shared_constant", "name"),
    ("zeros_like", "name"),
)


def _masked(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Accept `mask=` and what tells a compiler something."""
    known = keywords_of(function)

    def call(*args: Any, mask: Any = None, **options: Any) -> Any:
        only(f"nl.{name}", options, known)
        given = {key: value for key, value in options.items() if key in known}
        return masked(lambda: function(*args, **given), mask)

    return call


class SpmdDim(int):
    """What `nl.spmd_dim(n, nl.nc(2))` gives: n, spread over cores."""

    def __new__(cls, extent: int, *cores: object) -> SpmdDim:
        """Return the extent; which core runs a program changes nothing of what it does."""
        del cores
        return super().__new__(cls, extent)


def tokens(kind: str, *members: str) -> SimpleNamespace:
    """Return an enumeration whose members only have names."""
    return SimpleNamespace(**{name: Token(f"{kind}.{name}") for name in members})
