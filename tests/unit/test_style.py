"""The house limits: small files, small functions, and a public surface that changes on purpose."""

import ast
from pathlib import Path

import grimp
import pytest

import headway
from headway import kernels, strategies, targets

SOURCE = Path(headway.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
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


def relative(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def functions(path: Path) -> list[ast.FunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def lines(function: ast.FunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_file_and_its_functions_are_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES_OF_A_FILE
    big = {f.name: lines(f) for f in functions(path) if lines(f) > LINES_OF_A_FUNCTION}
    assert not big


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_file_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


def test_public_names_change_on_purpose() -> None:
    assert set(headway.__all__) == PUBLIC
    assert all(hasattr(headway, name) for name in PUBLIC)


@pytest.mark.parametrize("name", strategies.names())
def test_strategy_is_called_like_its_file(name: str) -> None:
    assert strategies.load(name).name == name


def test_strategies_are_independent_of_each_other() -> None:
    """Import-linter cannot tell a strategy from a helper, so this rule is here."""
    graph = grimp.build_graph("headway", cache_dir=None)
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
