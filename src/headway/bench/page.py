"""The page of results: tables of what `headway bench` measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from headway.bench import allocation
from headway.bench.points import ALL, SIZE
from headway.bench.remainder import HOP, PARTS
from headway.bench.run import Result
from headway.bench.tables import Cells, geometric, table
from headway.comparison import IDEAL, duration
from headway.fitting import BASELINE
from headway.targets.spread import COSTS

COUNTED = "counted"


def page(results: list[Result], pictures: Sequence[str] = ()) -> str:
    """Return the page in Markdown, with the sections that something was measured for."""
    tables: dict[str, list[Result]] = {}
    for result in results:
        tables.setdefault(result["table"], []).append(result)
    parts = [INTRODUCTION, *(f"![{picture}](images/{picture}.svg)" for picture in pictures)]
    texts = tables.get("suite", [])
    for name, section in SECTIONS.items():
        if name in tables:
            parts.append(section(tables[name] + (texts if name == "nki" else [])))
    return "\n\n".join(parts) + "\n"


INTRODUCTION = f"""\
# Results

`make bench` writes this page. Latencies are simulated; no hardware was used. [How well that agrees
with published times](timing.md#calibration) is on a page of its own.
*Ideal* is a machine whose synchronization costs nothing. It issues everything as soon as it may;
where transfers share bandwidth, a run that issues some of them later can end earlier, as `gather`
does on trn3. `barrier` has the fewest barriers that we know how to place, `barrier-always` one in
front of and behind every iteration. U is the number of tiles per loop iteration, B the number of
slots that a tile rotates through. All points of a kernel do about the same work, {SIZE} times that
of its usual inputs (`headway list kernels`).

*Saved* is 1 - `counted` / `barrier`; *excess* is `counted` / ideal - 1. In the first picture a
colour spreads from the kernel that saves least to the one that saves most; the grey band is 10 to
45 %, which the published algorithm is said to save."""


LOST = """\
The same engine programs with more and more of the costs of synchronization, as fractions of the
ideal time. *hop*: the ideal machine on which a signal is seen a hop later, as by every program that
waits for semaphores. *placement*: waits that are too late. *waits*, *registers*: what these
instructions take. *loops*: loop control, which a program has with any synchronization. A step may
be below 0 where transfers come in another order."""


def saved(result: Result) -> float:
    """Return by what fraction `counted` is faster than `barrier`."""
    return 1 - latency(result, COUNTED) / latency(result, BASELINE)


def excess(result: Result, strategy: str = COUNTED) -> float:
    """Return by what fraction a strategy takes longer than the ideal machine."""
    return latency(result, strategy) / latency(result, IDEAL) - 1


def beyond_hops(result: Result) -> float:
    """Return by what fraction `counted` takes longer than the ideal machine with hops."""
    parts: dict[str, float] = result["parts"]
    return (1 + sum(parts.values())) / (1 + parts[HOP]) - 1


def latency(result: Result, strategy: str) -> float:
    """Return a latency in ns."""
    return result["strategies"][strategy]["latency_ns"]


def _suite(results: list[Result]) -> str:
    parts = ["## The suite, one tile per iteration"]
    for target in dict.fromkeys(result["target"] for result in results):
        some = [result for result in results if result["target"] == target]
        head = ("kernel", IDEAL, *ALL, "saved", "excess", "waits", "registers")
        means = geometric(1 + excess(result) for result in some) - 1
        least, most = min(map(saved, some)), max(map(saved, some))
        parts += [
            f"### {target}",
            table(head, [_suite_row(result) for result in some]),
            f"Saved {least:.0%} to {most:.0%}, median {median(map(saved, some)):.0%}; excess"
            f" {means:.1%} in the geometric mean, {max(map(excess, some)):.1%} at most.",
        ]
    lost = [result for result in results if "parts" in result and result["target"] == "trn2"]
    return "\n\n".join([*parts, *([_lost(lost)] if lost else [])])


def _lost(results: list[Result]) -> str:
    rows = [
        (
            result["kernel"],
            *(f"{result['parts'][part]:+.1%}" for part in PARTS),
            f"{sum(result['parts'].values()):+.1%}",
            f"{beyond_hops(result):+.1%}",
        )
        for result in results
    ]
    sums = {
        "over ideal": [1 + sum(result["parts"].values()) for result in results],
        "over ideal with hops": [1 + beyond_hops(result) for result in results],
        "for placement, waits and registers": [
            1 + sum(result["parts"][part] for part in PARTS if part not in (HOP, "loops"))
            for result in results
        ],
    }
    means = (
        f"{what} {geometric(each) - 1:.1%}, {max(each) - 1:.1%} at most"
        for what, each in sums.items()
    )
    return "\n\n".join(
        [
            "### What is lost to the ideal machine, on trn2",
            LOST,
            table(("kernel", *PARTS, "over ideal", "over ideal with hops"), rows),
            f"Geometric means: {'; '.join(means)}.",
        ]
    )


def _suite_row(result: Result) -> Cells:
    counted = result["strategies"][COUNTED]
    return (
        result["kernel"],
        *(
            duration(latency(result, name)) if name in result["strategies"] else "-"
            for name in (IDEAL, *ALL)
        ),
        f"{saved(result):.0%}",
        f"{excess(result):.1%}",
        f"{counted['waits']:,}",
        str(max(counted["registers"].values(), default=0)),
    )


def _tiles(results: list[Result]) -> str:
    columns = sorted({_shape(result) for result in results})
    by = {(result["kernel"], _shape(result)): result for result in results}
    kernels = list(dict.fromkeys(result["kernel"] for result in results))
    rows = [
        (kernel, *(f"{saved(by[kernel, column]):.0%}" for column in columns)) for kernel in kernels
    ]
    for title, of in (("least", min), ("**median**", median), ("most", max)):
        cells = (of([saved(by[kernel, c]) for kernel in kernels]) for c in columns)
        rows.append((title, *(f"{cell:.0%}" for cell in cells)))
    inside = (sum(0.1 <= saved(by[k, c]) <= 0.45 for k in kernels) for c in columns)
    rows.append(("in 10-45 %", *(f"{count} of {len(kernels)}" for count in inside)))
    above = (geometric(1 + excess(by[k, c]) for k in kernels) - 1 for c in columns)
    rows.append(("excess, geometric mean", *(f"{mean:.1%}" for mean in above)))
    slower = [result for result in results if saved(result) < 0]
    return "\n\n".join(
        [
            "## Saved against barriers, over tiles per iteration and slots per tile",
            table(("trn2", *(f"U={u} B={b}" for u, b in columns)), rows),
            "What a barrier costs is mostly that the pipeline drains and fills again. The more"
            " tiles share a barrier, the less there is to save; the more slots they have, the"
            " better everything else overlaps, and the more the drains stand out.",
            f"`counted` is slower than `barrier` in {len(slower)} of {len(results)} points"
            + "".join(f"; {_title(result)}: {-saved(result):.1%}" for result in slower)
            + ".",
        ]
    )


def _manual(results: list[Result]) -> str:
    head = ("kernel", "target", IDEAL, "by hand", COUNTED, "ratio", "waits by hand", "counted's")
    rows = [
        (
            result["kernel"],
            result["target"],
            *(duration(latency(result, name)) for name in (IDEAL, "manual", COUNTED)),
            f"{latency(result, COUNTED) / latency(result, 'manual'):.3f}",
            *(f"{result['strategies'][name]['waits']:,}" for name in ("manual", COUNTED)),
        )
        for result in results
    ]
    return "\n\n".join(
        [
            "## Beside waits placed by hand",
            "Kernels whose engine programs were also [written by hand](measuring.md#by-hand).",
            table(head, rows),
        ]
    )


def _nki(results: list[Result]) -> str:
    texts = {(r["kernel"], r["target"]): r for r in results if r["table"] == "suite"}
    sources = [result for result in results if result["table"] == "nki"]
    shown = [result for result in sources if result["target"] == "trn2"]
    head = ("trn2", "instructions", BASELINE, COUNTED, "saved", "excess")
    rows = [_beside(texts.get((r["kernel"], r["target"])), r) for r in shown]
    lines: list[str] = []
    for target in dict.fromkeys(result["target"] for result in sources):
        some = [result for result in sources if result["target"] == target]
        gains, means = list(map(saved, some)), geometric(1 + excess(r) for r in some) - 1
        lines.append(
            f"{target}: saved {min(gains):.0%} to {max(gains):.0%}, median {median(gains):.0%};"
            f" excess {means:.1%} in the geometric mean, {max(map(excess, some)):.1%} at most."
        )
    return "\n\n".join(
        [
            "## The same kernels from NKI sources",
            "Each is an [NKI kernel](../src/headway/kernels/nki) of our own too (`--param nki=1`),"
            " traced by the front end, with all that it needs to compute what it is called: layouts"
            " that the tensor engine can use, transposes, every small operation between two large"
            " ones. Figures are those of the text, then those of the source. Where the text has a"
            " list of trip counts, the source has one that is its mean; trip counts that are always"
            f" constant in the source (`k` of matmul) are not {SIZE} times as large.",
            table(head, rows),
            *lines,
        ]
    )


def _beside(text: Result | None, source: Result) -> Cells:
    def both(of: Callable[[Result], str]) -> str:
        return " / ".join(of(result) if result else "-" for result in (text, source))

    return (
        source["kernel"],
        both(lambda result: str(result["instructions"])),
        *(both(lambda r, name=name: duration(latency(r, name))) for name in (BASELINE, COUNTED)),
        both(lambda result: f"{saved(result):.0%}"),
        both(lambda result: f"{excess(result):.1%}"),
    )


def _costs(results: list[Result]) -> str:
    kernels = list(dict.fromkeys(result["kernel"] for result in results))
    by = {(result["kernel"], result["costs"]): result for result in results}
    head = ("trn2, U=4 B=2", *(f"{costs}: {w}" for costs in COSTS for w in ("saved", "excess")))
    rows = [
        (
            kernel,
            *(f"{of(by[kernel, c]):.1%}" for c in COSTS for of in (saved, excess)),
        )
        for kernel in kernels
    ]
    ordered = sum(latency(r, IDEAL) <= latency(r, COUNTED) <= latency(r, BASELINE) for r in results)
    return "\n\n".join(
        [
            "## If costs are at either end of their ranges",
            table(head, rows),
            f"Ideal <= `counted` <= `barrier` in {ordered} of {len(results)} points.",
        ]
    )


def _options(results: list[Result]) -> str:
    names: list[str] = results[0]["without"]

    def cell(result: Result, name: str) -> str:
        return f"{latency(result, name) / latency(result, COUNTED) - 1:+.1%}"

    rows = [(result["kernel"], *(cell(result, name) for name in names)) for result in results]
    return "\n\n".join(
        [
            "## What each optimisation is worth",
            "How much longer `counted` takes on trn2 with one of its options switched off.",
            table(("without", *names), rows),
        ]
    )


def _chain(results: list[Result]) -> str:
    head = ("engines", "ns each", "slots", IDEAL, *ALL, "speed-up")
    rows = [
        (
            *(str(result["params"][name]) for name in ("engines", "duration", "buffers")),
            *(duration(latency(result, name)) for name in (IDEAL, *ALL)),
            f"{latency(result, BASELINE) / latency(result, COUNTED):.2f}x",
        )
        for result in results
    ]
    enough = sum(latency(r, BASELINE) >= 3.3 * latency(r, COUNTED) for r in results)
    return "\n\n".join(
        [
            "## Bound by synchronization: `sync-chain` on trn2",
            table(head, rows),
            f"At least 3.3 times as fast as with barriers in {enough} of {len(results)} points.",
        ]
    )


SECTIONS: dict[str, Callable[[list[Result]], str]] = {
    "suite": _suite,
    "tiles": _tiles,
    "manual": _manual,
    "nki": _nki,
    "costs": _costs,
    "chain": _chain,
    "allocation": allocation.section,
    "options": _options,
}


def _shape(result: Result) -> tuple[int, int]:
    return result["params"]["tiles"], result["params"]["buffers"]


def _title(result: Result) -> str:
    params = ", ".join(f"{name}={value}" for name, value in result["params"].items())
    return f"{result['kernel']} ({params})"
