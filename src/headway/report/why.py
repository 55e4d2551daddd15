"""The table of `headway compare --why`: where the time of each strategy goes, and what is saved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from headway.comparison import IDEAL, Comparison, aligned
from headway.fitting import BASELINE
from headway.sim.attribution import Attribution, Totals, by_reason
from headway.sim.reason import Reason
from headway.sim.timeline import PS

ROWS = 8
"""Causes of a place that are shown; the others are one row."""

PATH = "critical path"
OTHERS = "others"


def why_text(comparison: Comparison) -> str:
    """Return the tables of all engines and of the critical path, then what each strategy saves.

    `comparison` was made with `why`.
    """
    found = {name: m.why for name, m in comparison.strategies.items() if m.why is not None}
    lines = aligned([["where the time goes, in ns", *found], *_rows(found)])
    return "\n".join([*(line.rstrip() for line in lines), *_savings(found)])


def _rows(found: Mapping[str, Attribution]) -> Iterator[list[str]]:
    engines = dict.fromkeys(engine for why in found.values() for engine in why.engines)
    for engine in engines:
        yield from _place(engine, [why.engines.get(engine, {}) for why in found.values()])
    yield from _place(PATH, [why.path for why in found.values()])


def _place(name: str, columns: list[Totals]) -> Iterator[list[str]]:
    """Yield the rows of one place: the largest causes, ordered by reason, and the others."""
    causes = {cause for totals in columns for cause in totals}
    largest = sorted(causes, key=lambda cause: (-max(t.get(cause, 0) for t in columns), cause))
    shown, rest = sorted(largest[:ROWS]), largest[ROWS:]
    yield [name, *("" for _ in columns)]
    for cause in shown:
        yield [f"  {cause}", *(_ns(totals.get(cause, 0)) for totals in columns)]
    if rest:
        yield [f"  {OTHERS}", *(_ns(sum(t.get(c, 0) for c in rest)) for t in columns)]


def _savings(found: Mapping[str, Attribution]) -> Iterator[str]:
    """Yield for each strategy how its critical path differs from that of the baseline."""
    baseline = found.get(BASELINE)
    for name, why in found.items():
        if baseline and name not in (BASELINE, IDEAL):
            yield _saving(name, baseline, why)


def _saving(name: str, baseline: Attribution, why: Attribution) -> str:
    before, after = by_reason(baseline.path), by_reason(why.path)
    less = {reason: before.get(reason, 0) - after.get(reason, 0) for reason in Reason}
    saved = baseline.latency - why.latency
    verb = "saves" if saved >= 0 else "loses"
    gains = sorted(((ps, reason) for reason, ps in less.items() if ps > 0), reverse=True)
    costs = sorted(((-ps, reason) for reason, ps in less.items() if ps < 0), reverse=True)
    text = f"{name} {verb} {_ns(abs(saved))} ns against {BASELINE} on the critical path"
    text += f": {_listed(gains)}" if gains else ""
    return f"{text}; but spends {_listed(costs)} more" if costs else text


def _listed(parts: list[tuple[int, Reason]]) -> str:
    return ", ".join(f"{_ns(ps)} {reason.label}" for ps, reason in parts)


def _ns(ps: int) -> str:
    return f"{ps / PS:,.0f}" if ps else "-"
