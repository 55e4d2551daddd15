"""Pictures of what `headway bench` measured, drawn with matplotlib (the extra `docs`)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

from headway.bench.page import BASELINE, COUNTED, excess, latency, saved
from headway.bench.run import Result
from headway.bench.sweeps import Point

# Okabe and Ito's colours can be told apart by colour-blind people.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00")


def draw(results: list[Result], folder: Path) -> tuple[str, ...]:
    """Write the pictures that there are figures for; return their names."""
    pyplot = _pyplot()
    drawn: list[str] = []
    for name, (table, picture) in PICTURES.items():
        some = [result for result in results if result["table"] == table]
        if some:
            figure = pyplot.figure(figsize=(8, 3.4), layout="constrained")
            axes = figure.add_subplot()
            picture(axes, some)
            _save(pyplot, figure, axes, folder / f"{name}.svg")
            drawn.append(name)
    return tuple(drawn)


def draw_sweep(name: str, parameter: str, points: list[Point], folder: Path) -> None:
    """Write the picture of a sweep: what each strategy loses on trn2, but for barriers."""
    pyplot = _pyplot()
    figure = pyplot.figure(figsize=(8, 2.8), layout="constrained")
    axes = figure.add_subplot()
    some = [point for point in points if point.target == "trn2"]
    shown = [column for column in some[0].latencies if column != "barrier"]
    for colour, column in zip(COLOURS, shown, strict=False):
        losses = [100 * point.loss(column) for point in some]
        axes.plot([point.value for point in some], losses, "o-", color=colour, label=column)
    axes.set(xlabel=parameter, ylabel="over ideal, %", xscale="log", ylim=(0, None))
    values = [point.value for point in some]
    axes.set_xticks(values, labels=map(str, values))
    axes.minorticks_off()
    axes.legend(frameon=False)
    _save(pyplot, figure, axes, folder / f"sweep-{name}.svg")


def _pyplot() -> Any:
    matplotlib: Any = import_module("matplotlib")  # slow to import, and an extra
    matplotlib.use("svg")
    pyplot: Any = import_module("matplotlib.pyplot")
    pyplot.rcParams.update({"svg.hashsalt": "headway", "font.size": 9})
    return pyplot


def _save(pyplot: Any, figure: Any, axes: Any, path: Path) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def _saved(axes: Any, results: list[Result]) -> None:
    """Draw the saving over tiles per iteration, a line for each number of slots."""
    slots = sorted({result["params"]["buffers"] for result in results})
    tiles = sorted({result["params"]["tiles"] for result in results})
    axes.axhspan(10, 45, color="0.93", linewidth=0)
    for colour, b in zip(COLOURS, slots, strict=False):
        by = [
            [100 * saved(r) for r in results if r["params"] == {"tiles": u, "buffers": b}]
            for u in tiles
        ]
        axes.plot(tiles, list(map(median, by)), "o-", color=colour, label=f"B = {b}, median")
        axes.fill_between(tiles, list(map(min, by)), list(map(max, by)), color=colour, alpha=0.12)
    axes.set(
        xlabel="tiles per loop iteration, U",
        ylabel="saved against barriers, %",
        xscale="log",
        xticks=tiles,
        xticklabels=tiles,
    )
    axes.minorticks_off()
    axes.legend(frameon=False)


def _excess(axes: Any, results: list[Result]) -> None:
    """Draw the excess over the ideal machine, a bar for each kernel."""
    some = [result for result in results if result["target"] == "trn2"]
    some.sort(key=excess)
    names = [result["kernel"] for result in some]
    axes.bar(names, [100 * excess(result) for result in some], color=COLOURS[0])
    axes.set_ylabel("counted over ideal, %")
    axes.tick_params("x", rotation=90)


def _chain(axes: Any, results: list[Result]) -> None:
    """Draw the speed-up over barriers, a line for each number of engines, with two slots."""
    some = [result for result in results if result["params"]["buffers"] == 2]
    counts = sorted({result["params"]["engines"] for result in some})
    for colour, engines in zip(COLOURS, counts, strict=False):
        line = [result for result in some if result["params"]["engines"] == engines]
        durations = [result["params"]["duration"] for result in line]
        ratios = [latency(result, BASELINE) / latency(result, COUNTED) for result in line]
        axes.plot(durations, ratios, "o-", color=colour, label=f"{engines} engines")
    axes.axhline(3.3, color="0.6", linestyle="--", linewidth=1)
    axes.set(
        xlabel="ns that an instruction takes",
        ylabel="times as fast as barriers",
        xscale="log",
    )
    axes.legend(frameon=False)


PICTURES: dict[str, tuple[str, Callable[[Any, list[Result]], None]]] = {
    "saved": ("tiles", _saved),
    "excess": ("suite", _excess),
    "chain": ("chain", _chain),
}
