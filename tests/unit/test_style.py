"""The house limits: small files, small functions, and a public surface that changes on purpose."""

import ast
import re
from functools import cache
from pathlib import Path

import grimp
import pytest

import headway
from headway import kernels, strategies, targets

SOURCE = Path(headway.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
README = SOURCE.parents[1] / "README.md"
READ_FIRST = ("ir/program.py", "spec/required.py", "strategies/scoreboard.py")
"""What the README names to read the code with, in this order."""

LINES_OF_A_FILE = 500
LINES_OF_A_FUNCTION = 60

PUBLIC = {
    "Builder",
    "CheckFailed",
    "Comparison",
    "HeadwayError",
    "InvalidInput",
    "InvalidProgram",
    "Program",
    "SyncProgram",
    "SyntaxProblem",
    "UnsupportedByTarget",
    "check",
    "compare",
    "parse",
    "simulate",
    "strategies",
    "synchronize",
    "targets",
}


@cache
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("headway", cache_dir=None)


def relative(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(path: Path) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef)]


def length(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def lines(function: ast.FunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def test_files_and_their_functions_are_small() -> None:
    big = [
        f"{relative(path)}: {function.name} has {lines(function)} lines"
        for path in FILES
        for function in functions(path)
        if lines(function) > LINES_OF_A_FUNCTION
    ]
    long = [relative(path) for path in FILES if length(path) > LINES_OF_A_FILE]
    assert (big, long) == ([], [])


def test_every_file_says_what_it_is_for() -> None:
    assert [relative(path) for path in FILES if not ast.get_docstring(tree(path))] == []


def test_page_for_contributors_names_every_package_from_the_ground_up() -> None:
    page = (README.parent / "docs/howto/contribute.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page.partition("## Tests")[0], re.MULTILINE)
    named = [re.findall(r"`([a-z]+)`", row) for row in rows]
    there = {path.stem for path in SOURCE.iterdir() if not path.stem.startswith("_")}
    assert {name for names in named for name in names} == there
    order = {name: number for number, names in enumerate(named) for name in names}
    graph = imports()
    backwards = {
        (importer.split(".")[1], imported.split(".")[1])
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
        if importer.count(".") and imported.count(".")
        if order.get(importer.split(".")[1], 99) < order.get(imported.split(".")[1], 0)
    }
    assert backwards == set()


def test_what_a_newcomer_reads_is_short() -> None:
    assert all(f"src/headway/{name}" in README.read_text(encoding="utf-8") for name in READ_FIRST)
    assert sum(map(length, (README, *(SOURCE / name for name in READ_FIRST)))) < 1000


def test_public_names_change_on_purpose() -> None:
    assert set(headway.__all__) == PUBLIC
    assert all(hasattr(headway, name) for name in PUBLIC)


@pytest.mark.parametrize("name", strategies.names())
def test_strategy_is_called_like_its_file(name: str) -> None:
    assert strategies.load(name).name == name


def test_strategies_are_independent_of_each_other() -> None:
    """Import-linter cannot tell a strategy from a helper, so this rule is here."""
    graph = imports()
    modules = [f"headway.strategies.{name.replace('-', '_')}" for name in strategies.names()]
    pairs = [(a, b) for a in modules for b in modules if a != b and graph.chain_exists(a, b)]
    assert len(modules) >= 4
    assert pairs == []


@pytest.mark.parametrize("name", targets.names())
def test_target_is_called_like_its_file(name: str) -> None:
    assert targets.load(name).name == name


@pytest.mark.parametrize("name", kernels.names())
def test_kernel_is_called_like_its_file(name: str) -> None:
    assert kernels.load(name).name == name
