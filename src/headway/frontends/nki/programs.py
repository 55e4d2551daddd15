"""The programs of a launch grid, one after the other: a nest of loops around the kernel.

Tensors in memory that programs share are made by the first of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from headway.errors import Location
from headway.frontends.nki.launch import Launch, Running
from headway.frontends.nki.places import here, problem
from headway.frontends.nki.record import Recorder, recorder
from headway.frontends.nki.tensor import sequence


def programs(recorder: Recorder, launch: Launch, at: Location) -> Iterator[None]:
    """Yield once for each program that is traced."""
    if launch.program is not None:
        yield
        return
    before, recorder.program_levels = recorder.program_levels, len(launch.grid)
    yield from _along(recorder, launch.grid, (), at)
    recorder.program_levels = before


def _along(
    recorder: Recorder, grid: tuple[int, ...], program: tuple[int, ...], at: Location
) -> Iterator[None]:
    axis = len(program)
    if axis == len(grid):
        recorder.running = Running(grid, program)
        yield
        return
    loop = recorder.open_python_loop(f"program_{axis}", at)
    for number in range(grid[axis]):
        recorder.next_iteration(loop)
        yield from _along(recorder, grid, (*program, number), at)
    recorder.close(loop)


def launched(function: Callable[..., Any], grid: object) -> Callable[..., Any]:
    """Return a kernel that runs all programs of a grid. Raise InvalidProgram inside of a kernel."""
    extents = tuple(int(extent) for extent in sequence(grid))
    now = recorder()
    if all(extent == 1 for extent in extents):
        return function
    if not now.is_host or now.running.grid or now.level:
        raise problem(
            f"a launch grid of {grid} inside of a kernel",
            rule="the grid is that of the kernel that is traced",
            help="trace the inner kernel itself with --grid",
        )

    def launch(*args: Any, **keywords: Any) -> Any:
        returned: Any = None
        for _ in programs(now, Launch(extents, None), here()):
            returned = function(*args, **keywords)
        now.running = Running((), ())
        return returned

    return launch
