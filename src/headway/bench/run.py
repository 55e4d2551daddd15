"""Measure many points side by side, keep each as it is done, go on where the last run stopped.

What was measured is kept in a file per point under `results/points`, named by a digest of the
point and of Headway's own code: a run after a change measures anew. Points are spread over the
cores of this machine, or over the workers of a Dask cluster.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import headway
from headway.errors import Diagnostic, InvalidInput

Result = dict[str, Any]
Progress = Callable[[str], None]


class Point(Protocol):
    """What is measured by itself. Its `repr` tells it from all others, and it can be pickled."""

    @property
    def title(self) -> str:
        """What is measured, in words."""
        ...

    def measure(self) -> Result:
        """Return what was found, as it is kept in JSON."""
        ...


def measured(
    points: Iterable[Point], folder: Path, executor: Executor, progress: Progress
) -> list[Result]:
    """Return the result of each point, in order; read those that `folder` has."""
    wanted = list(points)
    found = {point: result for point in wanted if (result := _read(folder, point))}
    missing = [point for point in wanted if point not in found]
    if found:
        progress(f"{len(found)} of {len(wanted)} points are there already")
    waiting: dict[Future[Result], Point] = {
        executor.submit(_measure, point): point for point in missing
    }
    try:
        for future in as_completed(waiting):
            point = waiting[future]
            found[point] = future.result()
            _write(folder, point, found[point])
            progress(f"{len(found)} of {len(wanted)}: {point.title}")
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        raise
    return [found[point] for point in wanted]


def _measure(point: Point) -> Result:
    return point.measure()


@contextmanager
def executor(jobs: int | None, scheduler: str | None) -> Generator[Executor]:
    """Give the processes of this machine, or the workers of the Dask scheduler at an address.

    Raise InvalidInput if Dask is not installed or the scheduler does not answer.
    """
    if scheduler is None:
        with ProcessPoolExecutor(jobs) as pool:
            yield pool
        return
    try:
        distributed: Any = import_module("distributed")  # an extra
    except ImportError as error:
        raise InvalidInput(
            Diagnostic(
                "a scheduler was named, but Dask is not installed",
                help="pip install 'headway[cluster]'",
            )
        ) from error
    try:
        client = distributed.Client(scheduler, timeout=10)
    except OSError as error:
        raise InvalidInput(
            Diagnostic(
                f"no Dask scheduler answers at {scheduler!r}",
                help="dask scheduler --port 8786; dask worker tcp://HOST:8786",
            )
        ) from error
    with client:
        yield client.get_executor(pure=False)


@cache
def _code() -> str:
    """Return a digest of Headway's code."""
    folder = Path(headway.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _path(folder: Path, point: Point) -> Path:
    name = hashlib.sha256(f"{_code()} {point!r}".encode()).hexdigest()[:24]
    return folder / f"{name}.json"


def _read(folder: Path, point: Point) -> Result | None:
    try:
        return json.loads(_path(folder, point).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _write(folder: Path, point: Point, result: Result) -> None:
    """Write as a whole or not at all: a run may be stopped at any time."""
    path = _path(folder, point)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(result) + "\n", encoding="utf-8")
    draft.replace(path)
