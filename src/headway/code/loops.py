"""Compiled loops, kept as object code: only who compiles them imports numba.

To import numba and prepare it takes a second, to load an object some milliseconds. It is written
beside the module that it is compiled from (to the user's cache if that folder cannot be written),
and compiled again when a source, LLVM or the processor has changed.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from headway.code.arrays import Ints, Longs

DTYPES = {"Longs": np.dtype(np.int64), "Ints": np.dtype(np.int32)}
"""Kinds of arrays by the names of their annotations; they are passed by address."""

NUMBER = "int"

BARE = {"error_model": "numpy", "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options with which numba's code needs nothing of Python: nothing is raised, nothing wrapped."""


class Object(NamedTuple):
    """A compiled function: what was compiled and for whom, its symbol, kinds of arguments, code."""

    origin: str
    symbol: str
    kinds: tuple[str, ...]
    code: bytes

    def to_bytes(self) -> bytes:
        """Return the content of a file, digest first."""
        facts = " ".join((self.origin, self.symbol, ",".join(self.kinds))).encode()
        content = facts + b"\n" + self.code
        return sha256(content).digest() + content

    @staticmethod
    def from_bytes(data: bytes) -> Object | None:
        """Return what `to_bytes` wrote, None if it is anything else."""
        digest, content = data[:32], data[32:]
        if sha256(content).digest() != digest:
            return None
        facts, _, code = content.partition(b"\n")
        origin, symbol, kinds = facts.decode().split(" ")
        return Object(origin, symbol, tuple(kinds.split(",")), code)


@dataclass(frozen=True)
class Loop:
    """The function `name` of `module`, which imports numba; here it need not be imported.

    Its parameters are annotated `Longs`, `Ints` or `int`, and it returns an `int`.
    """

    module: str
    name: str

    def __call__(self, *arguments: Longs | Ints | int) -> int:
        """Run it, other threads meanwhile. Raise TypeError on arguments of other kinds."""
        kinds, function = self._native
        if len(arguments) != len(kinds):
            raise TypeError(f"{self.name} takes {len(kinds)} arguments, not {len(arguments)}")
        result, failure = ctypes.c_int64(), ctypes.c_void_p()
        passed = map(_passed, kinds, arguments)
        if function(ctypes.byref(result), ctypes.byref(failure), *passed):
            raise SystemError(f"{self.name} failed")
        return result.value

    @cached_property
    def _native(self) -> tuple[tuple[str, ...], Callable[..., int]]:
        found = self._kept() or self._compiled()
        address = _linked(found)
        types = (ctypes.c_int64 if kind == NUMBER else ctypes.c_void_p for kind in found.kinds)
        # Numba's convention: status f(result*, failure**, arguments).
        prototype = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *types)
        return found.kinds, prototype(address)

    @property
    def _source(self) -> Path:
        spec = find_spec(self.module)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(self.module)
        return Path(spec.origin)

    def _files(self) -> Iterator[Path]:
        """Yield where the object may lie."""
        cached = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "headway"
        for folder in (self._source.parent / "__pycache__", cached):
            yield folder / f"{self.module}.{self.name}.{_llvm().get_host_cpu_name()}.o"

    def _kept(self) -> Object | None:
        origin = fingerprint(self._source.parent)
        for path in self._files():
            with suppress(OSError):
                found = Object.from_bytes(path.read_bytes())
                if found and found.origin == origin:
                    return found
        return None

    def _compiled(self) -> Object:
        """Compile, and keep the result where that can be written."""
        found = _compiled(fingerprint(self._source.parent), self.module, self.name)
        for path in self._files():
            with suppress(OSError):
                _write(path, found.to_bytes())
                break
        return found


def _passed(kind: str, argument: Longs | Ints | int) -> int:
    """Return a number, or the address of an array."""
    if isinstance(argument, np.ndarray):
        if argument.dtype == DTYPES.get(kind) and argument.flags.c_contiguous:
            return argument.ctypes.data
    elif kind == NUMBER:
        return int(argument)
    raise TypeError(f"{argument!r} is not {kind}")


@cache
def _llvm() -> Any:
    """Return LLVM, ready to make code for this machine."""
    llvm = import_module("llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@cache
def fingerprint(folder: Path) -> str:
    """Return a digest of this package and the one in `folder`, of LLVM and of the processor.

    Each version of numba needs one version of LLVM.
    """
    llvm = _llvm()
    machine = (llvm.get_process_triple(), llvm.get_host_cpu_name(), _features())
    digest = sha256(repr((import_module("llvmlite").__version__, *machine)).encode())
    for file in sorted({*folder.glob("*.py"), *Path(__file__).parent.glob("*.py")}):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _features() -> str:
    return _llvm().get_host_cpu_features().flatten()


def _compiled(origin: str, module: str, name: str) -> Object:
    numba: Any = import_module("numba")
    number, pointer = numba.types.int64, numba.types.CPointer
    types = {
        "Longs": pointer(numba.types.int64),
        "Ints": pointer(numba.types.int32),
        NUMBER: number,
    }
    function = getattr(import_module(module), name)
    kinds = tuple(kind for of, kind in function.__annotations__.items() if of != "return")
    signature = number(*(types[kind] for kind in kinds))
    jitted = numba.njit(signature, **BARE)(function)
    (overload,) = jitted.overloads.values()
    text = jitted.inspect_llvm(signature.args)
    return Object(origin, overload.fndesc.llvm_func_name, kinds, _emitted(text))


def _machine() -> Any:
    llvm = _llvm()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    options = {"cpu": llvm.get_host_cpu_name(), "features": _features(), "opt": 3, "jit": True}
    return target.create_target_machine(**options)


def _emitted(text: str) -> bytes:
    """Return optimized LLVM code as an object for this machine, which needs no other code."""
    module = _llvm().parse_assembly(text)
    needed = {f.name for f in module.functions if f.is_declaration}
    assert all(name.startswith("llvm.") for name in needed), needed
    return _machine().emit_object(module)


@cache
def _linked(found: Object) -> int:
    """Return the address of the function; its code stays as long as this process."""
    llvm = _llvm()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(found.code))
    engine.finalize_object()
    _ENGINES.append(engine)
    return engine.get_function_address(found.symbol)


_ENGINES: list[Any] = []


def _write(path: Path, data: bytes) -> None:
    """Write a file that others may read at any time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}")
    new.write_bytes(data)
    new.replace(path)
