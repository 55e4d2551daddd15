"""Stand-in modules for the NKI packages, active only inside `active()`.

Nothing is installed: the modules are put into `sys.modules` and taken out again. A name that is not
known is an error that names it and the kernel's line; `hasattr` sees it as missing.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

from headway.errors import HeadwayError, InvalidProgram
from headway.frontends.nki import collectives, compiler, isa, language, loops, transfers
from headway.frontends.nki.keywords import checked
from headway.frontends.nki.masks import leaves_out, masked
from headway.frontends.nki.placeholders import Placeholder
from headway.frontends.nki.places import diagnostic, here
from headway.frontends.nki.programs import launched
from headway.frontends.nki.record import is_recording, recorder
from headway.frontends.nki.registers import Register
from headway.frontends.nki.tensor import Tensor
from headway.frontends.nki.types import DTYPES

OLD, NEW = "neuronxcc.nki", "nki"


class UnknownName(HeadwayError, AttributeError):
    """A name of the NKI packages that Headway does not know."""


class StandIn(ModuleType):
    """A module with a fixed set of names."""

    def __init__(self, name: str, names: dict[str, Any]) -> None:
        super().__init__(name)
        self.__path__ = []  # a package without files: its parts are in sys.modules too
        self.__dict__.update(names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnknownName(unknown(self.__name__, name, tuple(self.__dict__)))


def unknown(module: str, name: str, known: tuple[str, ...]) -> Any:
    """Return the message about a name that a stand-in does not have."""
    close = get_close_matches(name, known, n=1, cutoff=0.75)
    return diagnostic(
        f"{module}.{name} is not known to the NKI front end",
        here(),
        rule="the operations that it knows are listed in docs/nki.md",
        help=f"did you mean {close[0]!r}?" if close else "",
    )


class Kernel:
    """What `@nki.jit` gives: the function itself, with a launch grid in brackets."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if not is_recording():  # a launch in the kernel's file, which computes nothing here
            return Placeholder(self.__name__)
        return self.function(*args, **keywords)

    def __getitem__(self, grid: object) -> Callable[..., Any]:
        """Launch this kernel: all programs of the grid run, one after the other."""
        return launched(self, grid) if is_recording() else self

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Bind to an object, as functions do: a method may be a kernel."""
        return self if instance is None else partial(self, instance)


def jit(function: Any = None, **options: Any) -> Any:
    """Mark a kernel: `@jit`, `@jit()` and `@jit(mode=...)`."""
    del options
    if isinstance(function, Kernel):
        return function
    return Kernel(function) if callable(function) else Kernel


class NcVersion(enum.IntEnum):
    """Generations of the core."""

    gen2 = 2
    gen3 = 3
    gen4 = 4


ENGINES = ("tensor", "vector", "scalar", "gpsimd", "sync", "unknown")


def _isa_names(is_old: bool) -> dict[str, Any]:
    def instruction(name: str) -> Callable[..., Any]:
        return _masked(partial(isa.call, name, is_old))

    instructions = {**isa.INSTRUCTIONS, **isa.OLD} if is_old else isa.INSTRUCTIONS
    table: dict[str, Any] = {name: instruction(name) for name in instructions}
    table |= {
        name: _masked(checked(name, getattr(transfers, name), more))
        for name, more in _TRANSFERS.items()
    }
    table |= {
        "nc_matmul_mx": checked("nc_matmul_mx", isa.nc_matmul_mx, "tile_position tile_size name"),
        "rand_set_state": checked("rand_set_state", transfers.rand_set_state, "name"),
        "set_rng_seed": checked("set_rng_seed", transfers.set_rng_seed, "name"),
        "_tiled_offloaded_memcpy": checked("_tiled_offloaded_memcpy", isa.dma_copy, _OF_TRANSFERS),
        "_tiled_offloaded_fma": checked("_tiled_offloaded_fma", _fused_multiply_add, "scales"),
        "NkiInstruction": Tensor,
        "NkiValidationError": InvalidProgram,
        "fp32": SimpleNamespace(min=-3.4028235e38, max=3.4028235e38),
        "nc_matmul": _masked(checked("nc_matmul", isa.nc_matmul(is_old), _OF_MATMULS)),
        "dma_copy": _masked(checked("dma_copy", isa.dma_copy, f"{_OF_TRANSFERS} engine")),
        "dma_transpose": _masked(
            checked(
                "dma_transpose",
                isa.dma_transpose_old if is_old else isa.dma_transpose,
                f"{_OF_TRANSFERS} oob_mode",
            )
        ),
        "register_alloc": checked("register_alloc", _register_alloc),
        "register_load": checked("register_load", _register_load),
        "register_move": checked("register_move", _register_move),
        "VirtualRegister": Register,
        "nc_version": NcVersion,
        "get_nc_version": lambda: NcVersion.gen3,
        "get_nc_sub_version": lambda: 0,
        "engine": language.tokens("engine", *ENGINES),
        "dge_mode": language.tokens("dge_mode", "none", "swdge", "hwdge", "unknown"),
        "dma_engine": language.tokens("dma_engine", "dma", "gpsimd_dma"),
        "matmul_perf_mode": language.tokens(
            "matmul_perf_mode", "none", "double_row", "double_column", "double_pixel"
        ),
        "oob_mode": language.tokens("oob_mode", "error", "skip"),
        "reduce_cmd": language.tokens(
            "reduce_cmd", "idle", "reset", "reduce", "reset_reduce", "load_reduce"
        ),
    }
    table["constants"] = SimpleNamespace(**{name: table[name] for name in _CONSTANTS})
    return table | {f"{name}_engine": table["engine"].__dict__[name] for name in ENGINES}


# What these take and do not need, as it changes no values and no order.
_OF_MATMULS = (
    "is_stationary_onezero is_moving_onezero is_transpose tile_position tile_size perf_mode name"
)
_OF_TRANSFERS = "priority dge_mode dtype name"
_TRANSFERS = {
    "core_barrier": "cores name",
    "dma_compute": "reduce_op scales unique_indices oob_mode name",
    "register_store": "",
    "sendrecv": "send_to_rank recv_from_rank pipe_id dma_engine name",
}
_CONSTANTS = (
    "dge_mode",
    "dma_engine",
    "engine",
    "matmul_perf_mode",
    "nc_version",
    "oob_mode",
    "reduce_cmd",
)


def _masked(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, mask: Any = None, **keywords: Any) -> Any:
        if mask is None and recorder().mask is None:
            return function(*args, **keywords)
        part = {"mask": mask} if leaves_out(mask) else {}
        return masked(lambda: function(*args, **keywords, **part), mask)

    return call


def _fused_multiply_add(*srcs: Tensor, dst: Tensor, **options: Any) -> Tensor:
    del options
    transfers.moved("dma_compute", srcs, (dst,))
    return dst


def _private_names(instructions: dict[str, Any]) -> dict[str, Any]:
    """Return the few private names that public kernels use and whose meaning is plain."""
    return {
        "do_while": checked("do_while", loops.do_while),
        **{name: instructions[name] for name in ("core_barrier", "sendrecv")},
    }


def _register_alloc(x: Any = None) -> Register:
    register = Register()
    if isinstance(x, Tensor):
        register.load((x.operand(), *x.also), is_followed=not x.also)
    elif isinstance(x, int):
        register.factor, register.shift = 0, x
    return register


def _register_move(dst: Register, src: object = None, imm: object = None) -> Register:
    """A register that is set anew, perhaps in a loop of the device, is not followed."""
    value = imm if src is None else src  # `imm` in older releases
    dst.load(value.reads if isinstance(value, Register) else (), is_followed=False)
    return dst


def _register_load(dst: Register, src: Tensor) -> Register:
    dst.load((src.operand(), *src.also), is_followed=not src.also)
    return dst


def _package(root: str, is_old: bool) -> dict[str, ModuleType]:
    """Return the modules of one style by name."""
    instructions, words = _isa_names(is_old), language.names(is_old)
    parts: dict[str, dict[str, Any]] = {
        "isa.constants": vars(instructions["constants"]),
        "isa": instructions,
        "language.constants": vars(words["constants"]),
        "language": words,
        "typing": _TYPES,
        "dtype": dict(DTYPES),
        "tensor": {"NkiTensor": Tensor, "Tensor": Tensor},
        "compiler": compiler.names(),
        "collectives": collectives.names(),
        "_private": {},
        "_private.private_api": _private_names(instructions),
    }
    modules: dict[str, ModuleType] = {}
    for part, table in parts.items():
        modules[f"{root}.{part}"] = StandIn(f"{root}.{part}", table)
    short = {part: modules[f"{root}.{part}"] for part in parts if "." not in part}
    runs = dict.fromkeys(("baremetal", "benchmark", "profile", "trace"), jit)
    simulate = {"simulate_kernel": jit, "simulate": jit}
    top = StandIn(root, {"jit": jit, **runs, **short, **simulate})
    return {root: top, **modules}


class _Typed(type):
    """The metaclass of types in annotations, which may be subscripted."""

    def __getitem__(cls, parameters: object) -> type:
        return cls


class _Scalar(metaclass=_Typed):
    """The type of a number in annotations."""


_TYPES: dict[str, Any] = {
    "tensor": Tensor,
    "mutable_tensor": Tensor,
    "mutable": Tensor,
    "immutable": Tensor,
    "scalar": _Scalar,
}


def modules() -> dict[str, ModuleType]:
    """Return fresh stand-ins by full name."""
    old = _package(OLD, is_old=True)
    return {
        **_package(NEW, is_old=False),
        **old,
        "neuronxcc": StandIn("neuronxcc", {"nki": old[OLD]}),
    }


@contextmanager
def active() -> Generator[None]:
    """Let imports find the stand-ins; whatever was there under their names comes back after."""
    ours = modules()
    roots = tuple(sorted({name.partition(".")[0] for name in ours}))
    hidden = {n: m for n, m in sys.modules.items() if n.partition(".")[0] in roots}
    for name in hidden:
        del sys.modules[name]
    sys.modules.update(ours)
    try:
        yield
    finally:
        for name in [n for n in sys.modules if n.partition(".")[0] in roots]:
            del sys.modules[name]
        sys.modules.update(hidden)
