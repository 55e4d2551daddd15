"""Strategies side by side on one program: what each makes of it, how long that runs, the table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headway.fitting import BASELINE
from headway.ir.expr import Inputs
from headway.passes import Concession
from headway.passes.report import Report
from headway.sim import Timeline
from headway.sim.attribution import Attribution, attribute

IDEAL = "ideal"


@dataclass(frozen=True, slots=True)
class Measured:
    """What one strategy made of a program, and how long it ran on the simulated target.

    `waits` and `barriers` are those executed, summed over the engines; `registers` are those of
    each engine; `semaphores` counts the counters that some wait names, and the flags;
    `concessions` say what was given up because the target has too little, and `cost_ns` what that
    costs, if it was asked for. So it is with `why`, where the time goes.
    """

    latency_ns: float
    waits: int
    barriers: int
    registers: Mapping[str, int] = field(default_factory=dict[str, int])
    semaphores: int = 0
    concessions: tuple[Concession, ...] = ()
    cost_ns: float | None = None
    why: Attribution | None = None

    @classmethod
    def of(cls, timeline: Timeline, needs: Report | None = None) -> Measured:
        """Return the figures of a run of a program that needs that, or of the ideal machine."""
        why = attribute(timeline) if timeline.log else None
        if needs is None:
            return cls(timeline.latency, 0, timeline.barriers, why=why)  # it needs no waits
        return cls(
            timeline.latency,
            timeline.waits,
            timeline.barriers,
            needs.registers,
            needs.semaphores,
            needs.concessions,
            needs.cost_ns,
            why,
        )

    def to_json(self) -> dict[str, object]:
        """Return the documented JSON form."""
        return {
            "latency_ns": self.latency_ns,
            "waits": self.waits,
            "barriers": self.barriers,
            "registers": dict(self.registers),
            "semaphores": self.semaphores,
            "concessions": [concession.to_json() for concession in self.concessions],
            **({} if self.cost_ns is None else {"cost_ns": self.cost_ns}),
            **({} if self.why is None else {"why": self.why.to_json()}),
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """Strategies side by side on one program; `str()` of it is the table.

    `unsupported` holds the reason of each strategy that cannot carry the program.
    """

    program: str
    target: str
    inputs: Inputs
    strategies: Mapping[str, Measured]
    unsupported: Mapping[str, str]

    def speedup(self, name: str) -> float | None:
        """Return how many times faster than `barrier` a strategy is, if both were measured."""
        baseline = self.strategies.get(BASELINE)
        latency = self.strategies[name].latency_ns
        return baseline.latency_ns / latency if baseline and latency else None

    def excess(self, name: str) -> float | None:
        """Return by what fraction a strategy takes longer than the ideal machine."""
        ideal = self.strategies[IDEAL].latency_ns
        return self.strategies[name].latency_ns / ideal - 1 if ideal else None

    def to_json(self) -> dict[str, object]:
        """Return the documented JSON form, with `unsupported` beside it."""
        return {
            "program": self.program,
            "target": self.target,
            "inputs": dict(self.inputs),
            "strategies": {name: m.to_json() for name, m in self.strategies.items()},
            "unsupported": dict(self.unsupported),
        }

    def __str__(self) -> str:
        return self.to_text()

    def rows(self) -> list[list[str]]:
        """Return the table: its header, and a row of texts for each strategy."""
        return [_HEADER, *map(self._row, self.strategies)]

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        from headway import html

        return html.table(self.rows(), self.title) + html.notes(self.notes())

    @property
    def title(self) -> str:
        """What was compared: program, target and inputs."""
        inputs = ", ".join(f"{name} = {value}" for name, value in self.inputs.items())
        return f"{self.program} on {self.target}" + (f", {inputs}" if inputs else "")

    def notes(self) -> list[str]:
        """Return what was given up for the target, what that costs, and what was not measured."""
        given_up = [
            f"given up by {name}: {concession}"
            for name, measured in self.strategies.items()
            for concession in measured.concessions
        ]
        given_up += [
            f"the limits of {self.target} cost {name} {measured.cost_ns:,.0f} ns"
            for name, measured in self.strategies.items()
            if measured.cost_ns is not None
        ]
        return given_up + [f"not measured: {name}: {why}" for name, why in self.unsupported.items()]

    def to_text(self, width: int | None = None) -> str:
        """Return the table and notes; a table wider than `width` becomes a list per strategy."""
        table = aligned(self.rows())
        if width and len(table[0]) > width:
            table = stacked(self.rows())
        return "\n".join([self.title, *table, *self.notes()])

    def _row(self, name: str) -> list[str]:
        result, speedup, excess = self.strategies[name], self.speedup(name), self.excess(name)
        return [
            name,
            duration(result.latency_ns),
            "-" if speedup is None else f"{speedup:.2f}x",
            "-" if excess is None else f"{excess:+.1%}",
            f"{result.waits:,}",
            f"{result.barriers:,}",
            str(max(result.registers.values(), default=0)),
            str(result.semaphores),
        ]


_HEADER = [
    "strategy",
    "latency",
    f"vs {BASELINE}",
    f"over {IDEAL}",
    "waits",
    "barriers",
    "max registers",
    "semaphores",
]


def duration(ns: float) -> str:
    """Return a duration with a unit that suits it."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= 10 * size:
            return f"{ns / size:,.2f} {unit}"
    return f"{ns:,.0f} ns"


def stacked(rows: list[list[str]]) -> list[str]:
    """Return the rows below each other, each as a list of what the header says."""
    header = rows[0]
    widths = max(map(len, header[1:])), max(len(c) for row in rows[1:] for c in row[1:])
    return [
        line
        for row in rows[1:]
        for line in (
            row[0],
            *(
                f"  {h:{widths[0]}}  {c:>{widths[1]}}"
                for h, c in zip(header[1:], row[1:], strict=True)
            ),
        )
    ]


def aligned(rows: list[list[str]]) -> list[str]:
    """Return the rows as lines: the first column flush left, the others flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in rows
    ]
