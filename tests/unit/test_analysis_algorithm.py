"""The page about the algorithm shows the examples as they are, and what is written for them."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from headway.ir import parse
from headway.strategies.counted import Counted
from headway.sync import to_text
from headway.targets import bind
from headway.targets.generic import TARGET

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "tests/data/examples").glob("*.hwy"))
PAGE = (ROOT / "docs/algorithm.md").read_text(encoding="utf-8")


def lines(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("//")).strip()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_page_shows_the_program_and_its_engine_programs(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    text = to_text(Counted(copies=False).synchronize(bind(parse(source), TARGET), TARGET))
    engines = text[text.index("\n  engine ", text.index("\n  }")) + 1 :].rstrip()[:-1]
    assert f"```\n{lines(source)}\n```" in PAGE
    assert f"```\n{textwrap.dedent(engines).strip()}\n```" in PAGE
