"""Load the file of a kernel, unmodified, without running the packages around it.

The packages above the file are stood in for by empty modules with the right path, so that relative
imports work and their `__init__` files, which may need a framework, do not run.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager, redirect_stdout
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import CodeType, ModuleType

from headway.errors import Diagnostic, HeadwayError, InvalidInput
from headway.frontends.nki import placeholders, standins
from headway.frontends.nki.loops import TracedRange
from headway.frontends.nki.places import diagnostic, location

STOPPED = "__stopped__"
"""What ended the execution of a file, in it: files that try their kernels compute nothing here."""


def find_file(source: str) -> Path:
    """Return the file that `source` names: a path, or a dotted module name. Raise InvalidInput."""
    path = Path(source)
    if source.endswith(".py") or path.exists():
        if path.is_file():
            return path.resolve()
        raise InvalidInput(Diagnostic(f"there is no file {source!r}"))
    found = _module_file(source)
    if found is None:
        raise InvalidInput(
            Diagnostic(
                f"there is no module {source!r}",
                help="give the path of the kernel's file, or install the package it comes in",
            )
        )
    return found


def _module_file(name: str) -> Path | None:
    """Find a module under its top package without importing anything."""
    root, _, rest = name.partition(".")
    try:
        spec = find_spec(root)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    if not rest:
        return Path(spec.origin) if spec.origin else None
    for folder in spec.submodule_search_locations or ():
        base = Path(folder, *rest.split("."))
        for candidate in (base.with_suffix(".py"), base / "__init__.py"):
            if candidate.is_file():
                return candidate.resolve()
    return None


@contextmanager
def loaded(path: Path) -> Generator[ModuleType]:
    """Execute a file with the stand-ins in place, and forget it afterwards. Raise HeadwayError."""
    quiet = redirect_stdout(sys.stderr)  # kernels print, and programs are written to stdout
    with (
        standins.active(),
        placeholders.active() as finder,
        _scratch_modules(path),
        _vendors_logging(),
        quiet,
    ):
        name, parents = _package(path)
        for parent, folder in parents:
            hollow = ModuleType(parent)
            hollow.__path__ = [str(folder)]
            sys.modules[parent] = hollow
        yield _execute(name, path, finder)


@contextmanager
def _vendors_logging() -> Generator[None]:
    """Give `logging` the level that the vendor's compiler adds; undo what the file disables."""
    before = logging.root.manager.disable
    logging.__dict__["OFF"] = logging.CRITICAL + 10
    try:
        yield
    finally:
        del logging.__dict__["OFF"]
        logging.disable(before)


def _package(path: Path) -> tuple[str, list[tuple[str, Path]]]:
    """Return the dotted name of a file, and the packages above it with their folders."""
    folders: list[Path] = []
    folder = path.parent
    while (folder / "__init__.py").is_file():
        folders.insert(0, folder)
        folder = folder.parent
    names = [f.name for f in folders]
    dotted = [".".join(names[: i + 1]) for i in range(len(names))]
    return ".".join([*names, path.stem]), list(zip(dotted, folders, strict=True))


def _execute(name: str, path: Path, finder: placeholders.Finder) -> ModuleType:
    """Execute the file; packages that it imports outright and that are missing are stood in for."""
    while True:
        try:
            return _executed(name, path)
        except ModuleNotFoundError as error:
            missing = (error.name or "").partition(".")[0]
            if not missing or missing in finder.missing or missing in sys.modules:
                raise InvalidInput(raised(error, path, "the file cannot be imported")) from error
            finder.missing.add(missing)


class _AsItIs(SourceFileLoader):
    """Compiles a file as it is now: what is cached may be older, of the same second and size."""

    def get_code(self, fullname: str) -> CodeType:
        """Return the compiled file. Raise SyntaxError."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _executed(name: str, path: Path) -> ModuleType:
    if path.suffix != ".py":
        raise InvalidInput(Diagnostic(f"{str(path)!r} is not a Python file"))
    loader = _AsItIs(name, str(path))
    spec = ModuleSpec(name, loader, origin=str(path))
    spec.has_location = True  # files look for others beside `__file__`
    module = module_from_spec(spec)
    module.__dict__["range"] = TracedRange
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except (HeadwayError, ModuleNotFoundError):
        raise
    except SyntaxError as error:
        at = location(error.filename or str(path), error.lineno or 1)
        raise InvalidInput(diagnostic(f"not Python: {error.msg}", at)) from None
    except (Exception, SystemExit) as error:
        if not any(isinstance(value, standins.Kernel) for value in vars(module).values()):
            raise InvalidInput(raised(error, path, "the file cannot be imported")) from error
        at = raised(error, path, "").at
        vars(module)[STOPPED] = f"{at}: {type(error).__name__}: {error}"
    _trace_ranges(path)
    return module


def raised(error: BaseException, path: Path, fact: str) -> Diagnostic:
    """Return the message for an exception of the kernel's own code, at its innermost line there."""
    lines = [str(path), 1]
    traceback = error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if Path(file).parent == path.parent:
            lines = [file, traceback.tb_lineno]
        traceback = traceback.tb_next
    text = " ".join(str(error).split())
    at = location(str(lines[0]), int(lines[1]))
    help = ""
    if "truth value of an array" in text:
        help = "join masks with & and |, not with 'and' and 'or': (i < 3) & (j < 4)"
    if "does not support ufuncs" in text:
        help = "functions of tiles are those of nl: nl.exp, not np.exp"
    return diagnostic(f"{fact}: {type(error).__name__}: {text}", at, help=help)


@contextmanager
def _scratch_modules(path: Path) -> Generator[None]:
    """Take out of sys.modules again what lies beside the kernel: it holds stand-ins."""
    beside = _Beside(path)
    hidden = {n: m for n, m in sys.modules.items() if beside.is_package_part(m)}
    for name in hidden:
        del sys.modules[name]
    before = set(sys.modules)
    folders = list(dict.fromkeys((beside.search_path, str(path.parent))))
    sys.path[:0] = folders
    try:
        yield
    finally:
        for folder in folders:
            sys.path.remove(folder)
        for name in set(sys.modules) - before:
            if beside.holds(sys.modules[name]):
                del sys.modules[name]
        sys.modules.update(hidden)


def _trace_ranges(path: Path) -> None:
    """Give the kernel's helper modules the range that is traced."""
    beside = _Beside(path)
    for module in list(sys.modules.values()):
        if beside.holds(module):
            module.__dict__.setdefault("range", TracedRange)


class _Beside:
    """Tells which modules belong to a kernel's file: its package, and the files in its folder."""

    def __init__(self, path: Path) -> None:
        folders = _package(path)[1]
        root = folders[0][1] if folders else path
        self.search_path = str(root.parent)
        self._package = f"{root}{os.sep}" if folders else str(path)
        self._folder = str(path.parent)

    def is_package_part(self, module: object) -> bool:
        """Whether a module lies in the kernel's package, or is the kernel's file."""
        return f"{_place(module)}{os.sep}".startswith(self._package)

    def holds(self, module: object) -> bool:
        """Whether a module lies in the kernel's package or in its folder."""
        return self.is_package_part(module) or os.path.dirname(_place(module)) == self._folder


def _place(module: object) -> str:
    """Return the file of a module, or the folder of a package without one."""
    file = getattr(module, "__file__", None)
    if isinstance(file, str):
        return file
    folders: Iterable[object] = getattr(module, "__path__", ())
    try:
        folder = next(iter(folders), "")
    except KeyError:  # a package without files whose parent is no longer loaded
        return ""
    return folder if isinstance(folder, str) else ""
