"""Every command and every Python block that the documents show runs, and prints what they say.

In a `console` block a line `$ command` is followed by its output; `...` stands for anything. Every
command is run, and has to succeed: those of one block in one folder, with the examples in it, where
`pip install` puts packages too. A block in another language is a program (`hwy`), Python, or text.
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

from headway.sync import parse_any

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = ("headway ", "pip install ", "python -c ", "echo ", "sed ")
SHOWN = ("", "text", "ebnf")
"""Blocks that no test runs: output, and what other tests compare (programs of the algorithm)."""

DIRECTIVES = ("{toctree}", "{literalinclude}", "{plugins}", "{command-help}", "{eval-rst}")


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
    packages = str(folder / "packages")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([packages, str(ROOT / "src")]),
        "PIP_TARGET": packages,
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # which means: none
        "PIP_QUIET": "2",
    }
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
        assert command.startswith(COMMANDS), f"{command}: a command of that name is not run"
        pattern = re.escape(expected).replace(re.escape("...\n"), "(?:.*\n)*")
        pattern = pattern.replace(re.escape("..."), ".*")
        assert re.fullmatch(pattern, run(["bash", "-c", command], folder)), command


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_python_blocks_run(block: Block, folder: Path) -> None:
    run([sys.executable, "-W", "error", "-c", block.text], folder)


@pytest.mark.parametrize("block", blocks("hwy"), ids=str)
def test_programs_are_in_the_language(block: Block) -> None:
    parse_any(block.text, str(block.document))


def test_every_block_is_run_or_said_to_be_text() -> None:
    known = ("console", "python", "hwy", *SHOWN)
    unknown = [
        f"{document.relative_to(ROOT)}: {language}"
        for document in DOCUMENTS
        for language, _ in BLOCK.findall(document.read_text(encoding="utf-8"))
        if language not in known and not language.startswith(DIRECTIVES)
    ]
    assert unknown == []


def test_make_targets_that_documents_name_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for document in DOCUMENTS:
        named = set(re.findall(r"`make ([a-z]+)`", document.read_text(encoding="utf-8")))
        assert named <= targets, document


def test_modules_that_documents_and_scripts_run_can_be_run() -> None:
    """The demo ran one that did nothing, and printed an empty section."""
    scripts = [path for path in (ROOT / "scripts").iterdir() if path.is_file()]
    texts = [path.read_text(encoding="utf-8") for path in (*DOCUMENTS, *scripts)]
    modules = {m for text in texts for m in re.findall(r"python -m (headway\.[a-z_.]*[a-z])", text)}
    sources = {m: (ROOT / "src" / m.replace(".", "/")).with_suffix(".py") for m in modules}
    assert [m for m, path in sources.items() if "__main__" not in path.read_text()] == []
    assert len(modules) > 5


def test_drawings_are_those_of_the_current_code(tmp_path: Path) -> None:
    run([sys.executable, str(ROOT / "scripts/drawings"), str(tmp_path)], tmp_path)
    drawn = {path.relative_to(tmp_path): path.read_text() for path in tmp_path.rglob("*.svg")}
    kept = {path: (ROOT / "docs/images" / path).read_text() for path in drawn}
    assert drawn == kept
    assert len(drawn) > 10


def test_links_of_the_readme_lead_somewhere() -> None:
    """Those of the other documents are checked in the site, where they have places too."""
    links = re.findall(r"\]\(([^)#\s]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    dead = [link for link in links if "://" not in link and not (ROOT / link).exists()]
    assert dead == []
    assert len(links) > 10
