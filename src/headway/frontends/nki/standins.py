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
from types import ModuleType
from typing import Any

from headway.errors import HeadwayError
from headway.frontends.nki import isa, language
from headway.frontends.nki.places import diagnostic, here, problem
from headway.frontends.nki.registers import Register
from headway.frontends.nki.tensor import Tensor, sequence
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
        return self.function(*args, **keywords)

    def __getitem__(self, grid: object) -> Kernel:
        if any(extent != 1 for extent in sequence(grid)):
            raise problem(
                f"a launch grid of {grid}",
                rule="one program is traced; launch grids are not traced yet",
                help="trace the kernel itself: it is program 0",
            )
        return self


def jit(function: Any = None, **options: Any) -> Any:
    """Mark a kernel: `@jit`, `@jit()` and `@jit(mode=...)`."""
    del options
    return Kernel(function) if callable(function) else Kernel


class NcVersion(enum.IntEnum):
    """Generations of the core."""

    gen2 = 2
    gen3 = 3
    gen4 = 4


ENGINES = ("tensor", "vector", "scalar", "gpsimd", "sync", "unknown")


def _isa_names(is_old: bool) -> dict[str, Any]:
    def instruction(name: str) -> Callable[..., Any]:
        return lambda *args, **keywords: isa.call(name, is_old, args, keywords)

    table: dict[str, Any] = {name: instruction(name) for name in isa.INSTRUCTIONS}
    table |= {
        "nc_matmul": isa.nc_matmul(is_old),
        "dma_copy": isa.dma_copy,
        "dma_transpose": isa.dma_transpose,
        "register_alloc": _register_alloc,
        "register_load": _register_load,
        "register_move": _register_move,
        "VirtualRegister": Register,
        "nc_version": NcVersion,
        "get_nc_version": lambda: NcVersion.gen3,
        "engine": language.tokens("engine", *ENGINES),
        "dge_mode": language.tokens("dge_mode", "none", "swdge", "hwdge", "unknown"),
        "oob_mode": language.tokens("oob_mode", "error", "skip"),
        "reduce_cmd": language.tokens(
            "reduce_cmd", "idle", "reset", "reduce", "reset_reduce", "load_reduce"
        ),
    }
    return table | {f"{name}_engine": table["engine"].__dict__[name] for name in ENGINES}


def _register_alloc(value: Any = None) -> Register:
    if isinstance(value, Tensor):
        return Register((value.operand(), *value.also))
    return Register()


def _register_move(dst: Register, imm: object = 0) -> Register:
    dst.load(imm.reads if isinstance(imm, Register) else ())
    return dst


def _register_load(dst: Register, src: Tensor) -> Register:
    dst.load((src.operand(), *src.also))
    return dst


def _package(root: str, is_old: bool) -> dict[str, ModuleType]:
    jits = ("jit", "trace", "baremetal", "benchmark", "profile") if is_old else ("jit",)
    parts = {
        "language": language.names(is_old),
        "isa": _isa_names(is_old),
        "typing": {"tensor": Tensor, "mutable_tensor": Tensor},
        "dtype": dict(DTYPES),
    }
    modules = {f"{root}.{part}": StandIn(f"{root}.{part}", table) for part, table in parts.items()}
    short = {part: modules[f"{root}.{part}"] for part in parts}
    simulate = {"simulate_kernel" if is_old else "simulate": jit}
    top = StandIn(root, {**dict.fromkeys(jits, jit), **short, **simulate})
    return {root: top, **modules}


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
