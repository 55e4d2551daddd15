"""The calibration loop on trn1 beside the times that others measured on hardware.

The public times are from the NKI documentation (dynamic loops, trn1, 64 iterations). Run
`python -m headway.bench.calibration` for the table.
"""

from __future__ import annotations

from dataclasses import dataclass

from headway import kernels
from headway.compiler import aligned, synchronize
from headway.sim import simulate

TARGET = "trn1"
ITERATIONS = 64


@dataclass(frozen=True, slots=True)
class Point:
    """A published time per tile, and the strategy that models how the loop was run."""

    form: str
    public_us: float
    strategy: str
    tiles: int

    def simulated_us(self) -> float:
        """Return the time per tile on the simulated target."""
        program = kernels.load("calibration-loop").program(tiles=self.tiles)
        iterations = ITERATIONS // self.tiles
        timeline = simulate(synchronize(program, TARGET, self.strategy), {"n": iterations})
        return timeline.latency / (iterations * self.tiles) / 1000


POINTS = (
    Point("unrolled loop", 7.5, "scoreboard", 1),
    Point("device loop, a barrier per tile", 17.9, "barrier", 1),
    Point("device loop, a barrier per four tiles", 10.2, "barrier", 4),
)


def table() -> str:
    """Return the points as a table."""
    rows = [["us per tile", "public", "here", "off", "strategy"]]
    for point in POINTS:
        here = point.simulated_us()
        off = f"{here / point.public_us - 1:+.1%}"
        rows.append([point.form, f"{point.public_us}", f"{here:.1f}", off, point.strategy])
    return "\n".join(aligned(rows))


if __name__ == "__main__":
    print(table())
