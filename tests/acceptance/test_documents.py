"""Every command and every Python block that the documents show runs, and prints what they say.

In a `console` block a line `$ command` is followed by its output; `...` stands for any lines.
Commands that start with `headway` are run, and have to succeed.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    document: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.document.relative_to(ROOT)}:{self.line}"


def blocks(language: str) -> list[Block]:
    return [
        Block(document, text.count("\n", 0, match.start()) + 1, language, match[2])
        for document in DOCUMENTS
        for text in [document.read_text(encoding="utf-8")]
        for match in BLOCK.finditer(text)
        if match[1] == language
    ]


def commands(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def run(command: list[str], folder: Path) -> str:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    # A busy machine says how far it is.
    return done.stdout + re.sub(r"^\d+ s: .* \.\.\.\n", "", done.stderr, flags=re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    if (ROOT / "examples").is_dir():
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


@pytest.mark.parametrize("block", blocks("console"), ids=str)
def test_commands_print_what_the_document_says(block: Block, folder: Path) -> None:
    for command, expected in commands(block.text):
        if command.startswith("headway"):
            pattern = re.escape(expected).replace(re.escape("...\n"), "(?:.*\n)*")
            assert re.fullmatch(pattern, run(["bash", "-c", command], folder)), command


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_python_blocks_run(block: Block, folder: Path) -> None:
    run([sys.executable, "-W", "error", "-c", block.text], folder)
