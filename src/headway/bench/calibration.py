"""The model beside every published time that we know of (`headway bench --calibration`).

Each figure of `headway.bench.published` is simulated with uncertain costs at the good end of their
ranges, at their usual values and at the bad end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headway import targets
from headway.bench.published import FIGURES, LOOPS, Published
from headway.bench.tables import table
from headway.targets.spread import COSTS, spread

CLOSE = 0.1
"""What is off by no more than that fits."""

HEAD = ("published", "target", "us", *COSTS, "off", "note")


@dataclass(frozen=True, slots=True)
class Point:
    """A published figure by its name, to be measured like other points."""

    what: str

    @property
    def title(self) -> str:
        """What is measured, in words."""
        return self.what

    @property
    def figure(self) -> Published:
        """Return what was published."""
        (figure,) = (figure for figure in FIGURES if figure.what == self.what)
        return figure

    def measure(self) -> dict[str, Any]:
        """Return the simulated time in us for each set of costs. Raise HeadwayError."""
        target = targets.load(self.figure.target)
        return {
            "what": self.what,
            "us": {costs: self.figure.run(spread(target, costs)) for costs in COSTS},
        }


def points(is_quick: bool = False) -> list[Point]:
    """Return a point for each figure; if it has to be quick, for those of the loop alone."""
    return [Point(f.what) for f in FIGURES if f.source == LOOPS or not is_quick]


def off(result: dict[str, Any], costs: str = "default") -> float:
    """Return by what fraction the simulated time is longer than the published one."""
    return result["us"][costs] / Point(result["what"]).figure.us - 1


def report(results: Sequence[dict[str, Any]]) -> str:
    """Return the table, the sources, and why some figures do not fit."""
    notes: dict[str, int] = {}
    rows = [_row(result, notes) for result in results]
    fit = sum(abs(off(result)) <= CLOSE for result in results)
    between = sum(off(r, COSTS[0]) <= 0 <= off(r, COSTS[-1]) for r in results)
    return "\n\n".join(
        [
            table(HEAD, rows),
            f"{fit} of {len(results)} are off by at most {CLOSE:.0%} with usual costs; {between}"
            f" {'lies' if between == 1 else 'lie'} between both ends.",
            "\n".join(f"{number}. {text[0].upper()}{text[1:]}." for text, number in notes.items()),
        ]
    )


def _row(result: dict[str, Any], notes: dict[str, int]) -> tuple[str, ...]:
    figure = Point(result["what"]).figure
    said = [f"source: {figure.source}"]
    if figure.why and abs(off(result)) > CLOSE / 2:
        said.append(figure.why)
    numbers = (notes.setdefault(text, len(notes) + 1) for text in said)
    return (
        figure.what,
        figure.target,
        _us(figure.us),
        *(_us(result["us"][costs]) for costs in COSTS),
        f"{off(result):+.0%}",
        ", ".join(map(str, numbers)),
    )


def _us(time: float) -> str:
    return f"{time:,.0f}" if time >= 100 else f"{time:.3g}"
