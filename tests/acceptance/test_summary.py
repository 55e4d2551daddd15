"""The figures in the README are those of the current code."""

from pathlib import Path

from headway.bench.summary import rows

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8").splitlines()


def test_the_readme_shows_the_current_figures() -> None:
    found = [str(row) for row in rows()]
    print("\n".join(found))
    assert len(found) >= 4
    assert [line for line in found if line not in README] == []
