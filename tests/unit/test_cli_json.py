"""What `--json` prints is what docs/reference/json.md says, field by field."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Cli
from kernel_files import written

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/json.md").read_text(encoding="utf-8")
RACE, DOUBLE = (str(ROOT / f"examples/{name}.hwy") for name in ("race", "double-buffer"))
KERNEL = """
    y = nl.ndarray((128, 64), dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(y, nl.load(x))
    return y
"""
ARGUMENTS = ("KERNEL", "--arg", "x=float32[128,64]")

RUNS: dict[str, list[tuple[str, ...]]] = {
    "compare": [
        ("compare", "sync-chain", "--input", "n=20", "--strategies", "counted,static", "--why"),
        ("compare", "calibration-loop", "--input", "n=1", "--strategies", "counted", "--why"),
        (
            *("compare", "sync-chain", "--input", "n=20", "--strategies", "counted"),
            *("--limit", "width=4", "--cost"),
        ),
    ],
    "sync": [("sync", "sync-chain", "--limit", "width=4")],
    "sim": [("sim", "SYNCED", "--input", "n=2")],
    "check": [
        ("check", RACE, "--input", "n=2"),
        ("check", DOUBLE, "--input", "n=3", "--cost"),
    ],
    "check --all-inputs": [
        ("check", "SYNCED", "--all-inputs"),
        ("check", RACE, "--all-inputs"),
        ("check", DOUBLE, "--all-inputs"),
    ],
    "explain": [("explain", "sync-chain", "step1")],
    "explore": [
        ("explore", RACE, "--input", "n=2"),
        ("explore", "SYNCED", "--input", "n=1", "--ideal"),
    ],
    "run": [("run", *ARGUMENTS, "--plant", "--orders", "1")],
    "asm, disasm": [("asm", "SYNCED", "-o", "BINARY"), ("disasm", "BINARY")],
    "native": [("native", "sync-chain", "--input", "n=1")],
    "list": [("list",)],
}


def documented(section: str) -> set[str]:
    (text,) = re.findall(rf"^## {re.escape(section)}\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
    first = text.partition("\nWith ")[0]
    cells = re.findall(r"^\| (`.*?) \|", first, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def fields(value: object, path: str = "") -> Iterator[str]:
    """Yield the fields of a value; those of the elements of a list follow its name."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from fields(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield f"{path}[]"
        for inner in value:
            yield from fields(inner, f"{path}[]")
    else:
        yield path


def pattern(name: str, names: set[str]) -> re.Pattern[str]:
    """Match a field, and those inside it if the page describes them in words."""
    parts = (
        r"[^.]+" if part.isupper() else re.escape(part)
        for part in re.split(r"([.\[\]]+)", name.removesuffix("[]"))
    )
    is_told_in_words = name.endswith("[]") and not any(n.startswith(f"{name}.") for n in names)
    inside = r"(\[\](\..*)?)?" if is_told_in_words else r"(\[\])?"
    return re.compile("".join(parts) + inside)


@pytest.mark.parametrize("section", RUNS)
def test_fields_are_those_of_the_page(section: str, cli: Cli, tmp_path: Path) -> None:
    if section == "native" and shutil.which("gcc") is None:
        pytest.skip("there is no C compiler")
    places = {
        "KERNEL": f"{written(tmp_path, KERNEL, 'x', 'old')}:kernel",
        "SYNCED": str(tmp_path / "synced.hwy"),
        "BINARY": str(tmp_path / "synced.hwb"),
    }
    assert cli("sync", "sync-chain", "-o", places["SYNCED"]).code == 0
    printed: set[str] = set()
    for command in RUNS[section]:
        result = cli(*(places.get(word, word) for word in command), "--json")
        assert result.code in (0, 3), result.err
        printed |= set(fields(json.loads(result.out)))
    names = documented(section)
    rows = {name: pattern(name, names) for name in names}
    assert [p for p in sorted(printed) if not any(r.fullmatch(p) for r in rows.values())] == []
    assert [n for n, row in rows.items() if not any(map(row.fullmatch, printed))] == []
