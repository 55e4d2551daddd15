"""The scenarios T1-T28 and H1-H5: what the verdict has to be, and what it is.

`python -m headway.bench.scenarios FOLDER` prints the table for the scenarios.toml of that folder
and ends with 3 if a verdict is another than expected; `--page FILE` writes the page with it.
"""

from __future__ import annotations

import tomllib
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from headway.bench.mutation import fates
from headway.bench.shapes import shape
from headway.certify import certify
from headway.check import Finding, check
from headway.compiler import synchronize
from headway.errors import HeadwayError
from headway.ir.expr import Inputs
from headway.ir.program import Program
from headway.sim import simulate, simulate_ideal
from headway.sync import parse_any
from headway.sync.program import SyncProgram
from headway.targets import Target
from headway.targets.generic import TARGET
from headway.targets.limits import limited

CHECK_FAILED = 3
BY_HAND = "by hand"
TABLE = "scenarios.toml"

HEADER = """\
| | program | synchronized by | inputs | expected | verdict |
|---|---|---|---|---|---|"""

INTRODUCTION = """\
# Scenarios

Small programs with what a judge has to say about them. Every shape is one on which synchronization
has gone wrong somewhere: loops that may not run, rotating buffers, branches, queues, nests. The
programs are in [`tests/data/scenarios`](../tests/data/scenarios), and so is
[the list](../tests/data/scenarios/scenarios.toml) of what is expected, which was derived by hand
from [the definition](model.md). `scripts/scenarios` prints this table, `scripts/scenarios --page
docs/scenarios.md` writes this page, and a test compares both.

A program that is synchronized *by hand* is judged as it stands, others as a strategy synchronizes
them. `A 1, requires 2` is a wait for one completion of A where two are required. *Lost* is the time
by which a run is longer than that of the ideal machine where synchronization takes no time. What is
*proved* is neither early nor can it hang, whatever the inputs ([certificates](certificates.md)).
"""


class Facts(NamedTuple):
    """What is measured beside the verdict, each only where a row asks for it."""

    lost: float | None = None
    latency: float | None = None
    missed: int | None = None
    proved: bool | None = None

    def words(self) -> Iterator[str]:
        """Yield each as in the table."""
        if self.lost is not None:
            yield f"{self.lost:g} ns lost"
        if self.latency is not None:
            yield f"{self.latency:g} ns"
        if self.missed is not None:
            yield f"{self.missed} mutants missed"
        if self.proved is not None:
            yield "proved" if self.proved else "not proved"


class Row(NamedTuple):
    """One line of the table. What the fields mean is written in scenarios.toml."""

    program: str
    expected: tuple[str, ...]
    by: tuple[str, ...] = (BY_HAND,)
    inputs: tuple[Inputs, ...] = ({},)
    limits: Mapping[str, int] = {}
    findings: tuple[str, ...] | None = None
    message: str = ""
    facts: Facts = Facts()


class Outcome(NamedTuple):
    """What came out of one program with one set of inputs."""

    verdict: str
    findings: tuple[str, ...] = ()
    message: str = ""
    facts: Facts = Facts()

    def __str__(self) -> str:
        """Return it as in the table: with the first findings, and what it costs."""
        text = ", ".join([self.verdict, *self.facts.words()])
        shown = [_in_words(finding) for finding in self.findings[:2]]
        more = len(self.findings) - len(shown)
        shown += [f"{more} more"] if more > 0 else []
        shown += [f"`{self.message}`"] if self.message else []
        return f"{text}: {'; '.join(shown)}" if shown else text


class Judged(NamedTuple):
    """A row with what came out, by strategy and inputs."""

    row: Row
    outcomes: tuple[Outcome, ...]

    @property
    def is_as_expected(self) -> bool:
        """Whether every outcome is the expected one."""
        return all(_fits(self.row, outcome) for outcome in self.outcomes)

    def cells(self) -> Iterator[str]:
        """Yield the cells of the table."""
        row = self.row
        yield f"`{row.program.removeprefix('../')}`"
        yield ", ".join([*row.by, *(f"{name} {value}" for name, value in row.limits.items())])
        yield "; ".join(filter(None, map(_inputs, row.inputs)))
        details = row.findings or (), row.message, row.facts
        expected = (Outcome(verdict, *details) for verdict in row.expected)
        yield " or ".join(map(str, expected))
        # In full only what is not expected: the table is wide enough.
        outcomes = (
            o.verdict if _fits(row, o) else f"**not as expected** {o}" for o in self.outcomes
        )
        yield " or ".join(dict.fromkeys(outcomes))


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario with its rows."""

    id: str
    title: str
    rows: tuple[Row, ...] = ()

    def judged(self, folder: Path) -> Iterator[Judged]:
        """Yield every row with what comes out. `folder` holds the programs."""
        for row in self.rows:
            outcomes = (_outcome(folder, row, by, i) for by in row.by for i in row.inputs)
            yield Judged(row, tuple(outcomes))


def read(folder: Path) -> list[Scenario]:
    """Read the table of a folder."""
    table = tomllib.loads((folder / TABLE).read_text(encoding="utf-8"))
    return [
        Scenario(entry["id"], entry["title"], tuple(map(_row, entry["row"])))
        for entry in table["scenario"]
    ]


def _row(entry: dict[str, Any]) -> Row:
    lists = {key: tuple(entry[key]) for key in ("by", "inputs", "findings") if key in entry}
    expected: str | list[str] = entry["expected"]
    allowed = (expected,) if isinstance(expected, str) else tuple(expected)
    facts = Facts(**{key: entry.pop(key) for key in Facts._fields if key in entry})
    fields: dict[str, Any] = {**entry, **lists, "expected": allowed}
    return Row(**fields, facts=facts)


def _fits(row: Row, outcome: Outcome) -> bool:
    return (
        outcome.verdict in row.expected
        and row.findings in (None, outcome.findings)
        and row.message in outcome.message
        and row.facts == outcome.facts
    )


def _outcome(folder: Path, row: Row, by: str, inputs: Inputs) -> Outcome:
    """Synchronize, judge and run one program, as far as the row asks."""
    target = limited(TARGET, row.limits)
    try:
        program = _program(folder, row.program)
        synced = program if isinstance(program, SyncProgram) else synchronize(program, target, by)
        verdict = check(synced, inputs)
    except HeadwayError as error:
        return Outcome("refused", message=error.diagnostics[0].message)
    findings = tuple(map(_brief, verdict.findings)) if row.findings is not None else ()
    return Outcome(verdict.verdict, findings, facts=_facts(row.facts, synced, inputs, target))


def _facts(asked: Facts, synced: SyncProgram, inputs: Inputs, target: Target) -> Facts:
    latency = lost = None
    if asked.lost is not None or asked.latency is not None:
        latency = simulate(synced, inputs, target).latency
        lost = latency - simulate_ideal(synced.program, inputs, target).latency
    return Facts(
        lost=None if asked.lost is None else lost,
        latency=None if asked.latency is None else latency,
        missed=None if asked.missed is None else fates(synced, inputs)["missed"],
        proved=None if asked.proved is None else certify(synced).is_complete,
    )


def _program(folder: Path, name: str) -> Program | SyncProgram:
    if name.endswith(".hwy"):
        return parse_any((folder / name).read_text(encoding="utf-8"), name)
    kind, _, parameter = name.partition(" ")
    key, _, value = parameter.partition("=")
    return shape(kind, **{key: int(value)})


def _brief(finding: Finding) -> str:
    words = (finding.kind, finding.instance, finding.counter or "-")
    return " ".join(map(str, (*words, finding.threshold, finding.required)))


def _in_words(brief: str) -> str:
    kind, instance, counter, threshold, required = brief.split()
    if counter == "-":
        return f"`{instance}`"
    if instance.partition("[")[0] == counter:
        return f"`{instance}` is set after {threshold} takes, requires {required}"
    wait = f"`{instance}` waits for {counter} {threshold}"
    return wait if kind == "deadlock" else f"{wait}, requires {required}"


def _inputs(inputs: Inputs) -> str:
    return ", ".join(f"{name} = {value}" for name, value in inputs.items())


def lines(found: Iterable[tuple[Scenario, Iterable[Judged]]]) -> list[str]:
    """Return the lines of the table."""
    text = [HEADER]
    for scenario, rows in found:
        text.append(f"| **{scenario.id}** | *{scenario.title}* | | | | |")
        for row in rows:
            text.append(f"| | {' | '.join(row.cells())} |")
    return text


def page(table: Iterable[str]) -> str:
    """Return the page with the table."""
    return "\n".join([INTRODUCTION, *table, ""])


def main() -> int:
    """Print the table or write the page; return the exit code."""
    parser = ArgumentParser(description="judge the scenarios T1-T28 and H1-H5")
    parser.add_argument("folder", type=Path, help=f"where {TABLE} and the programs are")
    parser.add_argument("--page", type=Path, help="write a page with the table")
    args = parser.parse_args()
    found = [(scenario, tuple(scenario.judged(args.folder))) for scenario in read(args.folder)]
    if args.page:
        args.page.write_text(page(lines(found)), encoding="utf-8")
    else:
        print("\n".join(lines(found)))
    is_right = all(row.is_as_expected for _, rows in found for row in rows)
    return 0 if is_right else CHECK_FAILED


if __name__ == "__main__":
    raise SystemExit(main())
