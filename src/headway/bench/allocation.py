"""Buffers by hand beside automatic ones: latency, and what tiles take of each partition.

For some kernels of the suite the hand is `kernels/nki/by_hand.py`, with an address for every tile;
the automatic allocator gets the plain loops. The others, and kernels of packages, place nothing
themselves: for them the hand is double buffering, two slots for whatever is allocated in a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headway import kernels, targets
from headway.bench.tables import table
from headway.comparison import duration
from headway.compiler import synchronize
from headway.errors import HeadwayError, InvalidInput
from headway.frontends import ArgSpec, Trace, record
from headway.frontends.nki.memory import Buffers
from headway.frontends.nki.packaged import KERNELS
from headway.ir.expr import Inputs
from headway.kernels._traced import FOLDER
from headway.sim import simulate, simulate_ideal
from headway.targets import Target
from headway.values import Traced

TARGET = "trn2"
EVEN = 0.001
"""Times that differ by no more than that are the same."""

_ROW = "float32[1,1024]"
_ROWS = "float32[4096,1024]"
SUITE: Mapping[str, Mapping[str, str]] = {
    "calibration_loop": {"x": "float32[4096,2048]"},
    "matmul": {"a": "float32[1024,512]", "b": "float32[1024,1024]"},
    "maxpool": {"image": "float32[2050,514]"},
    "rmsnorm": {"x": _ROWS, "gamma": _ROW},
    "softmax": {"x": _ROWS},
    "transpose": {"x": "float32[8192,128]", "identity": "float32[128,128]"},
}
"""The kernels with an address for every tile, and their arguments."""

Allocated = Callable[[Buffers], Traced]


@dataclass(frozen=True, slots=True)
class Point:
    """One kernel; `package` is empty for those of the suite."""

    kernel: str
    package: str = ""

    @property
    def title(self) -> str:
        """What is measured, in words."""
        return f"buffers of {' '.join(filter(None, (self.package, self.kernel)))}"

    def measure(self) -> dict[str, Any]:
        """Return both kinds of allocation; one that is impossible has its reason instead."""
        by_hand, way, plain, inputs = self._allocations()
        return {
            "table": "allocation",
            "kernel": self.kernel,
            "package": self.package,
            "hand": _measured(by_hand, way, inputs),
            "automatic": _measured(plain, "automatic", inputs),
        }

    def _allocations(self) -> tuple[Allocated, Buffers, Allocated, Inputs]:
        """Return what allocates by hand, how, what does automatically, and the inputs."""
        if self.package:
            (known,) = (k for k in KERNELS if (k.package, k.name) == (self.package, self.kernel))
            plain = _traced(known.record())
            return plain, 2, plain, {}
        if self.kernel in SUITE:
            specs = {name: ArgSpec.parse(text) for name, text in SUITE[self.kernel].items()}
            by_hand = _traced(record(FOLDER / "by_hand.py", self.kernel, specs))
            one = specs | {"tiles": ArgSpec.parse("1")}
            plain = _traced(record(FOLDER / f"{self.kernel}.py", self.kernel, one))
            return by_hand, "as-written", plain, {}
        kernel = kernels.load(self.kernel)
        source = kernel.source
        if source is None:
            raise InvalidInput(f"kernel {self.kernel!r} has no NKI source")

        def static(buffers: Buffers) -> Traced:
            return source.traced(1, buffers, kernel.inputs, kernel.per_tile, static=1)

        return static, 2, static, kernel.usual(static(2).program)


def _traced(trace: Trace) -> Allocated:
    return lambda buffers: trace.traced({}, buffers)


def _measured(allocated: Allocated, buffers: Buffers, inputs: Inputs) -> dict[str, Any]:
    try:
        traced = allocated(buffers)
    except HeadwayError as error:
        return {"error": error.diagnostics[0].message}
    on: Target = targets.load(TARGET)
    timeline = simulate(synchronize(traced.program, on, "counted"), inputs, on)
    used = traced.values.bytes_used
    return {
        "latency_ns": timeline.latency,
        "ideal_ns": simulate_ideal(targets.bind(traced.program, on), inputs, on).latency,
        "sbuf": used("sbuf"),
        "psum": used("psum"),
    }


def points() -> Iterator[Point]:
    """Return a point for each kernel that is there."""
    yield from map(Point, SUITE)
    others = (name for name in kernels.names() if name.replace("-", "_") not in SUITE)
    yield from (Point(name) for name in others if kernels.load(name).source)
    yield from (Point(k.name, k.package) for k in KERNELS if k.is_installed())


def ratio(result: Mapping[str, Any]) -> float | None:
    """Return how long automatic buffers take over those by hand, if both are possible."""
    hand, automatic = result["hand"], result["automatic"]
    if "error" in hand or "error" in automatic:
        return None
    return automatic["latency_ns"] / hand["latency_ns"]


def section(results: list[dict[str, Any]]) -> str:
    """Return the part of the page of results."""
    head = (
        "kernel",
        "by hand",
        "automatic",
        "ratio",
        "SBUF by hand",
        "automatic",
        "PSUM by hand",
        "automatic",
    )
    ratios = [found for result in results if (found := ratio(result)) is not None]
    as_good = sum(found <= 1 + EVEN for found in ratios)
    return "\n\n".join(
        [
            "## Buffers by hand and automatic ones",
            TEXT,
            table(head, map(_row, results)),
            f"Automatic buffers are as fast or faster in {as_good} of {len(ratios)}.",
            *(_loss(r) for r in results if (found := ratio(r)) is not None and found > 1 + EVEN),
        ]
    )


def _loss(result: Mapping[str, Any]) -> str:
    """Say why automatic buffers are slower: allocation is a matter of the ideal machine too."""
    by_hand, automatic = (duration(result[kind]["ideal_ns"]) for kind in ("hand", "automatic"))
    return (
        f"`{result['kernel']}`: the ideal machine takes {by_hand} with the buffers by hand and"
        f" {automatic} with the automatic ones. With more slots loads run further ahead, and take"
        " the bandwidth that all transfers share before the stores do."
    )


TEXT = f"""\
`counted` on trn2, and the bytes that tiles take of each partition. In the first {len(SUITE)}
kernels, of the suite, every tile has [an address by
hand](../src/headway/kernels/nki/by_hand.py), with double buffers, and the allocator gets the plain
loops. The others of the suite and those of packages place nothing themselves: by hand means two
slots for what is allocated in a loop. The allocator takes what room there is, up to eight slots."""


def _row(result: Mapping[str, Any]) -> tuple[str, ...]:
    hand, automatic, found = result["hand"], result["automatic"], ratio(result)
    sides = (hand, automatic)
    return (
        f"{result['package']} `{result['kernel']}`".strip(),
        *(one.get("error") or duration(one["latency_ns"]) for one in sides),
        "-" if found is None else f"{found:.3f}",
        *(f"{one['sbuf']:,}" if "sbuf" in one else "-" for one in sides),
        *(f"{one['psum']:,}" if "psum" in one else "-" for one in sides),
    )
