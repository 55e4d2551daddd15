"""The loops of a kernel: `range` and its kin, run by Python, and loops that the device runs."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, cast

from headway.frontends.nki.affine import Number, Sym, iteration
from headway.frontends.nki.places import here, loop_name, problem
from headway.frontends.nki.record import is_recording, recorder
from headway.frontends.nki.registers import Register
from headway.frontends.nki.tensor import index_operands


class TracedRange:
    """`range`, whose iterations the recorder sees."""

    def __init__(self, *bounds: Any) -> None:
        if any(isinstance(b, Register | Sym) for b in bounds):
            raise problem(
                "the bound of a Python loop is known only when the kernel runs",
                help="use nl.dynamic_range or nl.fori_loop",
            )
        self._range = builtins.range(*(int(bound) for bound in bounds))

    def __iter__(self) -> Iterator[int]:
        return _iterations(self._range) if is_recording() else iter(self._range)

    def __len__(self) -> int:
        return len(self._range)

    def __getitem__(self, index: Any) -> Any:
        return cast(Any, self._range)[index]

    def __contains__(self, value: object) -> bool:
        return value in self._range

    def __reversed__(self) -> Iterator[int]:
        return _iterations(self._range[::-1]) if is_recording() else reversed(self._range)

    def __eq__(self, other: object) -> bool:
        return self._range == (other._range if isinstance(other, TracedRange) else other)

    def __hash__(self) -> int:
        return hash(self._range)


def _iterations(values: builtins.range) -> Iterator[int]:
    at = here()
    trace = recorder()
    loop = trace.open_python_loop(loop_name(at, "i"), at)
    try:
        for value in values:
            trace.next_iteration(loop)
            yield value
    finally:
        trace.close(loop)  # also after `break`, when the iterator dies


def dynamic_range(start: Any, stop: Any = None, step: int = 1) -> Iterator[Number | Register]:
    """Yield once: the index of a loop that the device runs."""
    start, stop = _bounds(start, stop)
    step = int(step)
    at = here()
    trace = recorder()
    loop = trace.open_device_loop(
        loop_name(at, "i"), at, _trip(start, stop, step), _loaded(start, stop)
    )
    try:
        yield _index(start, step, loop.level)
    finally:
        trace.close(loop)


def affine_range(start: Any, stop: Any = None, step: Any = 1) -> Any:
    """Loop in Python, or on the device if a bound is known only there."""
    if any(isinstance(bound, Register) for bound in (start, stop, step)):
        return dynamic_range(start, stop, step)
    return static_range(start, stop, step)


def static_range(start: Any, stop: Any = None, step: Any = 1) -> TracedRange:
    """Loop in Python."""
    return TracedRange(*_bounds(start, stop), step)


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any], object], step: int = 1) -> None:
    """Record the body once: a loop that the device runs."""
    at = here()
    trace = recorder()
    loop = trace.open_device_loop(
        _parameter(body_fun, "i"), at, _trip(lower, upper, step), _loaded(lower, upper)
    )
    body_fun(_index(lower, step, loop.level))
    trace.close(loop)


def while_loop(init: Any, body_fun: Callable[[Any], object]) -> None:
    """Record the body once; it returns the condition of the next turn."""
    at = here()
    trace = recorder()
    first = init if isinstance(init, Register) else Register()
    name = _parameter(body_fun, "turn")
    loop = trace.open_device_loop(name, at, None, first.reads, is_while=True)
    after = body_fun(first)
    if isinstance(after, Register):
        loop.reads = tuple(dict.fromkeys((*loop.reads, *after.reads)))
    trace.close(loop)


@contextmanager
def do_while(condition: Any) -> Generator[None]:
    """Record the body of a `with` once: a loop that runs until its condition in memory is zero."""
    at = here()
    trace = recorder()
    reads = condition.reads if isinstance(condition, Register) else index_operands(condition)
    loop = trace.open_device_loop("turn", at, None, reads, is_while=True)
    yield
    trace.close(loop)


def _parameter(body: Callable[[Any], object], default: str) -> str:
    code = getattr(body, "__code__", None)
    return code.co_varnames[0] if code is not None and code.co_argcount else default


def _bounds(start: Any, stop: Any) -> tuple[Any, Any]:
    return (0, start) if stop is None else (start, stop)


def _trip(start: Any, stop: Any, step: int) -> int | None:
    if isinstance(start, int) and isinstance(stop, int):
        return len(builtins.range(start, stop, step))
    return None


def _loaded(*bounds: Any) -> tuple[Any, ...]:
    return tuple(
        dict.fromkeys(operand for b in bounds if isinstance(b, Register) for operand in b.reads)
    )


def _index(start: Any, step: int, level: int) -> Number | Register:
    """The index is affine in the iteration unless its start is known only on the device."""
    if isinstance(start, Register):
        return Register(start.reads)
    return iteration(level) * step + start
