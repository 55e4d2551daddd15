"""From a kernel's file to a program: load, run, tidy, re-roll, prove, convert."""

from __future__ import annotations

import builtins
import inspect
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from headway.errors import Diagnostic, HeadwayError, InvalidInput, InvalidProgram, Location
from headway.frontends.nki import placeholders, standins
from headway.frontends.nki.arguments import ArgSpec
from headway.frontends.nki.convert import convert
from headway.frontends.nki.engines import DEFAULT, Policy
from headway.frontends.nki.expand import proved
from headway.frontends.nki.initialised import check_initialised
from headway.frontends.nki.keywords import takes_any
from headway.frontends.nki.launch import ONE, Launch, Running
from headway.frontends.nki.loading import STOPPED, find_file, loaded, raised
from headway.frontends.nki.loops import TracedRange
from headway.frontends.nki.memory import DEFAULT_BUFFERS, Buffers
from headway.frontends.nki.places import forget, location
from headway.frontends.nki.programs import programs
from headway.frontends.nki.record import Recorder, Storage, TraceNode, recording
from headway.frontends.nki.reroll import Reroller, Rolled, RolledNode
from headway.frontends.nki.standins import Kernel
from headway.frontends.nki.tensor import Tensor, sequence
from headway.frontends.nki.tidy import operations, tidy
from headway.ir.program import Program
from headway.ir.walk import deep_nests, no_collection
from headway.values.program import Traced

ROLLED, AS_WRITTEN = "rolled", "as-written"


@dataclass(frozen=True, slots=True)
class Trace:
    """A traced kernel: what was recorded, and the same with its loops rolled.

    `missing` are the packages that its file imports and that were stood in for; `stopped` is what
    ended the execution of its file, if it did not come to its end.
    """

    name: str
    recorded: list[TraceNode]
    rolled: tuple[RolledNode, ...]
    at: Location
    missing: tuple[str, ...] = ()
    arguments: Mapping[str, Storage] = field(default_factory=dict[str, Storage])
    results: tuple[Storage, ...] = ()
    stopped: str = ""

    @property
    def recorded_operations(self) -> int:
        """The number of operations that the kernel executed."""
        return sum(1 for _ in operations(self.recorded))

    @property
    def rolled_operations(self) -> int:
        """The number of operations that are left with loops rolled."""
        return _count(self.rolled)

    def program(
        self,
        dynamic_bounds: Mapping[str, str] | None = None,
        buffers: Buffers = DEFAULT_BUFFERS,
        policy: Policy = DEFAULT,
    ) -> Program:
        """Return the sequential program. Raise InvalidInput on a bound that no loop can have."""
        return self.traced(dynamic_bounds, buffers, policy).program

    def traced(
        self,
        dynamic_bounds: Mapping[str, str] | None = None,
        buffers: Buffers = DEFAULT_BUFFERS,
        policy: Policy = DEFAULT,
    ) -> Traced:
        """Return the sequential program with what it computes. Raise likewise."""
        if isinstance(buffers, int) and buffers < 1:
            raise InvalidInput(f"{buffers} buffers: a tile needs at least 1")
        bounds = dynamic_bounds or {}
        with deep_nests():
            return convert(
                self.name,
                self.recorded,
                self.rolled,
                bounds,
                buffers,
                self.at,
                self.arguments,
                self.results,
                policy,
            )


def _count(nodes: tuple[RolledNode, ...]) -> int:
    return sum(_count(node.body) if isinstance(node, Rolled) else 1 for node in nodes)


def trace(
    source: str | Path | Callable[..., Any],
    kernel: str | None = None,
    args: Mapping[str, ArgSpec] | None = None,
    *,
    launch: Launch = ONE,
    loops: str = ROLLED,
    dynamic_bounds: Mapping[str, str] | None = None,
    buffers: Buffers = DEFAULT_BUFFERS,
    policy: Policy = DEFAULT,
) -> Program:
    """Return the sequential program of a kernel.

    `source` is a file, a dotted module name or a function; `kernel` its name in the file; `launch`
    the grid that it is launched with and the program of it that is traced.
    `dynamic_bounds` maps loops (`k`, or `k@LINE`) to the input that says how often they run;
    `buffers` is how many slots a tile has that is allocated in a loop, or "automatic", or, to put
    tiles where the kernel does, "as-written"; `policy` says which engines run what the kernel
    leaves open; with `loops="as-written"` only loops of the device stay loops.
    Raise HeadwayError, with the kernel's file and line, on anything that cannot be traced.
    """
    return record(source, kernel, args, launch, loops).program(dynamic_bounds, buffers, policy)


def record(
    source: str | Path | Callable[..., Any],
    kernel: str | None = None,
    args: Mapping[str, ArgSpec] | None = None,
    launch: Launch = ONE,
    loops: str = ROLLED,
) -> Trace:
    """Trace a kernel and roll its loops; `Trace.program` makes the program. Raise HeadwayError.

    With `loops="as-written"` what Python runs stays as it ran: only loops of the device are loops.
    """
    if loops not in (ROLLED, AS_WRITTEN):
        raise InvalidInput(f"loops {loops!r}: write {ROLLED} or {AS_WRITTEN}")
    forget()
    if not isinstance(source, str | Path):
        file = Path(inspect.getsourcefile(source) or "<kernel>")
        with standins.active(), _traced_range(source):
            name = getattr(source, "__name__", "kernel")
            return _record(source, file, name, args or {}, launch, loops)
    path = find_file(str(source))
    with loaded(path) as module:
        function = _kernel(module, kernel, path)
        name = kernel or function.__name__
        function, given = _made(function, args or {}, path, name)
        found = _record(function, path, name, given, launch, loops)
        stopped = str(vars(module).get(STOPPED, ""))
        return replace(found, missing=placeholders.missing(), stopped=stopped)


@contextmanager
def _traced_range(function: Callable[..., Any]) -> Generator[None]:
    """Let a function that lives in a module of its own meet the range that is traced."""
    names = getattr(inspect.unwrap(function), "__globals__", {})
    before = names.get("range", builtins.range)
    names["range"] = TracedRange
    try:
        yield
    finally:
        names["range"] = before


def kernels(source: str | Path) -> tuple[str, ...]:
    """Return the names of the kernels of a file: its functions decorated with `jit`."""
    with loaded(find_file(str(source))) as module:
        return _marked(module)


def _marked(module: ModuleType) -> tuple[str, ...]:
    return tuple(name for name, value in vars(module).items() if isinstance(value, Kernel))


def _kernel(module: ModuleType, name: str | None, path: Path) -> Any:
    found = _marked(module)
    if name is None and len(found) == 1:
        return getattr(module, found[0])
    value: Any = module
    for part in (name or "").split("."):  # of a class too: FILE.py:CLASS.KERNEL
        value = getattr(value, part, None)
    if callable(value):
        return value
    listed = ", ".join(dict.fromkeys(found)) or "none"
    missing = "which kernel?" if name is None else f"there is no kernel {name!r} in {path}"
    stopped = vars(module).get(STOPPED)
    rule = f"the file was executed as far as {stopped}" if stopped else ""
    raise InvalidInput(Diagnostic(missing, rule=rule, help=f"kernels in this file: {listed}"))


def _made(
    function: Any, specs: Mapping[str, ArgSpec], path: Path, name: str
) -> tuple[Any, Mapping[str, ArgSpec]]:
    """Return the kernel that a function makes out of some of the arguments, and the others.

    What takes a tensor, or all arguments, is a kernel itself.
    """
    if isinstance(function, Kernel):
        return function, specs
    parameters = inspect.signature(inspect.unwrap(function)).parameters
    own = {n: spec for n, spec in specs.items() if n in parameters}
    others = {n: spec for n, spec in specs.items() if n not in parameters}
    if not others or takes_any(parameters) or any(spec.is_tensor for spec in own.values()):
        return function, specs
    if any(p.default is p.empty and n not in own for n, p in parameters.items()):
        return function, specs
    with _own_errors(path, name):
        made = function(**{n: spec.value for n, spec in own.items()})
    parts = sorted(sequence(made), key=lambda part: not isinstance(part, Kernel))
    kernel = next((part for part in parts if isinstance(part, Kernel | FunctionType)), None)
    return (function, specs) if kernel is None else (kernel, others)


def _record(
    function: Any,
    path: Path,
    name: str,
    specs: Mapping[str, ArgSpec],
    launch: Launch,
    loops: str,
) -> Trace:
    at = _definition(function, path)
    arguments = _arguments(function, name, specs, at)
    running = Running(launch.grid, launch.program or ())
    is_host = not isinstance(function, Kernel)
    with no_collection(), recording(Recorder(running, is_host)) as recorder:
        with _own_errors(path, name):  # Python's own limit ends a kernel that calls itself
            returned: object = None
            for _ in programs(recorder, launch, at):
                returned = function(**arguments)
        with deep_nests():
            recorded = tidy(recorder.body)
            check_initialised(recorded, recorder.skipped)
            rolled = proved(Reroller(loops == ROLLED).roll(recorded), recorded)
    tensors = {n: a.storage for n, a in arguments.items() if isinstance(a, Tensor)}
    results = tuple(r.storage for r in sequence(returned) if isinstance(r, Tensor))
    return Trace(name, recorded, rolled, at, (), tensors, results)


def _definition(function: Any, path: Path) -> Location:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return location(str(path), code.co_firstlineno if code else 1)


def _arguments(
    function: Any, name: str, specs: Mapping[str, ArgSpec], at: Location
) -> dict[str, object]:
    """Bind the arguments. Raise InvalidInput if one is missing or unknown."""
    parameters = inspect.signature(inspect.unwrap(function)).parameters
    needed = [
        n
        for n, p in parameters.items()
        if p.default is p.empty and p.kind < p.VAR_KEYWORD and p.kind is not p.VAR_POSITIONAL
    ]
    for given in specs:
        if given not in parameters and not takes_any(parameters):
            known = ", ".join(parameters)
            raise InvalidInput(
                Diagnostic(f"{name} has no argument {given!r}", at, help=f"arguments: {known}")
            )
    missing = [n for n in needed if n not in specs]
    if missing:
        raise InvalidInput(
            Diagnostic(
                f"{name} needs the arguments {', '.join(missing)}",
                at,
                help=" ".join(f"--arg {n}=float32[128,512]" for n in missing),
            )
        )
    return {n: spec.argument(n, number) for number, (n, spec) in enumerate(specs.items())}


@contextmanager
def _own_errors(path: Path, name: str) -> Generator[None]:
    """Turn an exception of the kernel's own code into an error with its line."""
    try:
        yield
    except HeadwayError:
        raise
    except (Exception, SystemExit) as error:
        raise InvalidProgram(raised(error, path, f"{name} cannot be traced")) from error
