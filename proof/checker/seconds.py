"""The table of seconds in docs/theorems.md: what checking each file took of the processor when it was last checked."""

from __future__ import annotations

import re
from pathlib import Path

from checker.lean import CACHE, ROOT, Failed
from checker.modules import fingerprints, in_order, without_comments

DOCUMENT = ROOT.parent / "docs/theorems.md"
BEGIN, END = "<!-- seconds: scripts/proof seconds -->", "<!-- end of seconds -->"


def seconds(files: dict[str, Path]) -> bool:
    """Write the table between its marks. Raise Failed if a module has not been checked."""
    order = in_order(files)
    texts = {name: files[name].read_text() for name in order}
    hashes = fingerprints(texts, order)
    rows: list[tuple[str, int, int, float]] = []
    for name in order:
        stored = CACHE / "objects" / hashes[name] / "seconds"
        if not stored.exists():
            raise Failed(f"{name} has not been checked: run scripts/proof check first")
        theorems = len(theorem_names(texts[name]))
        lines = texts[name].count("\n")
        rows.append((name, lines, theorems, float(stored.read_text())))
    written = DOCUMENT.read_text()
    before, rest = written.split(BEGIN)
    _, after = rest.split(END)
    DOCUMENT.write_text(f"{before}{BEGIN}\n{table(rows)}{END}{after}")
    return True


def table(rows: list[tuple[str, int, int, float]]) -> str:
    """Return the table with its sums."""
    lines = ["| file | lines | theorems | seconds |", "|---|---|---|---|"]
    lines += [
        f"| `{name.removeprefix('Headway.')}` | {size} | {theorems} | {spent:.0f} |"
        for name, size, theorems, spent in rows
    ]
    sizes = sum(row[1] for row in rows)
    theorems = sum(row[2] for row in rows)
    spent = sum(row[3] for row in rows)
    lines.append(f"| all {len(rows)} | {sizes} | {theorems} | {spent:.0f} |")
    return "\n".join(lines) + "\n"


def theorem_names(text: str) -> list[str]:
    """Return the names of the theorems that a module states."""
    return re.findall(r"^(?:@\[simp\] )?theorem (\S+)", without_comments(text), re.MULTILINE)
