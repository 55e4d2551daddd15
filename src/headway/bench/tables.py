"""Tables in Markdown, and pages of which a command writes a part."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, log
from pathlib import Path

Cells = Sequence[str]


def table(head: Cells, rows: Iterable[Cells]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def geometric(ratios: Iterable[float]) -> float:
    """Return the geometric mean of numbers above 0."""
    logs = [log(ratio) for ratio in ratios]
    return exp(sum(logs) / len(logs))


def put(page: Path, part: str, text: str) -> None:
    """Write a part of a page, between `<!-- PART: begin -->` and `<!-- PART: end -->`."""
    begin, end = f"<!-- {part}: begin -->\n", f"<!-- {part}: end -->\n"
    before, _, rest = page.read_text(encoding="utf-8").partition(begin)
    after = rest.partition(end)[2]
    page.write_text(f"{before}{begin}{text.rstrip()}\n{end}{after}", encoding="utf-8")
