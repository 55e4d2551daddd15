"""docs/language.md is right: its examples are read, its Python runs, its lists are complete."""

import re
from pathlib import Path

import pytest

from headway.ir import to_text
from headway.ir.names import WORDS
from headway.ir.program import Program
from headway.sync import parse_any
from headway.sync import to_text as sync_to_text

_PAGE = (Path(__file__).parents[2] / "docs" / "language.md").read_text()


def _blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", _PAGE, re.DOTALL)


@pytest.mark.parametrize("text", _blocks("hwy"), ids=lambda text: re.search(r"@(\w+)", text)[1])
def test_example_is_read_and_written_back_equal(text: str) -> None:
    program = parse_any(text, "language.md")
    written = to_text(program) if isinstance(program, Program) else sync_to_text(program)
    assert parse_any(written) == program


def test_there_is_an_example_of_every_word() -> None:
    used = set(re.findall(r"[a-z]+", "\n".join(_blocks("hwy"))))
    assert used >= WORDS


def test_grammar_and_list_name_every_word() -> None:
    (grammar,) = _blocks("ebnf")
    assert set(re.findall(r'"([a-z]+)"', grammar)) >= WORDS
    listed = re.search(r"or a register: `(.*?)`", _PAGE, re.DOTALL)
    assert listed
    assert set(listed[1].split()) == WORDS


def test_python_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = _blocks("python")
    exec(compile(code, "language.md", "exec"), {})
    assert "vector first reads(x[i % 2]) takes(50, 1)" in capsys.readouterr().out


def test_error_on_the_page_is_the_real_one() -> None:
    (message,) = _blocks("text")
    pinned = Path(__file__).parents[1] / "data" / "bad" / "queue-with-two-hosts.err"
    assert message == pinned.read_text().replace("queue-with-two-hosts.hwy", "softmax.hwy")
