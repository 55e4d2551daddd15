"""Placeholders for frameworks that kernel files import and kernels do not use, such as torch.

A placeholder may be named, called, subclassed and used as an annotation, all of which happens when
a file is imported. Using one as a value (in arithmetic, in a decision) is a TypeError, and it takes
no tensors.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from headway.frontends.nki.places import problem
from headway.frontends.nki.record import is_recording
from headway.frontends.nki.tensor import Tensor

FRAMEWORKS = frozenset(
    {
        "jax",
        "libneuronxla",
        "ml_dtypes",
        "neuronx_distributed",
        "neuronx_distributed_inference",
        "numpy",
        "scipy",
        "torch",
        "torch_neuronx",
        "torch_xla",
        "transformers",
    }
)


class Placeholder:
    """Something of a framework that is not installed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Placeholder:
        if name.startswith("__"):
            raise AttributeError(name)
        return Placeholder(f"{self._name}.{name}")

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Return a decorated function unchanged; anything else gives another placeholder."""
        if is_recording() and any(isinstance(a, Tensor) for a in (*args, *keywords.values())):
            raise problem(
                f"{self._name} is called with a tensor and is not installed",
                help="install the package, or put its file beside the kernel",
            )
        if len(args) == 1 and not keywords and callable(args[0]):
            return args[0]
        return Placeholder(f"{self._name}()")

    def __getitem__(self, index: object) -> Placeholder:
        return Placeholder(f"{self._name}[]")

    def __or__(self, other: object) -> Placeholder:
        return self

    __ror__ = __or__

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        return (object,)

    def __bool__(self) -> bool:
        raise TypeError(f"{self._name} is not installed, and its value is needed")

    # With items by number alone Python would ask for one after the other, without end.
    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{self._name} is not installed, and its value is needed")

    def __repr__(self) -> str:
        return f"<{self._name}, not installed>"


class _Module(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Placeholder(f"{self.__name__}.{name}")

    # What is imported from a module that knows some names of its own is taken for a part of it.
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return Placeholder(self.__name__)(*args, **keywords)


def _is_private(name: str) -> bool:
    """Tell whether a module belongs to the vendor's compiler, or to kernels that come with it."""
    root, *parts = name.split(".")
    if root == "neuronxcc" and parts[0] != "nki":
        return True
    inside = parts[1:] if root == "neuronxcc" else parts
    is_vendors = root in ("neuronxcc", "nki") and bool(inside)
    return is_vendors and (inside[0].startswith("_") or inside[0] in ("kernels", "nccl"))


class Finder(MetaPathFinder, Loader):
    """Finds what nobody else has found, of known frameworks and of `missing` packages only.

    The vendor's packages are known, but for what is private in them: that is stood in for too.
    """

    def __init__(self) -> None:
        self.missing: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] in FRAMEWORKS | self.missing or _is_private(fullname):
            return ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it is."""


def missing() -> tuple[str, ...]:
    """Return the packages that are stood in for now."""
    names = {n.partition(".")[0] for n, m in sys.modules.items() if isinstance(m, _Module)}
    return tuple(sorted(names))


@contextmanager
def active() -> Generator[Finder]:
    """Let imports of frameworks that are missing succeed."""
    finder = Finder()
    sys.meta_path.append(finder)
    try:
        yield finder
    finally:
        sys.meta_path.remove(finder)
        for name in [n for n, module in sys.modules.items() if isinstance(module, _Module)]:
            del sys.modules[name]
